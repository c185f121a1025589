#include "clients/kafka/rdkafka_admin.h"

#include <librdkafka/rdkafka.h>

#include <functional>

#include "base/clock.h"

namespace frazil::clients {

namespace {

constexpr int kBrokersMillis = 1'000;  // on top of a request; an end by SIGTERM may have to wait for both

using OptionsPtr = RdKafkaPtr<rd_kafka_AdminOptions_s>;

OptionsPtr admin_options(rd_kafka_t* handle, rd_kafka_admin_op_t operation) {
  OptionsPtr options(rd_kafka_AdminOptions_new(handle, operation));
  char text[256];
  rd_kafka_AdminOptions_set_request_timeout(options.get(), kRequestMillis, text, sizeof text);
  return options;
}

base::Result<RdKafkaEvent> await(rd_kafka_queue_t* queue) {
  RdKafkaEvent event(rd_kafka_queue_poll(queue, kRequestMillis + 1000));
  if (!event) return kafka_error(RD_KAFKA_RESP_ERR__TIMED_OUT);
  if (const auto code = rd_kafka_event_error(event.get())) {
    return kafka_error(code, rd_kafka_event_error_string(event.get()));
  }
  return event;
}

using Send = std::function<void(rd_kafka_queue_t*)>;

// Sends one admin request and waits for its answer.
base::Result<RdKafkaEvent> ask(rd_kafka_t* handle, const Send& send) {
  RdKafkaQueue queue(rd_kafka_queue_new(handle));
  send(queue.get());
  return await(queue.get());
}

// The same, and again while `code_in` finds a passing state in the answer.
base::Result<RdKafkaEvent> ask_until_settled(rd_kafka_t* handle, const Send& send, int (*code_in)(rd_kafka_event_t*), PassingStates& passing) {
  while (true) {
    auto answer = ask(handle, send);
    if (!answer.ok() || !passing.again(code_in(answer->get()))) return answer;
  }
}

std::string id_text(const rd_kafka_Uuid_t* id) {
  if (id == nullptr) return "";
  if (rd_kafka_Uuid_most_significant_bits(id) == 0 && rd_kafka_Uuid_least_significant_bits(id) == 0) return "";
  return rd_kafka_Uuid_base64str(id);
}

void send_describe_topics(rd_kafka_t* handle, const std::vector<std::string>& topics, rd_kafka_queue_t* queue) {
  std::vector<const char*> names;
  for (const std::string& topic : topics) names.push_back(topic.c_str());
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS);
  auto* collection = rd_kafka_TopicCollection_of_topic_names(names.data(), names.size());
  rd_kafka_DescribeTopics(handle, collection, options.get(), queue);
  rd_kafka_TopicCollection_destroy(collection);
}

base::Status read_topics(rd_kafka_event_t* event, std::map<std::string, TopicDescription>& out) {
  size_t count = 0;
  const auto* topics =
      rd_kafka_DescribeTopics_result_topics(rd_kafka_event_DescribeTopics_result(event), &count);
  for (size_t i = 0; i < count; ++i) {
    const char* name = rd_kafka_TopicDescription_name(topics[i]);
    const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(topics[i]);
    const int code = error != nullptr ? rd_kafka_error_code(error) : 0;
    if (is_unknown_topic(code)) continue;
    if (code != 0) return base::Status(kafka_error(code, rd_kafka_error_string(error))).in(std::string("topic ") + name);
    TopicDescription& topic = out[name];
    topic.id = id_text(rd_kafka_TopicDescription_topic_id(topics[i]));
    size_t partitions = 0;
    rd_kafka_TopicDescription_partitions(topics[i], &partitions);
    topic.partitions = static_cast<int32_t>(partitions);
  }
  return {};
}

// For brokers without topic ids.
base::Status read_topics_by_metadata(rd_kafka_t* handle, const std::vector<std::string>& topics,
                                     std::map<std::string, TopicDescription>& out) {
  for (const std::string& name : topics) {
    rd_kafka_topic_t* topic = rd_kafka_topic_new(handle, name.c_str(), nullptr);
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto code = rd_kafka_metadata(handle, 0, topic, &metadata, kRequestMillis);
    rd_kafka_topic_destroy(topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return base::Status(kafka_error(code)).in("topic " + name);
    if (metadata->topic_cnt > 0 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      out[name].partitions = metadata->topics[0].partition_cnt;
    }
    rd_kafka_metadata_destroy(metadata);
  }
  return {};
}

std::string read_cluster_id(rd_kafka_event_t* event) {
  const char* id = rd_kafka_DescribeCluster_result_cluster_id(rd_kafka_event_DescribeCluster_result(event));
  return id != nullptr ? id : "";
}

base::Result<std::map<TopicPartition, int64_t>> query_watermarks(rd_kafka_t* handle,
                                                                 const std::vector<TopicPartition>& partitions,
                                                                 OffsetSpec spec) {
  std::map<TopicPartition, int64_t> offsets;
  for (const TopicPartition& partition : partitions) {
    int64_t low = 0, high = 0;
    const auto code = rd_kafka_query_watermark_offsets(handle, partition.topic.c_str(), partition.partition, &low, &high,
                                                       kRequestMillis);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("offsets of " + partition.topic);
    offsets[partition] = spec == OffsetSpec::kEarliest ? low : high;
  }
  return offsets;
}

base::Result<std::map<TopicPartition, int64_t>> read_offsets(rd_kafka_event_t* event) {
  std::map<TopicPartition, int64_t> offsets;
  size_t count = 0;
  const auto* infos = rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event), &count);
  for (size_t i = 0; i < count; ++i) {
    const auto* entry = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    const TopicPartition partition{entry->topic, entry->partition};
    if (entry->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return kafka_error(entry->err).in("offsets of " + partition.topic + "/" + std::to_string(partition.partition));
    }
    // When the leader could not be asked in time there is neither an error nor an offset.
    if (entry->offset < 0) {
      return kafka_error(RD_KAFKA_RESP_ERR__TIMED_OUT).in("offsets of " + partition.topic + "/" + std::to_string(partition.partition));
    }
    offsets[partition] = entry->offset;
  }
  return offsets;
}

int code_in_offsets(rd_kafka_event_t* event) {
  size_t count = 0;
  const auto* infos = rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event), &count);
  for (size_t i = 0; i < count; ++i) {
    if (const int code = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i])->err; code != 0) return code;
  }
  return 0;
}

int code_in_group(rd_kafka_event_t* event) {
  size_t count = 0;
  const auto* groups =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event), &count);
  const auto* error = count == 1 ? rd_kafka_ConsumerGroupDescription_error(groups[0]) : nullptr;
  return error != nullptr ? rd_kafka_error_code(error) : 0;
}

base::Result<std::vector<GroupMember>> read_members(rd_kafka_event_t* event) {
  size_t count = 0;
  const auto* groups =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event), &count);
  if (count != 1) return base::unavailable("Kafka gave no description of the group");
  if (const auto* error = rd_kafka_ConsumerGroupDescription_error(groups[0])) {
    return kafka_error(rd_kafka_error_code(error), rd_kafka_error_string(error));
  }
  std::vector<GroupMember> members;
  for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(groups[0]); ++i) {
    const auto* told = rd_kafka_ConsumerGroupDescription_member(groups[0], i);
    GroupMember member{rd_kafka_MemberDescription_client_id(told), {}};
    const auto* assigned = rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(told));
    for (int p = 0; assigned != nullptr && p < assigned->cnt; ++p) {
      member.partitions.push_back({assigned->elems[p].topic, assigned->elems[p].partition});
    }
    members.push_back(std::move(member));
  }
  return members;
}

base::Status topic_result(rd_kafka_topic_result_t const* const* results, size_t count) {
  if (count != 1) return base::unavailable("Kafka gave no result for the topic");
  const auto code = rd_kafka_topic_result_error(results[0]);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  const char* text = rd_kafka_topic_result_error_string(results[0]);
  return kafka_error(code, text != nullptr ? text : rd_kafka_err2str(code));
}

// A broker that is about to end or has only begun names no controller and no brokers. librdkafka keeps that until metadata is asked
// for again, which may be minutes later when it reads no topic; admin requests wait for a controller in vain until then.
void ask_for_brokers(rd_kafka_t* handle) {
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(handle, 0, nullptr, &metadata, kBrokersMillis) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
}

base::Result<ClusterDescription> try_to_describe(rd_kafka_s* handle, const std::vector<std::string>& topics) {
  RdKafkaQueue topic_answer(rd_kafka_queue_new(handle));
  RdKafkaQueue cluster_answer(rd_kafka_queue_new(handle));
  if (!topics.empty()) send_describe_topics(handle, topics, topic_answer.get());
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER);
  rd_kafka_DescribeCluster(handle, options.get(), cluster_answer.get());

  ClusterDescription description;
  if (!topics.empty()) {
    const auto answer = await(topic_answer.get());
    if (answer.ok()) {
      TRY(read_topics(answer->get(), description.topics));
    } else if (answer.error().code() == base::Code::kUnsupported) {
      TRY(read_topics_by_metadata(handle, topics, description.topics));
    } else {
      return answer.error().in("describe topics");
    }
  }
  const auto answer = await(cluster_answer.get());
  if (answer.ok()) {
    description.cluster_id = read_cluster_id(answer->get());
  } else if (answer.error().code() != base::Code::kUnsupported) {
    return answer.error().in("describe cluster");
  }
  return description;
}

}  // namespace

base::Result<ClusterDescription> describe_cluster(rd_kafka_s* handle, const std::vector<std::string>& topics) {
  if (rd_kafka_controllerid(handle, 0) < 0) ask_for_brokers(handle);
  auto description = try_to_describe(handle, topics);
  if (!description.ok() && description.error().code() == base::Code::kUnavailable) ask_for_brokers(handle);  // for the next try
  return description;
}

base::Result<std::vector<std::string>> list_topics(rd_kafka_s* handle) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const auto code = rd_kafka_metadata(handle, 1, nullptr, &metadata, kRequestMillis);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("list topics");
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
  rd_kafka_metadata_destroy(metadata);
  return names;
}

base::Result<std::map<TopicPartition, int64_t>> query_offsets(rd_kafka_s* handle,
                                                              const std::vector<TopicPartition>& partitions,
                                                              OffsetSpec spec, PassingStates& passing) {
  if (partitions.empty()) return std::map<TopicPartition, int64_t>();
  const RdKafkaPartitionList list = partition_list(partitions);
  const int64_t wanted = spec == OffsetSpec::kEarliest ? RD_KAFKA_OFFSET_SPEC_EARLIEST : RD_KAFKA_OFFSET_SPEC_LATEST;
  const auto isolation =
      spec == OffsetSpec::kLogEnd ? RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED : RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED;
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = wanted;
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_LISTOFFSETS);
  if (auto* error = rd_kafka_AdminOptions_set_isolation_level(options.get(), isolation)) {
    rd_kafka_error_destroy(error);
    return query_watermarks(handle, partitions, spec);
  }
  const auto send = [&](rd_kafka_queue_t* queue) { rd_kafka_ListOffsets(handle, list.get(), options.get(), queue); };
  const auto answer = ask_until_settled(handle, send, code_in_offsets, passing);
  if (answer.ok()) {
    TRY_ASSIGN(auto offsets, read_offsets(answer->get()));
    if (offsets.size() < partitions.size()) return kafka_error(RD_KAFKA_RESP_ERR__TIMED_OUT).in("list offsets");
    return offsets;
  }
  if (answer.error().code() == base::Code::kUnsupported) return query_watermarks(handle, partitions, spec);
  return answer.error().in("list offsets");
}

base::Result<std::vector<GroupMember>> describe_group(rd_kafka_s* handle, const std::string& group, PassingStates& passing) {
  const char* name = group.c_str();
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
  const auto send = [&](rd_kafka_queue_t* queue) { rd_kafka_DescribeConsumerGroups(handle, &name, 1, options.get(), queue); };
  const auto answer = ask_until_settled(handle, send, code_in_group, passing);
  if (!answer.ok()) return answer.error().in("describe group " + group);
  return read_members(answer->get());
}

base::Status create_topic(rd_kafka_s* handle, const std::string& topic, const TopicSettings& settings) {
  char text[256];
  std::unique_ptr<rd_kafka_NewTopic_t, decltype(&rd_kafka_NewTopic_destroy)> fresh(
      rd_kafka_NewTopic_new(topic.c_str(), settings.partitions, settings.replication, text, sizeof text),
      &rd_kafka_NewTopic_destroy);
  if (!fresh) return base::invalid("topic " + topic + ": " + text);
  for (const auto& [name, value] : settings.configs) rd_kafka_NewTopic_set_config(fresh.get(), name.c_str(), value.c_str());
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS);
  auto* raw = fresh.get();
  const auto answer = ask(handle, [&](rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(handle, &raw, 1, options.get(), queue);
  });
  if (!answer.ok()) return answer.error().in("create topic " + topic);
  size_t count = 0;
  const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer->get()), &count);
  return topic_result(results, count).in("create topic " + topic);
}

base::Status delete_topic(rd_kafka_s* handle, const std::string& topic) {
  auto* doomed = rd_kafka_DeleteTopic_new(topic.c_str());
  const OptionsPtr options = admin_options(handle, RD_KAFKA_ADMIN_OP_DELETETOPICS);
  const auto answer = ask(handle, [&](rd_kafka_queue_t* queue) {
    rd_kafka_DeleteTopics(handle, &doomed, 1, options.get(), queue);
  });
  rd_kafka_DeleteTopic_destroy(doomed);
  if (!answer.ok()) return answer.error().in("delete topic " + topic);
  size_t count = 0;
  const auto* results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(answer->get()), &count);
  return topic_result(results, count).in("delete topic " + topic);
}

}  // namespace frazil::clients
