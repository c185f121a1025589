#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "base/clock.h"
#include "base/simulation.h"

namespace frazil::base {
namespace {

std::atomic<LogFormat> log_format{LogFormat::kText};
std::atomic<LogLevel> lowest_level{LogLevel::kInfo};

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "error";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string as_json(LogLevel level, std::string_view event, LogFields fields) {
  std::string line = "{\"time\":" + quoted(format_utc(wall_micros())) + ",\"level\":" + quoted(level_name(level)) +
                     ",\"event\":" + quoted(event);
  for (const LogField& field : fields) line += "," + quoted(field.key) + ":" + (field.is_number ? field.value : quoted(field.value));
  return line + "}";
}

std::string as_text(std::string_view event, LogFields fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    const bool plain = !field.value.empty() && field.value.find_first_of(" \"=\n") == std::string::npos;
    line += " " + field.key + "=" + (plain ? field.value : quoted(field.value));
  }
  return line;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("frazil", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void configure_log(LogFormat format, LogLevel level) {
  log_format = format;
  lowest_level = level;
}

void log(LogLevel level, std::string_view event, LogFields fields) {
  if (Simulation* simulation = Simulation::current()) {
    simulation->note(as_text(event, fields));
    return;
  }
  if (level < lowest_level.load()) return;
  if (log_format.load() == LogFormat::kJson) {
    logger().log(spdlog::level::info, "{}", as_json(level, event, fields));
    return;
  }
  logger().log(spdlog::level::info, "{} {:5} {}", format_utc(wall_micros()), level_name(level), as_text(event, fields));
}

}  // namespace frazil::base
