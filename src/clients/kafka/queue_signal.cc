#include "clients/kafka/queue_signal.h"

#include <librdkafka/rdkafka.h>

#include <utility>

namespace frazil::clients {

QueueSignal::QueueSignal(rd_kafka_queue_s* queue) : queue_(queue) {
  const auto enqueued = [](rd_kafka_t*, void* self) { static_cast<QueueSignal*>(self)->raise(); };
  rd_kafka_queue_cb_event_enable(queue_, enqueued, this);
}

QueueSignal::~QueueSignal() { rd_kafka_queue_cb_event_enable(queue_, nullptr, nullptr); }

void QueueSignal::raise() {
  base::Lock lock(mutex_);
  is_raised_ = true;
  changed_.notify_all();
}

void QueueSignal::wait_until(base::MonoMicros deadline) {
  base::Lock lock(mutex_);
  while (!is_raised_ && changed_.wait_until(lock, deadline)) {
  }
  is_raised_ = false;
}

}  // namespace frazil::clients
