#include "app/config/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace frazil::app {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr Unit kDurations[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kSizes[] = {{"", 1},
                           {"B", 1},
                           {"kB", 1000},
                           {"KB", 1000},
                           {"MB", 1'000'000},
                           {"GB", 1'000'000'000},
                           {"TB", 1'000'000'000'000},
                           {"KiB", int64_t{1} << 10},
                           {"MiB", int64_t{1} << 20},
                           {"GiB", int64_t{1} << 30},
                           {"TiB", int64_t{1} << 40}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes a number in front of `text`: digits with at most one point. False when there is none.
bool take_number(std::string_view& text, double* number) {
  size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + end, *number, std::chars_format::fixed);
  if (error != std::errc() || stop != text.data() + end || end == 0) return false;
  text.remove_prefix(end);
  return true;
}

std::string_view take_letters(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && !is_digit(text[end])) ++end;
  const std::string_view letters = text.substr(0, end);
  text.remove_prefix(end);
  return letters;
}

template <size_t N>
const Unit* find_unit(const Unit (&units)[N], std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// Room for sums of what passes: anything a configuration may sensibly say is far below.
constexpr double kLargest = 9e15;

base::Error bad(std::string_view text, std::string_view wanted) {
  return base::invalid("\"" + std::string(text) + "\" is not " + std::string(wanted));
}

constexpr std::string_view kDurationForm = "a duration such as 250ms, 5s, 10m, 1h or 7d";
constexpr std::string_view kSizeForm = "a size such as 128MB or 2GiB";

}  // namespace

base::Result<int64_t> parse_duration_ms(std::string_view text) {
  std::string_view rest = text;
  double total = 0;
  do {
    double number = 0;
    if (!take_number(rest, &number)) return bad(text, kDurationForm);
    const std::string_view name = take_letters(rest);
    if (name.empty()) return bad(text, "a duration: it needs a unit, as in 250ms, 5s, 10m, 1h or 7d");
    const Unit* unit = find_unit(kDurations, name);
    if (unit == nullptr) return bad(text, kDurationForm);
    total += number * static_cast<double>(unit->factor);
  } while (!rest.empty());
  if (total > kLargest || total != std::floor(total))
    return bad(text, "a duration in whole milliseconds of sensible length");
  return static_cast<int64_t>(total);
}

base::Result<int64_t> parse_size(std::string_view text) {
  std::string_view rest = text;
  double number = 0;
  if (!take_number(rest, &number)) return bad(text, kSizeForm);
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const Unit* unit = find_unit(kSizes, rest);
  if (unit == nullptr) return bad(text, kSizeForm);
  const double bytes = number * static_cast<double>(unit->factor);
  if (bytes > kLargest || bytes != std::floor(bytes)) return bad(text, "a size in whole bytes of sensible length");
  return static_cast<int64_t>(bytes);
}

base::Result<int64_t> parse_rate(std::string_view text) {
  constexpr std::string_view kSuffix = "/s";
  if (text.size() > kSuffix.size() && text.substr(text.size() - 2) == kSuffix) {
    const auto size = parse_size(text.substr(0, text.size() - 2));
    if (size.ok() && *size > 0) return *size;
  }
  return bad(text, "a rate such as 50MB/s");
}

base::Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return bad(text, "an integer");
  return value;
}

namespace {

// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible date algorithms").
int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && is_leap ? 29 : kDays[month - 1];
}

// Reads a fixed pattern: '0' stands for a digit, all else for itself. False when the text does not begin so.
bool matches(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) return false;
  }
  return true;
}

int number_at(std::string_view text, size_t at, size_t digits) {
  int number = 0;
  for (size_t i = at; i < at + digits; ++i) number = number * 10 + (text[i] - '0');
  return number;
}

// "Z", "+02:00" as a whole → minutes east; false otherwise.
bool parse_zone(std::string_view text, int* minutes) {
  *minutes = 0;
  if (text == "Z") return true;
  if (text.size() != 6 || (!matches(text, "+00:00") && !matches(text, "-00:00"))) return false;
  const int size = number_at(text, 1, 2) * 60 + number_at(text, 4, 2);
  *minutes = text[0] == '-' ? -size : size;
  return number_at(text, 1, 2) <= 18 && number_at(text, 4, 2) < 60;
}

}  // namespace

base::Result<int64_t> parse_instant_ms(std::string_view text) {
  const base::Error error = bad(text, "a point in time such as 2026-01-31T00:00:00Z");
  if (!matches(text, "0000-00-00T00:00:00")) return error;
  const int year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
  const int hour = number_at(text, 11, 2), minute = number_at(text, 14, 2), second = number_at(text, 17, 2);
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return error;
  if (hour > 23 || minute > 59 || second > 59) return error;
  std::string_view rest = text.substr(19);
  int millis = 0;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    int weight = 100;
    if (rest.empty() || !is_digit(rest.front())) return error;
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), weight /= 10)
      millis += (rest.front() - '0') * weight;
  }
  int zone_minutes = 0;
  if (!parse_zone(rest, &zone_minutes)) return error;
  const int64_t seconds =
      days_from_civil(year, month, day) * 86'400 + hour * 3600 + (minute - zone_minutes) * 60 + second;
  return seconds * 1000 + millis;
}

base::Result<ListenAddress> parse_listen_address(std::string_view text) {
  const base::Error error = bad(text, "an address to listen on such as 127.0.0.1:9464");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return error;
  const auto port = parse_integer(text.substr(colon + 1));
  if (!port.ok() || *port < 0 || *port > 65535) return error;
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return error;
  }
  return ListenAddress{std::string(host), static_cast<int>(*port)};
}

std::string format_size(double bytes) {
  constexpr std::string_view kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kNames)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 || bytes >= 100 ? fmt::format("{:.0f} {}", bytes, kNames[unit])
                                   : fmt::format("{:.1f} {}", bytes, kNames[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f}ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}m {}s", whole / 60, whole % 60);
  return fmt::format("{}h {}m", whole / 3600, whole % 3600 / 60);
}

std::string format_count(int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return count < 0 ? "-" + digits : digits;
}

}  // namespace frazil::app
