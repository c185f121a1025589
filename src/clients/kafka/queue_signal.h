// QueueSignal: tells a lane that a queue of librdkafka has something, and waits for that on the monotonic clock.
//
// librdkafka's own timed waits follow the wall clock: one that is set back by an hour makes a wait under way an hour longer. So
// nobody waits in librdkafka for messages or events: they wait here, then take what is there. raise() by any thread, wait_until()
// by the queue's reader alone; a raise() before the wait counts.
#pragma once

#include "base/sync.h"

struct rd_kafka_queue_s;

namespace frazil::clients {

class QueueSignal {
 public:
  // `queue` outlives the signal.
  explicit QueueSignal(rd_kafka_queue_s* queue);
  ~QueueSignal();
  QueueSignal(const QueueSignal&) = delete;
  QueueSignal& operator=(const QueueSignal&) = delete;

  void raise();
  // Until raised since the last wait, or until the deadline.
  void wait_until(base::MonoMicros deadline);

 private:
  rd_kafka_queue_s* const queue_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_raised_ = false;
};

}  // namespace frazil::clients
