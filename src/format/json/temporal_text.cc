#include "format/json/temporal_text.h"

namespace frazil::format {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;

// Reads the text from the left; after a failure, `failed` stays set.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return text_.empty(); }
  char next() const { return text_.empty() ? '\0' : text_.front(); }
  std::string_view rest() const { return text_; }

  int number(size_t digits) {
    if (text_.size() < digits) return fail();
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return fail();
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }

  bool take(char c) {
    if (next() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail();
  }

  // The digits behind the point as microseconds.
  int fraction() {
    int micros = 0;
    int digits = 0;
    for (; next() >= '0' && next() <= '9'; ++digits) {
      if (digits < 6) micros = micros * 10 + (next() - '0');
      text_.remove_prefix(1);
    }
    if (digits == 0) return fail();
    for (; digits < 6; ++digits) micros *= 10;
    return micros;
  }

  int fail() {
    failed_ = true;
    text_ = {};
    return 0;
  }

 private:
  std::string_view text_;
  bool failed_ = false;
};

int days_in_month(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && is_leap ? 29 : kDays[month - 1];
}

// Counts from 0000-03-01, so that the leap day is the last of its year.
int32_t days_since_1970(int year, int month, int day) {
  const int shifted_year = year - (month <= 2 ? 1 : 0);
  const int era = (shifted_year >= 0 ? shifted_year : shifted_year - 399) / 400;
  const int year_of_era = shifted_year - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

int32_t scan_date(Scanner& scanner) {
  const int year = scanner.number(4);
  scanner.expect('-');
  const int month = scanner.number(2);
  scanner.expect('-');
  const int day = scanner.number(2);
  if (scanner.failed() || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
    return scanner.fail();
  }
  return days_since_1970(year, month, day);
}

int64_t scan_time(Scanner& scanner) {
  const int hour = scanner.number(2);
  scanner.expect(':');
  const int minute = scanner.number(2);
  int second = 0;
  int micros = 0;
  if (scanner.take(':')) {
    second = scanner.number(2);
    if (scanner.take('.')) micros = scanner.fraction();
  }
  if (scanner.failed() || hour > 23 || minute > 59 || second > 59) return scanner.fail();
  return (hour * 3600 + minute * 60 + second) * kMicrosPerSecond + micros;
}

}  // namespace

std::optional<int32_t> parse_date(std::string_view text) {
  Scanner scanner(text);
  const int32_t days = scan_date(scanner);
  if (scanner.failed() || !scanner.at_end()) return std::nullopt;
  return days;
}

std::optional<int64_t> parse_time(std::string_view text) {
  Scanner scanner(text);
  const int64_t micros = scan_time(scanner);
  if (scanner.failed() || !scanner.at_end()) return std::nullopt;
  return micros;
}

std::optional<TimestampText> parse_timestamp(std::string_view text) {
  Scanner scanner(text);
  const int32_t days = scan_date(scanner);
  if (!scanner.take('T') && !scanner.take(' ') && !scanner.take('t')) return std::nullopt;
  const int64_t time = scan_time(scanner);
  if (scanner.failed()) return std::nullopt;
  TimestampText timestamp{.local_micros = days * kMicrosPerDay + time, .offset_seconds = std::nullopt};
  if (scanner.at_end()) return timestamp;
  timestamp.offset_seconds = parse_offset(scanner.rest());
  if (!timestamp.offset_seconds) return std::nullopt;
  return timestamp;
}

std::optional<int32_t> parse_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  Scanner scanner(text);
  const bool is_west = scanner.take('-');
  if (!is_west) scanner.expect('+');
  const int hours = scanner.number(2);
  const bool has_minutes = scanner.take(':') || !scanner.at_end();
  const int minutes = has_minutes ? scanner.number(2) : 0;
  const int32_t seconds = hours * 3600 + minutes * 60;
  if (scanner.failed() || !scanner.at_end() || minutes > 59 || seconds > 18 * 3600) return std::nullopt;
  return is_west ? -seconds : seconds;
}

bool is_in_calendar(int64_t micros) {
  static const int64_t first = days_since_1970(1, 1, 1) * kMicrosPerDay;
  static const int64_t end = days_since_1970(10'000, 1, 1) * kMicrosPerDay;
  return micros >= first && micros < end;
}

}  // namespace frazil::format
