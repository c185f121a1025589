// LogEndWatch: asks where the logs that are read end, and sees in the answers how the source is doing: how far behind the
// table is, whether the cluster answers at all, and whether an open transaction keeps committed records back.
//
// A transaction that its producer has left without an end ("hanging") holds the last stable offset for ever: nothing behind
// it is handed to readers of committed records. No data are lost, but the table stands still, and somebody has to abort it.
// Its producer's id is not to be had from this client library; the message names the command that tells it.
//
// Owned by the source. follow(), join() and leave() by the control lane, the rest by any thread; refresh() waits for the cluster, at most about a
// request's time.
#pragma once

#include <map>
#include <vector>

#include "base/sync.h"
#include "clients/kafka/kafka_client.h"
#include "engine/source.h"

namespace frazil::sources {

class LogEndWatch {
 public:
  // A partition whose last stable offset stands still below the log's end for `patience_ms` is stuck; 0: never.
  LogEndWatch(clients::KafkaClient& client, int64_t patience_ms);

  // The partitions that are read from now on, in place of all others, or beside them; those that are read no longer.
  void follow(std::vector<clients::TopicPartition> partitions);
  void join(const std::vector<clients::TopicPartition>& partitions);
  void leave(const std::vector<clients::TopicPartition>& partitions);
  std::vector<clients::TopicPartition> followed() const;
  // What another question to the cluster came to: success is a sign of life, kUnavailable is silence.
  void note_reply(const base::Status& status);
  // What stands between `positions` and the last stable offsets. Asks the cluster at most once a second, and goes on with
  // its last answer while it gives none.
  std::vector<engine::SplitLag> lag(const engine::SourcePositions& positions);
  engine::SourceHealth health() const;

 private:
  using Offsets = std::map<clients::TopicPartition, int64_t>;
  // A last stable offset below the log's end.
  struct Pin {
    int64_t stable_offset = 0;
    int64_t log_end = 0;
    base::MonoMicros since = 0;
    bool is_reported = false;
  };

  void refresh();
  void note_answer(base::Result<Offsets> answer);
  void note_silence(const base::Error& error);
  void note_life();
  void look_for_pins();
  void note_pins(const Offsets& log_ends);
  bool is_stuck(const Pin& pin, base::MonoMicros now) const;

  clients::KafkaClient& client_;
  const int64_t patience_micros_;

  mutable base::Mutex mutex_;
  std::vector<clients::TopicPartition> partitions_;
  Offsets stable_ends_;
  std::map<clients::TopicPartition, Pin> pins_;
  base::MonoMicros next_refresh_ = 0;
  base::MonoMicros next_pin_look_ = 0;
  base::MonoMicros disconnected_since_ = 0;  // 0: connected
  std::string problem_;
};

}  // namespace frazil::sources
