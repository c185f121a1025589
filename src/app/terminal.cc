#include "app/terminal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/sync.h"

namespace frazil::app {
namespace {

std::atomic<int> first_output_error = 0;

}  // namespace

void tell(std::string_view message) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
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

std::string emphasis(const std::string& text) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_plain = isatty(STDOUT_FILENO) != 1 || (no_color != nullptr && *no_color != '\0');
  return is_plain ? text : "\x1b[1m" + text + "\x1b[0m";
}

}  // namespace frazil::app
