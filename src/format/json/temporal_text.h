// Dates, times and timestamps as ISO-8601 or SQL writes them, into the counts that columns hold.
//
//   date       2026-01-31
//   time       12:34, 12:34:56, 12:34:56.123456789
//   timestamp  date, one of "T", "t", " ", time, then none or one of: Z, z, +02:00, +0200, +02
//
// Years 0001 to 9999 of the proleptic Gregorian calendar, seconds to 59, offsets to 18 hours. Digits of the fraction
// after the sixth are cut, which is towards the past on both sides of 1970. Pure; no allocation; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace frazil::format {

// Days since 1970-01-01.
std::optional<int32_t> parse_date(std::string_view text);

// Microseconds since midnight.
std::optional<int64_t> parse_time(std::string_view text);

struct TimestampText {
  // Microseconds from 1970-01-01T00:00:00 to what stands on the wall; the offset is not applied.
  int64_t local_micros = 0;
  // Seconds east of UTC, when the text says so.
  std::optional<int32_t> offset_seconds;
};
std::optional<TimestampText> parse_timestamp(std::string_view text);

// Seconds east of UTC: "Z", "+02:00", "+0200", "+02".
std::optional<int32_t> parse_offset(std::string_view text);

// Whether microseconds since 1970 lie in the years 0001 to 9999.
bool is_in_calendar(int64_t micros);

}  // namespace frazil::format
