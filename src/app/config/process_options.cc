#include "app/config/option.h"

namespace frazil::app {
namespace {

std::string assign_listen(const OptionTarget& target, const OptionValue& value) {
  target.process->listen_is_set = !value.is_default;
  if (value.text == "off") {
    target.process->listen.reset();
    return "";
  }
  const auto address = parse_listen_address(value.text);
  if (!address.ok()) return address.error().message();
  target.process->listen = *address;
  return "";
}

std::string assign_socket(const OptionTarget& target, const OptionValue& value) {
  target.process->control_socket = value.text == "off" ? "" : value.text;
  if (value.text == "off" || value.text == "auto") return "";
  if (!value.text.starts_with('/')) return "must be an absolute path, auto or off";
  // The kernel's own bound on the paths of sockets.
  return value.text.size() <= 107 ? "" : "is longer than the 107 bytes that the path of a socket may have";
}

std::string assign_level(const OptionTarget& target, const OptionValue& value) {
  using base::LogLevel;
  target.process->log_level = value.text == "debug"  ? LogLevel::kDebug
                              : value.text == "warn" ? LogLevel::kWarn
                              : value.text == "error" ? LogLevel::kError
                                                      : LogLevel::kInfo;
  return "";
}

}  // namespace

const std::vector<Option>& process_options() {
  static const std::vector<Option> options = {
      {.path = "memory",
       .kind = OptionKind::kSize,
       .default_text = "2GiB",
       .doc = "Bytes that all pipelines of the process together may have in flight. Above 70 % of it, epochs are cut early.",
       .minimum = 64 << 20,
       .assign = [](const OptionTarget& t, const OptionValue& v) { t.process->memory_bytes = v.number; return ""; }},
      {.path = "http", .kind = OptionKind::kSection, .doc = "The status server: /metrics, /healthz, /readyz, /status."},
      {.path = "http.listen",
       .kind = OptionKind::kText,
       .default_text = "127.0.0.1:9464",
       .doc = "Address to listen on, or `off`. When the default port is busy, a free one is taken and named in the log; a busy "
              "port that was set is an error. The server asks for no password: keep it on loopback or behind your own proxy.",
       .assign = assign_listen},
      {.path = "control", .kind = OptionKind::kSection, .doc = "Orders to the running process, as of `frazil accept`."},
      {.path = "control.socket",
       .kind = OptionKind::kText,
       .default_text = "auto",
       .doc = "Absolute path of a Unix socket, `auto` or `off`. It serves the process's own user and root. `auto`: control.sock in systemd's "
              "$RUNTIME_DIRECTORY, else <pid>.sock in $XDG_RUNTIME_DIR/frazil, or in /tmp/frazil-<uid>.",
       .assign = assign_socket},
      {.path = "log", .kind = OptionKind::kSection, .doc = "The log on stderr."},
      {.path = "log.format",
       .kind = OptionKind::kChoice,
       .default_text = "text",
       .doc = "Form of a log line.",
       .values = {"text", "json"},
       .assign =
           [](const OptionTarget& t, const OptionValue& v) {
             t.process->log_format = v.text == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
             return "";
           }},
      {.path = "log.level",
       .kind = OptionKind::kChoice,
       .default_text = "info",
       .doc = "The least important events that are written.",
       .values = {"debug", "info", "warn", "error"},
       .assign = assign_level},
  };
  return options;
}

}  // namespace frazil::app
