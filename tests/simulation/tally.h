// Tally: what happened in one simulation or in many, counted by name. A fault that never happened proves nothing, so the
// program fails when one of the mandatory counts is zero. One simulation at a time; the holder of the token writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace frazil::simulation {

class Tally {
 public:
  void add(const std::string& name, int64_t count = 1) { counts_[name] += count; }
  int64_t count(const std::string& name) const {
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }
  void merge(const Tally& other) {
    for (const auto& [name, count] : other.counts_) counts_[name] += count;
  }
  const std::map<std::string, int64_t>& counts() const { return counts_; }
  bool operator==(const Tally&) const = default;

 private:
  std::map<std::string, int64_t> counts_;
};

// Counts that a run over many seeds must have seen at least once.
const std::vector<std::string>& mandatory_counts();

}  // namespace frazil::simulation
