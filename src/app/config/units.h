// Durations, sizes, rates, points in time and addresses as people write them. Pure; any thread.
// Errors are kInvalid and say what would be right; callers add where the text stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::app {

// "250ms", "5s", "10m", "1h", "7d", "1h30m" → milliseconds. A number without a unit is refused.
base::Result<int64_t> parse_duration_ms(std::string_view text);
// "2GiB", "128MB", "64 KiB", "1048576" → bytes. kB, MB, GB, TB count by 1000; KiB, MiB, GiB, TiB by 1024.
base::Result<int64_t> parse_size(std::string_view text);
// "50MB/s" → bytes per second.
base::Result<int64_t> parse_rate(std::string_view text);
// "2026-01-31T00:00:00Z", "2026-01-31T00:00:00.250+02:00" → milliseconds since 1970.
base::Result<int64_t> parse_instant_ms(std::string_view text);
base::Result<int64_t> parse_integer(std::string_view text);

struct ListenAddress {
  std::string host;
  int port = 0;
};
// "127.0.0.1:9464", "[::1]:9464".
base::Result<ListenAddress> parse_listen_address(std::string_view text);

// "1.5 GiB", "640 B", and "2h 5m", "1.2s": for people, three digits or so.
std::string format_size(double bytes);
std::string format_seconds(double seconds);
// 1234567 → "1,234,567".
std::string format_count(int64_t count);

}  // namespace frazil::app
