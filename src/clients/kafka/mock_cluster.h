// MockCluster: librdkafka's embedded mock of a Kafka cluster, for the demo and for tests without a broker.
//
// It proves no guarantee: aborted transactions are visible, topics have no retention but the last 5 MB or so of each
// partition, and nothing survives the object. Owned by one lane; any number of clients may connect to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace frazil::clients {

class MockCluster {
 public:
  // Bytes that a partition of the mock keeps at least; what is older may be gone. A producer on the mock must not be
  // further ahead of its consumer.
  static constexpr int64_t kKeptBytesPerPartition = 4 << 20;

  // Listens on loopback, on ports that the system picks.
  static base::Result<std::unique_ptr<MockCluster>> start(int brokers = 1);
  ~MockCluster();
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  // Value for `bootstrap.servers`.
  std::string bootstrap_servers() const;
  base::Status create_topic(const std::string& topic, int partitions);
  // Lets the broker (1 .. brokers) refuse connections, or serve again.
  base::Status set_broker_up(int broker, bool is_up);
  // Gives the partition a leader (1 .. brokers), and with it a new leader epoch.
  base::Status elect(const std::string& topic, int partition, int broker);
  // The next `count` requests of this API key (Kafka protocol: 1 Fetch, 3 Metadata) answer with this Kafka error code.
  void fail_requests(int16_t api_key, int16_t error_code, int count);

 private:
  struct Impl;
  explicit MockCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::clients
