#include "base/clock.h"

#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <cstdio>

#include "base/simulation.h"

namespace frazil::base {
namespace {

// Virtual time counts from here: 2026-01-01T00:00:00Z.
constexpr int64_t kSimulationEpochMicros = 1'767'225'600'000'000;

}  // namespace

int64_t wall_micros() {
  if (Simulation* simulation = Simulation::current()) return kSimulationEpochMicros + simulation->read_clock();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

MonoMicros mono_micros() {
  if (Simulation* simulation = Simulation::current()) return simulation->read_clock();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

MonoMicros deadline_after(int64_t micros) {
  const MonoMicros now = mono_micros();
  return micros >= kForever - now ? kForever : now + micros;
}

int64_t process_cpu_micros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& t) { return static_cast<int64_t>(t.tv_sec) * 1'000'000 + t.tv_usec; };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

std::string format_utc(int64_t micros_since_epoch) {
  int64_t seconds = micros_since_epoch / 1'000'000;
  int64_t rest = micros_since_epoch % 1'000'000;
  if (rest < 0) {
    rest += 1'000'000;
    --seconds;
  }
  const time_t whole = seconds;
  tm parts{};
  gmtime_r(&whole, &parts);
  char text[64];
  const size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(rest / 1000));
  return text;
}

}  // namespace frazil::base
