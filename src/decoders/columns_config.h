// What `table.columns` says: which fields of the documents become which columns. Plain values.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace frazil::decoders {

struct ColumnsConfig {
  std::vector<std::string> keep{};              // empty: all
  std::vector<std::string> drop{};              // never together with keep
  std::map<std::string, std::string> rename{};  // field of the document → column of the table
  bool kafka_metadata = false;                  // adds _kafka_topic, _kafka_partition, _kafka_offset, ...
  bool operator==(const ColumnsConfig&) const = default;
};

}  // namespace frazil::decoders
