#include "clients/kafka/renewing_client.h"

#include <set>
#include <utility>

#include "base/log.h"

namespace frazil::clients {
namespace {

class RenewingClient : public KafkaClient {
 public:
  RenewingClient(MakeKafkaClient make, std::unique_ptr<KafkaClient> first) : make_(std::move(make)), client_(std::move(first)) {}
  ~RenewingClient() override { close(); }

  base::Status connect(base::MonoMicros deadline) override { return client()->connect(deadline); }
  base::Result<ClusterDescription> describe(const std::vector<std::string>& topics) override { return client()->describe(topics); }
  base::Result<std::vector<std::string>> match_topics(const std::string& pattern) override { return client()->match_topics(pattern); }
  base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>& partitions,
                                                               OffsetSpec spec) override {
    return client()->list_offsets(partitions, spec);
  }
  base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>& partitions,
                                                                   int64_t timestamp_ms) override {
    return client()->offsets_for_time(partitions, timestamp_ms);
  }
  base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(
      const std::vector<TopicPartition>& partitions) override {
    return client()->committed(partitions);
  }
  base::Status subscribe(const std::vector<std::string>& topics) override {
    const base::Status status = client()->subscribe(topics);
    base::Lock lock(mutex_);
    if (status.ok()) subscribed_ = topics;
    return status;
  }
  base::Status add(const std::map<TopicPartition, OffsetAndEpoch>& positions, const std::map<TopicPartition, int>& lane_of) override {
    return client()->add(positions, lane_of);
  }
  base::Status remove(const std::vector<TopicPartition>& partitions) override { return client()->remove(partitions); }
  base::Status unassign() override {
    {
      base::Lock lock(mutex_);
      if (fatal_.empty() || is_closed_) return client_->unassign();
    }
    return renew();
  }
  base::Result<KafkaEvent> poll_control(base::MonoMicros deadline) override;
  base::Result<std::unique_ptr<FetchedBatch>> fetch(int lane, int max_messages, int64_t max_bytes,
                                                    base::MonoMicros deadline) override {
    return client()->fetch(lane, max_messages, max_bytes, deadline);
  }
  void wake(int lane) override { client()->wake(lane); }
  base::Status commit_offsets(const std::map<TopicPartition, int64_t>& offsets, const std::string& metadata) override {
    return client()->commit_offsets(offsets, metadata);
  }
  base::Result<std::vector<GroupMember>> group_members() override { return client()->group_members(); }
  std::string last_error() const override { return client()->last_error(); }
  void close() override {
    {
      base::Lock lock(mutex_);
      if (std::exchange(is_closed_, true)) return;
    }
    client()->close();
  }

 private:
  std::shared_ptr<KafkaClient> client() const {
    base::Lock lock(mutex_);
    return client_;
  }
  void note(const KafkaEvent& event);
  base::Status renew();

  const MakeKafkaClient make_;
  mutable base::Mutex mutex_;
  std::shared_ptr<KafkaClient> client_;
  std::vector<std::string> subscribed_;
  std::set<TopicPartition> given_;  // by the group, and not taken or lost since
  std::set<TopicPartition> lost_;   // with the client before, to be told
  std::string fatal_;               // why the client is of no more use; empty: it is
  bool is_closed_ = false;
};

base::Result<KafkaEvent> RenewingClient::poll_control(base::MonoMicros deadline) {
  {
    base::Lock lock(mutex_);
    if (!lost_.empty()) {
      const std::set<TopicPartition> lost = std::exchange(lost_, {});
      return KafkaEvent{.kind = KafkaEventKind::kLost, .partitions = {lost.begin(), lost.end()}, .offset = -1, .text = "the client is a new one"};
    }
  }
  base::Result<KafkaEvent> event = client()->poll_control(deadline);
  if (event.ok()) note(*event);
  return event;
}

void RenewingClient::note(const KafkaEvent& event) {
  base::Lock lock(mutex_);
  if (event.kind == KafkaEventKind::kFatal) fatal_ = event.text.empty() ? "no reason was given" : event.text;
  if (event.kind == KafkaEventKind::kAssigned) given_.insert(event.partitions.begin(), event.partitions.end());
  if (event.kind != KafkaEventKind::kRevoked && event.kind != KafkaEventKind::kLost) return;
  for (const TopicPartition& partition : event.partitions) given_.erase(partition);
}

base::Status RenewingClient::renew() {
  TRY_ASSIGN(std::shared_ptr<KafkaClient> fresh, make_());
  std::shared_ptr<KafkaClient> old;
  std::vector<std::string> topics;
  {
    base::Lock lock(mutex_);
    base::log_warn("kafka_client_renewed", {{"why", fatal_}});
    fatal_.clear();
    old = std::exchange(client_, fresh);
    lost_ = std::exchange(given_, {});
    topics = subscribed_;
  }
  old->close();
  return topics.empty() ? base::Status() : fresh->subscribe(topics);
}

}  // namespace

base::Result<std::unique_ptr<KafkaClient>> make_renewing_client(MakeKafkaClient make) {
  TRY_ASSIGN(std::unique_ptr<KafkaClient> first, make());
  return std::unique_ptr<KafkaClient>(std::make_unique<RenewingClient>(std::move(make), std::move(first)));
}

}  // namespace frazil::clients
