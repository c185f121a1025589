// Times and dates as ISO text, without a zone. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace frazil::sources {

// "2026-01-31": days since 1970-01-01, years 0 to 9999.
void append_iso_date(int64_t days, std::string& out);
// "12:34:56.123456": microseconds of a day.
void append_iso_clock(int64_t micros, std::string& out);
// "2026-01-31T12:34:56.123456": microseconds since 1970-01-01T00:00:00.
void append_iso_time(int64_t micros, std::string& out);

}  // namespace frazil::sources
