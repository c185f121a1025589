#include "app/stop_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

namespace frazil::app {
namespace {

// Time for an orderly stop; what is not committed then is read again from the table's positions.
constexpr int64_t kStopWithinMicros = 30'000'000;

// Written by the handler, read by the lane. A byte 's' is a signal, 'e' the end of the object.
int signal_pipe[2] = {-1, -1};
struct sigaction former_term, former_int;

void on_signal(int) {
  const int saved = errno;
  [[maybe_unused]] const auto written = write(signal_pipe[1], "s", 1);
  errno = saved;
}

// The next byte, or nothing at the deadline.
std::optional<char> next_byte(base::MonoMicros deadline) {
  while (true) {
    const base::MonoMicros now = base::mono_micros();
    if (now >= deadline) return std::nullopt;
    const int64_t wait_ms = deadline == base::kForever ? -1 : std::min<int64_t>((deadline - now) / 1000 + 1, INT_MAX);
    pollfd poll_for{signal_pipe[0], POLLIN, 0};
    char byte = 0;
    if (poll(&poll_for, 1, static_cast<int>(wait_ms)) == 1 && read(signal_pipe[0], &byte, 1) == 1) return byte;
  }
}

}  // namespace

StopSignals::StopSignals(base::Interrupt& stop, int64_t run_for_ms) : stop_(stop), run_for_ms_(run_for_ms) {
  CHECK(signal_pipe[0] == -1);
  CHECK(pipe2(signal_pipe, O_CLOEXEC) == 0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &former_term);
  sigaction(SIGINT, &action, &former_int);
  lane_ = base::Lane("signals", [this] { watch(); });
}

StopSignals::~StopSignals() {
  sigaction(SIGTERM, &former_term, nullptr);
  sigaction(SIGINT, &former_int, nullptr);
  CHECK(write(signal_pipe[1], "e", 1) == 1);
  lane_.join();
  close(signal_pipe[0]);
  close(signal_pipe[1]);
  signal_pipe[0] = signal_pipe[1] = -1;
}

void StopSignals::watch() {
  const base::MonoMicros end = run_for_ms_ > 0 ? base::deadline_after(run_for_ms_ * 1000) : base::kForever;
  const auto first = next_byte(end);
  if (first == 'e') return;
  base::log_info(first ? "signal: stops taking in, commits what is complete" : "the time of --duration is over", {});
  stop_.raise();
  const auto second = next_byte(base::deadline_after(kStopWithinMicros));
  if (second == 'e') return;
  base::log_error(second ? "second signal: ends at once" : "no orderly end within 30 s: ends at once",
                  {{"meaning", "what is not committed is read again from the table's positions"}});
  _exit(1);
}

}  // namespace frazil::app
