#include "sinks/iceberg/marks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/hash.h"

namespace frazil::sinks {
namespace {

using Json = nlohmann::json;
constexpr size_t kDecisionsKept = 20;

int64_t median_of(std::vector<engine::RecordTimes> times, int64_t rows) {
  std::sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
  int64_t seen = 0;
  for (const engine::RecordTimes& one : times) {
    seen += one.rows;
    if (seen * 2 >= rows) return one.mean;
  }
  return times.back().mean;
}

void add_record_times(iceberg::Properties& summary, const std::vector<engine::RecordTimes>& times) {
  if (times.empty()) return;
  int64_t rows = 0;
  int64_t min = times[0].min;
  int64_t max = times[0].max;
  for (const engine::RecordTimes& one : times) {
    rows += one.rows;
    min = std::min(min, one.min);
    max = std::max(max, one.max);
  }
  summary["frazil.record-time.min"] = base::format_utc(min);
  summary["frazil.record-time.median"] = base::format_utc(median_of(times, rows));
  summary["frazil.record-time.max"] = base::format_utc(max);
}

}  // namespace

std::string positions_digest(const std::string& positions) {
  const auto digest = base::xxh128(positions);
  return base::hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

PlacedMarks place(const Marks& marks) {
  PlacedMarks placed;
  placed.summary[kPipelineKey] = marks.pipeline;
  placed.summary[kEpochKey] = std::to_string(marks.epoch);
  if (marks.positions.size() + marks.ranges.size() <= kInlineBytes) {
    placed.summary[kPositionsKey] = marks.positions;
    placed.summary[kRangesKey] = marks.ranges;
  } else {
    const Json pointer{{"v", 1}, {"in", "manifest-list"}, {"digest", positions_digest(marks.positions)},
                       {"count", std::count(marks.positions.begin(), marks.positions.end(), ',') + 1}};
    placed.summary[kPositionsKey] = pointer.dump();
    placed.manifest_list_header[kPositionsKey] = marks.positions;
    placed.manifest_list_header[kRangesKey] = marks.ranges;
  }
  if (!marks.owed.empty()) placed.summary[kOwedKey] = encode_owed(marks.owed);
  if (!marks.decision.empty()) placed.summary["frazil.accepted"] = marks.decision;
  add_record_times(placed.summary, marks.record_times);
  return placed;
}

std::string encode_decision(const engine::Decision& decision, int64_t now_micros) {
  return Json{{"code", decision.code},
              {"choice", decision.choice},
              {"range", decision.range},
              {"user", decision.user},
              {"time", base::format_utc(now_micros)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string append_decision(const std::string& earlier, const std::string& decision) {
  Json list = Json::parse(earlier, nullptr, false);
  if (!list.is_array()) list = Json::array();
  list.push_back(Json::parse(decision, nullptr, false));
  while (list.size() > kDecisionsKept) list.erase(list.begin());
  return list.dump();
}

}  // namespace frazil::sinks
