// Text of values as Iceberg's Java prints them in partition paths. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::iceberg {

std::string date_text(int64_t days);                    // "2026-01-31"; years outside 0 to 9999 carry a sign
std::string time_text(int64_t micros);                  // "12:34", "12:34:56", "12:34:56.789", "12:34:56.789012"
std::string timestamp_text(int64_t micros, bool zoned);  // "2026-01-31T12:34:56.789", with "Z" when zoned
std::string year_text(int64_t years_since_1970);        // "2026"
std::string month_text(int64_t months_since_1970);      // "2026-01"
std::string hour_text(int64_t hours_since_1970);        // "2026-01-31-12"
std::string decimal_text(__int128 unscaled, int scale);  // "-0.05"
std::string uuid_text(std::string_view bytes);
std::string base64_text(std::string_view bytes);

// Quotient and remainder toward minus infinity; divisor > 0.
constexpr int64_t floor_div(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}
constexpr int64_t floor_mod(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerHour = 3600 * kMicrosPerSecond;
inline constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;

// The proleptic Gregorian date of a day since 1970-01-01.
struct CivilDate {
  int64_t year;
  int month;  // 1 to 12
  int day;
};
CivilDate civil_date(int64_t days);

}  // namespace frazil::iceberg
