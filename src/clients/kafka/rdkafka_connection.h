// RdKafkaConnection: a librdkafka instance with our callbacks: its log goes to ours, its troubles are kept for messages, the
// certificates of brokers get a verdict in words, and a client without TLS stays on this machine.
//
// Shared by whoever still holds messages of it, since librdkafka may not be destroyed before them. Any thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "clients/kafka/connection_troubles.h"
#include "clients/kafka/rdkafka_handles.h"

struct sockaddr;
struct rd_kafka_metadata;

namespace frazil::clients {

class RdKafkaConnection {
 public:
  enum class Role { kConsumer, kProducer };

  // kInvalid names the property that librdkafka refuses. `events`: RD_KAFKA_EVENT_… bits that the queues deliver as events.
  // `allow_plaintext`: brokers outside of this machine may be reached without TLS.
  static base::Result<std::shared_ptr<RdKafkaConnection>> open(Role role, const std::map<std::string, std::string>& properties,
                                                               int events, bool allow_plaintext);
  ~RdKafkaConnection();

  rd_kafka_s* handle() const { return handle_.get(); }
  // Waits until a broker answers. Ends early when waiting will not mend what is wrong.
  base::Status wait_until_connected(base::MonoMicros deadline);
  std::string last_error() const { return troubles_.last_error(); }
  // The brokers answer: what went wrong before is over.
  void forget_troubles() { troubles_.clear(); }
  // The instance broke for good (a fenced static member, for example); empty when it did not.
  std::string fatal_error() const;

  // Called by librdkafka's threads.
  void note_error(int code, const std::string& text) { troubles_.note(code, text); }
  bool judge_certificate(const std::string& broker, int verify_error, int depth, const std::string& der, std::string& verdict);
  int connect_on_loopback(int socket, const sockaddr& address, int length, const std::string& broker);

 private:
  RdKafkaConnection() = default;
  void look_at_advertised(const struct rd_kafka_metadata& metadata);

  bool is_guarded_ = false;  // stays on this machine
  ConnectionTroubles troubles_;
  RdKafkaPtr<rd_kafka_s> handle_;  // last: its threads call us until it is gone
};

}  // namespace frazil::clients
