#include "sinks/iceberg/handing_committer.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace frazil::sinks {
namespace {

constexpr int64_t kContendedMicros = 60'000'000;

}  // namespace

bool HandingCommitter::should_hand_over(const engine::StagedEpoch& epoch) const {
  if (hand_over_ == nullptr || config_.merge == MergeMode::kOff) return false;
  if (!config_.targets.empty()) return false;  // what others are owed is listed by whoever wrote it
  if (epoch.dead_letters || epoch.outputs.empty()) return false;
  if (std::ranges::any_of(epoch.ranges, &engine::Range::is_first)) return false;  // the others do not know of that split yet
  return config_.merge == MergeMode::kAlways || base::mono_micros() < contended_until_;
}

base::Result<engine::CommitVerdict> HandingCommitter::try_hand_over(const engine::StagedEpoch& epoch) {
  TRY_ASSIGN(const iceberg::LoadedTable table, catalog_.load_table(config_.table));
  const auto target = own_.target();
  HandedEpoch handed;
  handed.pipeline = config_.pipeline;
  handed.table_uuid = own_.mark();
  handed.schema_id = own_.target_schema_id();
  handed.spec_id = target->spec.spec_id;
  if (table.metadata.table_uuid != handed.table_uuid || table.metadata.current_schema_id != handed.schema_id ||
      table.metadata.default_spec_id != handed.spec_id) {
    return base::unavailable("the table has changed");  // to be judged by the committer behind
  }
  handed.ranges = epoch.ranges;
  handed.identity = epoch.identity;
  handed.rows = epoch.rows;
  handed.record_times = epoch.record_times;
  TRY_ASSIGN(const WrittenManifest manifest, write_handed_manifest(*catalog_.file_io(), table.metadata, epoch));
  handed.manifest = manifest.location;
  handed.digest = manifest.digest;
  return hand_over_->hand_over(handed);
}

base::Result<engine::CommitVerdict> HandingCommitter::commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) {
  if (should_hand_over(epoch)) {
    base::Result<engine::CommitVerdict> verdict = try_hand_over(epoch);
    base::log_info("epoch_handed_over", {{"pipeline", config_.pipeline},
                                         {"batch", epoch.number},
                                         {"rows", epoch.rows},
                                         {"verdict", verdict.ok() ? engine::verdict_name(verdict->kind) : "none"},
                                         {"why", verdict.ok() ? verdict->reason : verdict.error().message()}});
    if (verdict.ok()) {
      verdict->is_merged = true;
      return verdict;
    }
  }
  const base::Result<engine::CommitVerdict> verdict = own_.commit(epoch, abandon);
  if (own_.requests_of_last_commit() > 1) contended_until_ = base::deadline_after(kContendedMicros);
  return verdict;
}

}  // namespace frazil::sinks
