#include "clients/kafka/kafka_producer.h"

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "clients/kafka/rdkafka_admin.h"
#include "clients/kafka/rdkafka_connection.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

namespace {

constexpr int kServeMillis = 20;
constexpr int64_t kTopicPollMicros = 20000;

std::map<std::string, std::string> producer_properties(const KafkaProducerConfig& config) {
  std::map<std::string, std::string> properties = {
      {"linger.ms", "20"},
      {"batch.size", "1000000"},
      {"batch.num.messages", "10000"},
      {"queue.buffering.max.messages", "500000"},
      {"queue.buffering.max.kbytes", "65536"},
      {"enable.metrics.push", "false"},
  };
  for (const auto& [name, value] : config.properties) properties[name] = value;
  properties["compression.codec"] = config.codec;
  properties["enable.idempotence"] = "true";
  properties.try_emplace("client.id", config.client_id);
  return properties;
}

struct TopicDeleter {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

class LibrdkafkaProducer : public KafkaProducer {
 public:
  explicit LibrdkafkaProducer(std::shared_ptr<RdKafkaConnection> connection)
      : connection_(std::move(connection)), reports_(rd_kafka_queue_get_main(connection_->handle())) {}
  ~LibrdkafkaProducer() override {
    rd_kafka_purge(handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    serve(0);
  }

  base::Status connect(base::MonoMicros deadline) override { return connection_->wait_until_connected(deadline); }
  base::Status create_topic(const std::string& topic, const TopicSettings& settings, base::MonoMicros deadline) override;
  base::Status delete_topic(const std::string& topic, base::MonoMicros deadline) override;
  base::Result<int> partitions(const std::string& topic) override;
  base::Status produce(const std::string& topic, std::span<const ProducedRecord> records,
                       base::MonoMicros deadline) override;
  base::Status flush(base::MonoMicros deadline) override;
  ProducerStats stats() const override;

 private:
  rd_kafka_t* handle() const { return connection_->handle(); }
  rd_kafka_topic_t* topic_handle(const std::string& name);
  rd_kafka_resp_err_t send(rd_kafka_topic_t* topic, const ProducedRecord& record);
  void serve(int wait_ms);
  void count(rd_kafka_event_t* reports);
  base::Error full_error() const;

  std::shared_ptr<RdKafkaConnection> connection_;
  RdKafkaQueue reports_;
  std::atomic<int64_t> delivered_records_{0};
  std::atomic<int64_t> delivered_bytes_{0};
  std::atomic<int64_t> failed_records_{0};
  mutable base::Mutex mutex_;
  std::map<std::string, std::unique_ptr<rd_kafka_topic_t, TopicDeleter>> topics_;
  std::string last_error_;
};

base::Status LibrdkafkaProducer::create_topic(const std::string& topic, const TopicSettings& settings,
                                              base::MonoMicros deadline) {
  TRY(clients::create_topic(handle(), topic, settings));
  base::Mutex mutex;
  base::CondVar never;
  for (;;) {
    const auto there = partitions(topic);
    if (there.ok() && there.value() == settings.partitions) return {};
    if (!there.ok() && there.error().code() != base::Code::kNotFound) return there.error();
    if (base::mono_micros() >= deadline) return base::unavailable("topic " + topic + " was created but is not served yet");
    base::Lock lock(mutex);
    never.wait_until(lock, base::deadline_after(kTopicPollMicros));
  }
}

base::Status LibrdkafkaProducer::delete_topic(const std::string& topic, base::MonoMicros deadline) {
  TRY(clients::delete_topic(handle(), topic));
  base::Mutex mutex;
  base::CondVar never;
  for (;;) {
    const auto there = partitions(topic);
    if (!there.ok() && there.error().code() == base::Code::kNotFound) return {};
    if (base::mono_micros() >= deadline) return base::unavailable("topic " + topic + " is still there");
    base::Lock lock(mutex);
    never.wait_until(lock, base::deadline_after(kTopicPollMicros));
  }
}

base::Result<int> LibrdkafkaProducer::partitions(const std::string& topic) {
  TRY_ASSIGN(const ClusterDescription cluster, describe_cluster(handle(), {topic}));
  const auto found = cluster.topics.find(topic);
  if (found == cluster.topics.end()) return base::not_found("topic " + topic + " does not exist");
  return static_cast<int>(found->second.partitions);
}

rd_kafka_topic_t* LibrdkafkaProducer::topic_handle(const std::string& name) {
  base::Lock lock(mutex_);
  auto& topic = topics_[name];
  if (!topic) topic.reset(rd_kafka_topic_new(handle(), name.c_str(), nullptr));
  return topic.get();
}

rd_kafka_resp_err_t LibrdkafkaProducer::send(rd_kafka_topic_t* topic, const ProducedRecord& record) {
  // Null and empty differ: librdkafka takes a null pointer for null.
  static constexpr char kEmpty[] = "";
  const char* key = !record.has_key ? nullptr : record.key.empty() ? kEmpty : record.key.data();
  const char* value = !record.has_value ? nullptr : record.value.empty() ? kEmpty : record.value.data();
  return rd_kafka_producev(handle(), RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(record.partition),
                           RD_KAFKA_V_KEY(key, record.key.size()),
                           RD_KAFKA_V_VALUE(const_cast<char*>(value), record.value.size()),
                           RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_TIMESTAMP(record.timestamp_ms),
                           RD_KAFKA_V_END);
}

base::Status LibrdkafkaProducer::produce(const std::string& topic, std::span<const ProducedRecord> records,
                                         base::MonoMicros deadline) {
  rd_kafka_topic_t* target = topic_handle(topic);
  if (target == nullptr) return kafka_error(rd_kafka_last_error()).in("topic " + topic);
  for (const ProducedRecord& record : records) {
    for (;;) {
      const auto code = send(target, record);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return kafka_error(code).in("produce to " + topic);
      if (base::mono_micros() >= deadline) return full_error();
      serve(kServeMillis);
    }
  }
  serve(0);
  return {};
}

base::Error LibrdkafkaProducer::full_error() const {
  const std::string last = connection_->last_error();
  return base::unavailable("Kafka takes no records: the send queue stays full" +
                           (last.empty() ? std::string() : "; last error: " + last));
}

base::Status LibrdkafkaProducer::flush(base::MonoMicros deadline) {
  // Without this librdkafka waits out linger.ms for a batch that will not fill.
  rd_kafka_flush(handle(), 0);
  while (rd_kafka_outq_len(handle()) > 0) {
    if (base::mono_micros() >= deadline) return full_error();
    serve(millis_until(deadline, kServeMillis));
  }
  return {};
}

void LibrdkafkaProducer::serve(int wait_ms) {
  while (const RdKafkaEvent event{rd_kafka_queue_poll(reports_.get(), wait_ms)}) {
    if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_DR) count(event.get());
    wait_ms = 0;
  }
}

void LibrdkafkaProducer::count(rd_kafka_event_t* reports) {
  const rd_kafka_message_t* messages[512];
  while (const size_t count = rd_kafka_event_message_array(reports, messages, std::size(messages))) {
    int64_t delivered = 0, bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      if (messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        ++delivered;
        bytes += static_cast<int64_t>(messages[i]->len);
        continue;
      }
      failed_records_.fetch_add(1);
      base::Lock lock(mutex_);
      last_error_ = kafka_error(messages[i]->err).message();
    }
    delivered_records_.fetch_add(delivered);
    delivered_bytes_.fetch_add(bytes);
  }
}

ProducerStats LibrdkafkaProducer::stats() const {
  base::Lock lock(mutex_);
  return {delivered_records_.load(), delivered_bytes_.load(), failed_records_.load(), last_error_};
}

}  // namespace

base::Result<std::unique_ptr<KafkaProducer>> make_kafka_producer(const KafkaProducerConfig& config) {
  TRY_ASSIGN(auto connection, RdKafkaConnection::open(RdKafkaConnection::Role::kProducer, producer_properties(config),
                                                      RD_KAFKA_EVENT_DR, config.allow_plaintext));
  return std::unique_ptr<KafkaProducer>(std::make_unique<LibrdkafkaProducer>(std::move(connection)));
}

}  // namespace frazil::clients
