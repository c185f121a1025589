// RdKafkaConnection: a librdkafka instance with our callbacks: its log goes to ours, its last error is kept for messages.
//
// Shared by whoever still holds messages of it, since librdkafka may not be destroyed before them. Any thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

class RdKafkaConnection {
 public:
  enum class Role { kConsumer, kProducer };

  // kInvalid names the property that librdkafka refuses. `events`: RD_KAFKA_EVENT_… bits that the queues deliver as events.
  static base::Result<std::shared_ptr<RdKafkaConnection>> open(Role role, const std::map<std::string, std::string>& properties,
                                                               int events);
  ~RdKafkaConnection();

  rd_kafka_s* handle() const { return handle_.get(); }
  // Waits until a broker answers. Ends early when the brokers refused our authentication several times.
  base::Status wait_until_connected(base::MonoMicros deadline);
  std::string last_error() const;
  // The instance broke for good (a fenced static member, for example); empty when it did not.
  std::string fatal_error() const;

  // Called by librdkafka's threads.
  void note_error(int code, const std::string& text);

 private:
  RdKafkaConnection() = default;
  base::Error connection_error() const;

  mutable base::Mutex mutex_;
  std::string last_error_;
  int refused_authentications_ = 0;
  RdKafkaPtr<rd_kafka_s> handle_;  // last: its threads call us until it is gone
};

}  // namespace frazil::clients
