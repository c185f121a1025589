// PassingStates: answers of brokers that pass by themselves, such as "not coordinator" while a group's coordinator is only being
// made. The request that met one is sent again, after pauses that grow, until the time of the call is over.
#pragma once

#include <cstdint>

#include "base/interrupt.h"
#include "base/retry.h"

namespace frazil::clients {

// `code` is an rd_kafka_resp_err_t: a coordinator that is sought, made or loads, a leader that is elected. A refusal is none.
bool is_passing(int code);

// The tries of one call. One thread.
class PassingStates {
 public:
  // `total_ms` bounds the pauses; `closed` ends them.
  PassingStates(int64_t total_ms, base::Interrupt& closed) : backoff_(100, 2'000, total_ms), closed_(closed) {}

  // Waits when `code` is a passing state; true: ask again.
  bool again(int code) { return is_passing(code) && backoff_.wait(closed_); }

 private:
  base::Backoff backoff_;
  base::Interrupt& closed_;
};

}  // namespace frazil::clients
