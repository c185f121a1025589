#include "net/foreign_answer.h"

#include <cstdio>

#include "net/url.h"

namespace frazil::net {

using base::Code;
using base::Error;

namespace {

constexpr size_t kMaxWords = 400;

int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
  // Months counted from March, so that a leap day is the last of its year.
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

}  // namespace

Error endpoint_error(const Error& error) {
  return error.code() == Code::kUnknownOutcome ? base::unavailable(error.message()) : error;
}

Error refusal(const std::string& what, int status, const std::string& words) {
  const bool may_pass = status >= 500 || status == 408 || status == 425 || status == 429;
  std::string message = what + " answered " + std::to_string(status);
  if (status >= 300 && status < 400) message += " (a redirect, which is not followed)";
  if (!words.empty()) message += ": " + words;
  return Error(may_pass ? Code::kUnavailable : Code::kInvalid, message);
}

std::string tamed(std::string_view words, const std::vector<std::string>& secrets) {
  std::string out(words);
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    for (size_t at = out.find(secret); at != out.npos; at = out.find(secret, at)) out.replace(at, secret.size(), "***");
  }
  if (out.size() > kMaxWords) out = out.substr(0, kMaxWords) + "…";
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

int64_t parse_utc_ms(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const std::string whole(text);
  if (std::sscanf(whole.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
    return 0;
  const bool is_in_range =
      month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 60;
  if (!is_in_range || !text.ends_with('Z')) return 0;
  return ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60'000 + second * 1000;
}

std::string form(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    out += (out.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
  }
  return out;
}

}  // namespace frazil::net
