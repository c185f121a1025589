#include "app/terminal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/sync.h"
#include "base/utf8.h"

namespace frazil::app {
namespace {

std::atomic<int> first_output_error = 0;

constexpr char kHex[] = "0123456789abcdef";

void append_escape(std::string& out, unsigned char control) {
  if (control == '\n') {
    out += "\\n";
  } else if (control == '\t') {
    out += "\\t";
  } else {
    out += {'\\', 'x', kHex[control >> 4], kHex[control & 15]};
  }
}

}  // namespace

void tell(std::string_view message) {
  std::fprintf(stderr, "%s\n", printable(message, /*keeps_lines=*/true).c_str());
}

void put(std::string_view data) {
  static base::Mutex mutex;
  base::Lock lock(mutex);
  errno = 0;
  const bool is_whole = std::fwrite(data.data(), 1, data.size(), stdout) == data.size();
  if ((std::fflush(stdout) != 0 || !is_whole) && first_output_error == 0) first_output_error = errno != 0 ? errno : EIO;
}

int output_error() {
  return first_output_error;
}

ProgressLine::ProgressLine() : is_on_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text) {
  if (!is_on_) return;
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (!is_shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_shown_ = false;
}

std::string printable(std::string_view bytes, bool keeps_lines) {
  const std::string text = base::valid_utf8_of(bytes);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F
      append_escape(out, next);
      ++i;
    } else if ((byte < 0x20 || byte == 0x7f) && !(keeps_lines && (byte == '\n' || byte == '\t'))) {
      append_escape(out, byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string printable_json(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    const bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    const unsigned char control = is_c1 ? next : byte;
    if (is_c1 || byte == 0x7f) {
      out += {'\\', 'u', '0', '0', kHex[control >> 4], kHex[control & 15]};
      i += is_c1 ? 1 : 0;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string emphasis(const std::string& text) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_plain = isatty(STDOUT_FILENO) != 1 || (no_color != nullptr && *no_color != '\0');
  return is_plain ? text : "\x1b[1m" + text + "\x1b[0m";
}

}  // namespace frazil::app
