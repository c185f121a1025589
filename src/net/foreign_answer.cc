#include "net/foreign_answer.h"

#include <cstdio>

#include "base/utf8.h"
#include "net/url.h"

namespace frazil::net {

using base::Code;
using base::Error;

namespace {

int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
  // Months counted from March, so that a leap day is the last of its year.
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

// Neither the controls of ASCII nor those of Latin-1 (U+0080 to U+009F), which some terminals obey.
std::string on_one_line(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) text[i] = ' ';
    const bool is_latin = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (is_latin) text.replace(i, 2, " ");
  }
  return text;
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

std::string tamed(std::string_view words, const std::vector<std::string>& secrets, size_t at_most) {
  static constexpr std::string_view kCut = "…";
  std::string out = on_one_line(base::valid_utf8_of(without_secrets(std::string(words), secrets)));
  if (out.size() <= at_most) return out;
  size_t end = at_most > kCut.size() ? at_most - kCut.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end).append(kCut);
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
