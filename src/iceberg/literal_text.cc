#include "iceberg/literal_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/hash.h"
#include "iceberg/literal.h"

namespace frazil::iceberg {

using columnar::Type;
using columnar::TypeId;

// Days to a date in eras of 400 years that start on 1 March, so that the leap day is the last of its year.
CivilDate civil_date(int64_t days) {
  const int64_t shifted = days + 719468;
  const int64_t era = floor_div(shifted, 146097);
  const int64_t day_of_era = shifted - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  const int day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

namespace {

std::string year_digits(int64_t year) {
  if (year < 0) return fmt::format("-{:04}", -year);
  return year > 9999 ? fmt::format("+{}", year) : fmt::format("{:04}", year);
}

template <typename T>
std::string floating_text(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string date_text(int64_t days) {
  const CivilDate date = civil_date(days);
  return fmt::format("{}-{:02}-{:02}", year_digits(date.year), date.month, date.day);
}

std::string time_text(int64_t micros) {
  const int64_t seconds = micros / kMicrosPerSecond;
  const int64_t fraction = micros % kMicrosPerSecond;
  std::string text = fmt::format("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
  if (seconds % 60 == 0 && fraction == 0) return text;
  text += fmt::format(":{:02}", seconds % 60);
  if (fraction == 0) return text;
  return text + (fraction % 1000 == 0 ? fmt::format(".{:03}", fraction / 1000) : fmt::format(".{:06}", fraction));
}

std::string timestamp_text(int64_t micros, bool zoned) {
  return date_text(floor_div(micros, kMicrosPerDay)) + "T" + time_text(floor_mod(micros, kMicrosPerDay)) + (zoned ? "Z" : "");
}

std::string year_text(int64_t years_since_1970) { return fmt::format("{:04}", 1970 + years_since_1970); }

std::string month_text(int64_t months_since_1970) {
  return fmt::format("{:04}-{:02}", 1970 + floor_div(months_since_1970, 12), floor_mod(months_since_1970, 12) + 1);
}

std::string hour_text(int64_t hours_since_1970) {
  return fmt::format("{}-{:02}", date_text(floor_div(hours_since_1970, 24)), floor_mod(hours_since_1970, 24));
}

std::string decimal_text(__int128 unscaled, int scale) {
  auto magnitude = static_cast<unsigned __int128>(unscaled);
  if (unscaled < 0) magnitude = ~magnitude + 1;
  std::string digits;
  for (; magnitude != 0; magnitude /= 10) digits.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
  while (static_cast<int>(digits.size()) <= scale) digits.push_back('0');
  std::reverse(digits.begin(), digits.end());
  if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
  return unscaled < 0 ? "-" + digits : digits;
}

std::string uuid_text(std::string_view bytes) {
  std::string text = base::hex(bytes);
  if (text.size() != 32) return text;
  for (const size_t at : {20, 16, 12, 8}) text.insert(at, "-");
  return text;
}

std::string base64_text(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out.push_back(i + j <= bytes.size() ? kAlphabet[group >> (18 - 6 * j) & 63] : '=');
  }
  return out;
}

std::string to_text(const Type& type, const Literal& literal) {
  if (literal.is_null()) return "null";
  switch (type.id()) {
    case TypeId::kBoolean: return std::get<bool>(literal.value) ? "true" : "false";
    case TypeId::kInt: return std::to_string(std::get<int32_t>(literal.value));
    case TypeId::kDate: return date_text(std::get<int32_t>(literal.value));
    case TypeId::kLong: return std::to_string(std::get<int64_t>(literal.value));
    case TypeId::kTime: return time_text(std::get<int64_t>(literal.value));
    case TypeId::kTimestamp: return timestamp_text(std::get<int64_t>(literal.value), false);
    case TypeId::kTimestamptz: return timestamp_text(std::get<int64_t>(literal.value), true);
    case TypeId::kFloat: return floating_text(std::get<float>(literal.value));
    case TypeId::kDouble: return floating_text(std::get<double>(literal.value));
    case TypeId::kDecimal: return decimal_text(std::get<__int128>(literal.value), type.scale());
    case TypeId::kString: return std::get<std::string>(literal.value);
    case TypeId::kUuid: return uuid_text(std::get<std::string>(literal.value));
    default: return base::hex(std::get<std::string>(literal.value));
  }
}

}  // namespace frazil::iceberg
