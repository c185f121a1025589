// What a topic brings: partitions, records a second by its offsets over time, and the size of its latest records. Reads only, and joins no group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"
#include "base/result.h"

namespace frazil::app {

// Something that was tried with the credentials at hand, and what came of it.
struct Access {
  std::string what;
  std::string problem;  // empty: allowed
};

struct RateWindow {
  int64_t seconds = 0;
  int64_t records = 0;
  double per_second() const { return seconds > 0 ? static_cast<double>(records) / static_cast<double>(seconds) : 0; }
};

struct TopicFacts {
  std::vector<std::string> topics;
  int32_t partitions = 0;
  int64_t records = 0;  // between the log starts and ends
  std::vector<RateWindow> windows;  // the last minute, ten minutes, hour: offsets by timestamps, so control records count too
  int64_t sampled_records = 0;
  int64_t sampled_bytes = 0;  // of values
  std::vector<Access> access;

  // Of the longest window that saw a record: a quiet minute is no quiet topic.
  double records_per_second() const;
  double bytes_per_record() const { return sampled_records > 0 ? static_cast<double>(sampled_bytes) / static_cast<double>(sampled_records) : 0; }
};

// kUnavailable when the cluster is not reached within connect_timeout, kNotFound for a topic that does not exist.
base::Result<TopicFacts> probe_topics(const PipelineConfig& config);

}  // namespace frazil::app
