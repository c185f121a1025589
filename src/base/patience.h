// Patience: how long stores and catalogs are waited for once a pipeline was asked to stop.
//
// Before the stop: as long as each request's own limits say. After it: while somebody holds on, who commits what is
// complete, and no longer. Then over() is raised: requests that listen to it end, waits between tries too.
// Shared, since the stop may come when the pipeline has ended. Any thread.
#pragma once

#include <memory>

#include "base/interrupt.h"
#include "base/sync.h"

namespace frazil::base {

class Patience : public std::enable_shared_from_this<Patience> {
 public:
  // `stop` may end before it.
  static std::shared_ptr<Patience> until(Interrupt& stop);

  // While it lives, the stop does not end the patience.
  class Hold {
   public:
    explicit Hold(std::shared_ptr<Patience> patience);  // may be null
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    const std::shared_ptr<Patience> patience_;
  };

  // Lives as long as somebody has it.
  std::shared_ptr<Interrupt> over() { return {shared_from_this(), &over_}; }

 private:
  void change(int holds, bool is_stopped);

  Interrupt over_;
  Mutex mutex_;
  int holds_ = 0;
  bool is_stopped_ = false;
};

}  // namespace frazil::base
