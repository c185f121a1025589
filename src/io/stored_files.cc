#include "io/stored_files.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/sync.h"

namespace frazil::io {
namespace {

constexpr size_t kLanes = 8;           // requests at a time
constexpr size_t kFilesForALane = 2;   // fewer are not worth a thread

using Finding = base::Result<std::optional<std::string>>;

Finding look_at(FileIO& io, const FileStatus& expected) {
  const base::Result<FileStatus> found = io.stat(expected.location);
  if (!found.ok() && found.error().code() == base::Code::kNotFound) {
    return std::optional<std::string>(expected.location + " was reported as stored and is not there");
  }
  if (!found.ok()) return found.error().in("look at " + expected.location);
  if (found->bytes == expected.bytes) return std::optional<std::string>();
  return std::optional<std::string>(expected.location + " was stored with " + std::to_string(expected.bytes) + " bytes and has " +
                                    std::to_string(found->bytes));
}

}  // namespace

base::Result<std::optional<std::string>> damage_among(FileIO& io, const std::vector<FileStatus>& expected) {
  std::vector<Finding> findings(expected.size(), Finding(std::optional<std::string>()));
  std::atomic<size_t> next{0};
  const auto look = [&] {
    for (size_t i = next++; i < expected.size(); i = next++) findings[i] = look_at(io, expected[i]);
  };
  std::vector<base::Lane> lanes;
  for (size_t i = 1; i < std::min(kLanes, expected.size() / kFilesForALane); ++i) lanes.emplace_back("look", look);
  look();
  for (base::Lane& lane : lanes) lane.join();
  for (const Finding& finding : findings) {
    if (!finding.ok() || finding->has_value()) return finding;
  }
  return std::optional<std::string>();
}

base::Status demand_stored(FileIO& io, const std::vector<FileStatus>& expected) {
  TRY_ASSIGN(const std::optional<std::string> damage, damage_among(io, expected));
  if (!damage) return {};
  base::log_warn("stored_file_damaged", {{"what", *damage}, {"then", "it is written again"}});
  return base::unavailable(*damage);
}

}  // namespace frazil::io
