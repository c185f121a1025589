#include "base/random.h"

#include <sys/random.h>

#include <cstdio>

#include "base/check.h"
#include "base/clock.h"
#include "base/simulation.h"

namespace frazil::base {

uint64_t random_u64() {
  if (Simulation* simulation = Simulation::current()) return simulation->random();
  uint64_t value = 0;
  CHECK(getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

int64_t random_snapshot_id() {
  const auto id = static_cast<int64_t>(random_u64() & 0x7fffffffffffffffULL);
  return id == 0 ? 1 : id;
}

namespace {

// `high` carries the version; `low` gets the variant.
std::string uuid_text(uint64_t high, uint64_t low) {
  low = (low & ~(0x3ULL << 62)) | (0x2ULL << 62);
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>((high >> 16) & 0xffff), static_cast<unsigned>(high & 0xffff),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return text;
}

}  // namespace

std::string random_uuid() {
  const uint64_t high = (random_u64() & ~0xf000ULL) | 0x4000ULL;
  return uuid_text(high, random_u64());
}

std::string random_time_uuid() {
  const uint64_t high = (static_cast<uint64_t>(wall_millis()) << 16) | 0x7000ULL | (random_u64() & 0xfffULL);
  return uuid_text(high, random_u64());
}

uint64_t random_below(uint64_t bound) {
  CHECK(bound > 0);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(random_u64()) * bound) >> 64);
}

}  // namespace frazil::base
