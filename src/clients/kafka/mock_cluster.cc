#include "clients/kafka/mock_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <utility>
#include <vector>

#include "clients/kafka/rdkafka_connection.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

// How long a new group waits for more members.
constexpr int kGroupDelayMillis = 100;

struct MockCluster::Impl {
  std::shared_ptr<RdKafkaConnection> connection;
  rd_kafka_mock_cluster_t* cluster = nullptr;
  ~Impl() {
    if (cluster != nullptr) rd_kafka_mock_cluster_destroy(cluster);
  }
};

MockCluster::MockCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MockCluster::~MockCluster() = default;

base::Result<std::unique_ptr<MockCluster>> MockCluster::start(int brokers) {
  auto impl = std::make_unique<Impl>();
  TRY_ASSIGN(impl->connection, RdKafkaConnection::open(RdKafkaConnection::Role::kProducer, {{"log_level", "3"}}, 0, false));
  impl->cluster = rd_kafka_mock_cluster_new(impl->connection->handle(), brokers);
  if (impl->cluster == nullptr) return base::unavailable("the mock cluster could not listen on loopback");
  rd_kafka_mock_set_controller_id(impl->cluster, 1);  // admin requests wait for one
  rd_kafka_mock_group_initial_rebalance_delay_ms(impl->cluster, kGroupDelayMillis);
  return std::unique_ptr<MockCluster>(new MockCluster(std::move(impl)));
}

std::string MockCluster::bootstrap_servers() const { return rd_kafka_mock_cluster_bootstraps(impl_->cluster); }

base::Status MockCluster::create_topic(const std::string& topic, int partitions) {
  const auto code = rd_kafka_mock_topic_create(impl_->cluster, topic.c_str(), partitions, 1);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("mock topic " + topic);
  return {};
}

base::Status MockCluster::set_broker_up(int broker, bool is_up) {
  const auto code = is_up ? rd_kafka_mock_broker_set_up(impl_->cluster, broker)
                          : rd_kafka_mock_broker_set_down(impl_->cluster, broker);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("mock broker " + std::to_string(broker));
  return {};
}

base::Status MockCluster::elect(const std::string& topic, int partition, int broker) {
  const auto code = rd_kafka_mock_partition_set_leader(impl_->cluster, topic.c_str(), partition, broker);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("mock leader of " + topic);
  return {};
}

void MockCluster::fail_requests(int16_t api_key, int16_t error_code, int count) {
  const std::vector<rd_kafka_resp_err_t> errors(static_cast<size_t>(count),
                                                static_cast<rd_kafka_resp_err_t>(error_code));
  rd_kafka_mock_push_request_errors_array(impl_->cluster, api_key, errors.size(), errors.data());
}

}  // namespace frazil::clients
