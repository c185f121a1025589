// Structured log to stderr: one event a line, as text or JSON. Events carry fields, never secrets (callers redact).
// Any thread. While a Simulation is installed, events go to its event hash instead of stderr.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace frazil::base {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat { kText, kJson };

struct LogField {
  LogField(std::string_view key, std::string_view value) : key(key), value(value) {}
  LogField(std::string_view key, const char* value) : key(key), value(value) {}
  LogField(std::string_view key, const std::string& value) : key(key), value(value) {}
  LogField(std::string_view key, int64_t value) : key(key), value(std::to_string(value)), is_number(true) {}
  LogField(std::string_view key, uint64_t value) : key(key), value(std::to_string(value)), is_number(true) {}
  LogField(std::string_view key, int value) : key(key), value(std::to_string(value)), is_number(true) {}
  LogField(std::string_view key, double value) : key(key), value(std::to_string(value)), is_number(true) {}
  std::string key;
  std::string value;
  bool is_number = false;
};
using LogFields = std::initializer_list<LogField>;

// Process-wide, set once at start before lanes exist.
void configure_log(LogFormat format, LogLevel level);
void log(LogLevel level, std::string_view event, LogFields fields = {});
inline void log_debug(std::string_view event, LogFields fields = {}) { log(LogLevel::kDebug, event, fields); }
inline void log_info(std::string_view event, LogFields fields = {}) { log(LogLevel::kInfo, event, fields); }
inline void log_warn(std::string_view event, LogFields fields = {}) { log(LogLevel::kWarn, event, fields); }
inline void log_error(std::string_view event, LogFields fields = {}) { log(LogLevel::kError, event, fields); }

}  // namespace frazil::base
