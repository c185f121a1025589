#include "tests/simulation/oracle.h"

#include <algorithm>
#include <cstdlib>

#include "tests/simulation/producer.h"

namespace frazil::simulation {
namespace {

constexpr size_t kProblemsKept = 5;

std::string place(int32_t partition, int64_t offset) { return std::to_string(partition) + "/" + std::to_string(offset); }

// Void entries that are owed and not applied yet.
bool is_void(const TableMarks& marks, int64_t applied, int64_t epoch) {
  return std::any_of(marks.owed.begin(), marks.owed.end(), [&](const OwedMark& owed) {
    return owed.void_epochs && owed.epoch > applied && owed.epoch > epoch && owed.void_epochs->first <= epoch &&
           epoch <= owed.void_epochs->second;
  });
}

}  // namespace

void Oracle::problem(const std::string& text) {
  if (problems_.size() < kProblemsKept) problems_.push_back(where_ + ": " + text);
}

std::vector<std::string> Oracle::judge(bool must_be_complete) {
  const auto& history = house_.history();
  for (size_t i = 0; i < history.size() && problems_.size() < kProblemsKept; ++i) {
    where_ = "state " + std::to_string(i) + " (" + history[i].cause + ")";
    judge_state(history[i]);
  }
  where_ = "at the end";
  if (history.empty() || !history.back().anchor) {
    problem("there is no table");
    return problems_;
  }
  judge_files(*history.back().anchor);
  if (history.back().dead_letters) judge_files(*history.back().dead_letters);
  if (must_be_complete) judge_completeness(history.back());
  return problems_;
}

void Oracle::judge_state(const TablesState& state) {
  if (state.dead_letters) judge_outbox(*state.dead_letters);
  if (!state.anchor) return;
  const std::optional<TableMarks> newest = newest_marks(*state.anchor, house_.known_snapshots());
  if (!newest) {
    if (last_ && !may_roll_back_) problem("the table has lost its positions");
    return;
  }
  if (is_rolled_back(state, *newest)) {
    last_ = newest;
    return;
  }
  judge_step(*newest);
  judge_rows(state, *newest);
}

bool Oracle::is_rolled_back(const TablesState& state, const TableMarks& newest) {
  const auto property = snapshot_of_property(*state.anchor);
  const auto tag = snapshot_of_tag(*state.anchor);
  if (tag == newest.snapshot_id) {
    if (property && *property != newest.snapshot_id) problem("the property names another snapshot than the tag");
    return false;
  }
  if (!tag && scenario_.table == TableEvent::kTagRemoved) {
    if (property != newest.snapshot_id) problem("without a tag, the property does not name the newest snapshot with positions");
    return false;
  }
  const iceberg::Snapshot* x = tag ? state.anchor->snapshot(*tag) : nullptr;
  if (!may_roll_back_ || x == nullptr) {
    problem("the tag does not name the newest snapshot with positions");
    return false;
  }
  if (!rolled_from_) rolled_from_ = marks_of(*x);
  return true;
}

// --- one commit after the other ----------------------------------------------------------------------------------------------

void Oracle::judge_step(const TableMarks& newest) {
  if (last_ && last_->snapshot_id == newest.snapshot_id) return;
  if (newest.epoch <= highest_epoch_) problem("epoch " + std::to_string(newest.epoch) + " is not above those before it");
  highest_epoch_ = std::max(highest_epoch_, newest.epoch);
  if (rolled_from_ && !newest.is_decision && may_forget_) {
    // Whether that was right, the rows tell: none may be missing.
    tally_.add("roll-backs over no row");
    last_ = rolled_from_;
    rolled_from_.reset();
  }
  if (rolled_from_) {
    judge_decision(newest);
  } else {
    judge_ranges(newest);
  }
  last_ = newest;
}

void Oracle::judge_decision(const TableMarks& newest) {
  if (!newest.is_decision) problem("a commit after a roll-back carries no decision");
  if (newest.next == rolled_from_->next && newest.next != last_->next) {
    for (const auto& [partition, end] : newest.next) {
      const auto begin = last_->next.find(partition);
      left_out_.push_back({partition, {begin == last_->next.end() ? 0 : begin->second, end}});
    }
  } else if (newest.next != last_->next) {
    problem("a decision moved the positions to where nobody was");
  }
  rolled_from_.reset();
}

void Oracle::judge_ranges(const TableMarks& newest) {
  for (const auto& [partition, next] : newest.next) {
    const auto known = last_ ? last_->next.find(partition) : newest.next.end();
    const int64_t before = last_ && known != last_->next.end() ? known->second : 0;
    const auto range = newest.ranges.find(partition);
    if (range == newest.ranges.end()) {
      if (next != before && !is_skip(newest, partition, before, next)) problem("partition " + std::to_string(partition) + " moved without a range");
    } else if (range->second != std::pair(before, next)) {
      problem("the range of partition " + std::to_string(partition) + " is [" + std::to_string(range->second.first) + "," +
              std::to_string(range->second.second) + "), the positions went from " + std::to_string(before) + " to " +
              std::to_string(next));
    }
  }
}

bool Oracle::is_skip(const TableMarks& newest, int32_t partition, int64_t before, int64_t next) {
  const int64_t log_start = topic_.partitions[static_cast<size_t>(partition)].log_start;
  if (!newest.is_decision || scenario_.source != SourceEvent::kOvertaken || next <= before || next != log_start) return false;
  skipped_[partition] = {before, next};
  return true;
}

// --- rows ------------------------------------------------------------------------------------------------------------------

Oracle::Counts Oracle::count_rows(const TablesState& state, const TableMarks& newest) {
  Counts counts;
  for (const RecordName& row : rows_.visible(*state.anchor, problems_)) {
    if (row.partition < 0) continue;
    const int32_t partition = row.partition % kOtherLogParts;
    Seen& seen = counts[{partition, row.offset}];
    ++seen.anchor;
    if (row.partition != part_named_by(partition, row.offset)) ++seen.of_another_log;
  }
  const int64_t applied = state.dead_letters ? applied_of(*state.dead_letters) : 0;
  if (state.dead_letters) {
    for (const RecordName& row : rows_.visible(*state.dead_letters, problems_)) {
      if (!is_void(newest, applied, row.epoch)) ++counts[{row.partition, row.offset}].dead;
    }
  }
  for (const OwedMark& owed : newest.owed) {
    if (owed.void_epochs || owed.epoch <= applied || is_void(newest, applied, owed.epoch)) continue;
    for (const RecordName& row : rows_.of_manifest(owed.manifest, problems_)) ++counts[{row.partition, row.offset}].dead;
  }
  return counts;
}

// The number that the record names itself by; -1: there is no such record.
int32_t Oracle::part_named_by(int32_t partition, int64_t offset) const {
  if (static_cast<size_t>(partition) >= topic_.partitions.size()) return -1;
  const PartitionLog& log = topic_.partitions[static_cast<size_t>(partition)];
  if (offset < 0 || offset >= log.end()) return -1;
  const std::string& value = log.entries[static_cast<size_t>(offset)].value;
  return value.empty() ? -1 : std::atoi(value.c_str() + value.find(':') + 1);
}

bool Oracle::is_skipped(int32_t partition, int64_t offset) const {
  const auto span = skipped_.find(partition);
  return span != skipped_.end() && span->second.first <= offset && offset < span->second.second;
}

bool Oracle::is_left_out(int32_t partition, int64_t offset) const {
  return std::any_of(left_out_.begin(), left_out_.end(), [&](const auto& span) {
    return span.first == partition && span.second.first <= offset && offset < span.second.second;
  });
}

void Oracle::judge_record(int32_t partition, int64_t offset, const Seen& seen, int64_t frontier) {
  const LogEntry& entry = topic_.partitions[static_cast<size_t>(partition)].entries[static_cast<size_t>(offset)];
  const int count = seen.anchor + seen.dead;
  if (entry.kind != LogEntry::Kind::kRecord) {
    if (count != 0) problem("record " + place(partition, offset) + " is no committed record and is there");
    return;
  }
  if (seen.of_another_log > 0) problem("record " + place(partition, offset) + " is there from another log");
  if (is_left_out(partition, offset) && count <= 1) return;
  if (is_skipped(partition, offset) && count == 0) return;
  if (count != 1) {
    problem("record " + place(partition, offset) + " is there " + std::to_string(count) + " times (" +
            std::to_string(seen.anchor) + " rows, " + std::to_string(seen.dead) + " dead letters; frontier " +
            std::to_string(frontier) + ")");
    return;
  }
  const RecordKind kind = kind_of(entry.value);
  if (kind == RecordKind::kPlain && seen.anchor != 1) problem("record " + place(partition, offset) + " is a dead letter");
  if (kind == RecordKind::kBad && seen.dead != 1) problem("record " + place(partition, offset) + " should be a dead letter");
}

void Oracle::judge_rows(const TablesState& state, const TableMarks& newest) {
  Counts counts = count_rows(state, newest);
  for (const auto& [partition, frontier] : newest.next) {
    const auto index = static_cast<size_t>(partition);
    if (index >= topic_.partitions.size() || frontier > static_cast<int64_t>(topic_.partitions[index].entries.size())) {
      problem("partition " + std::to_string(partition) + " is at " + std::to_string(frontier) + ", beyond its log");
      continue;
    }
    for (int64_t offset = 0; offset < frontier; ++offset) {
      const auto found = counts.find({partition, offset});
      judge_record(partition, offset, found == counts.end() ? Seen() : found->second, frontier);
      if (found != counts.end()) counts.erase(found);
    }
  }
  for (const auto& [name, seen] : counts) {
    if (is_left_out(name.first, name.second)) continue;
    problem("record " + place(name.first, name.second) + " is there, beyond the frontier");
  }
}

// --- the outbox and the end ------------------------------------------------------------------------------------------------

void Oracle::judge_outbox(const iceberg::TableMetadata& dead_letters) {
  const iceberg::Snapshot* head = dead_letters.current_snapshot();
  if (head == nullptr || head->snapshot_id == outbox_snapshot_) return;
  outbox_snapshot_ = head->snapshot_id;
  const auto applied = head->summary.find(std::string("frazil.") + kPipeline + ".applied");
  if (applied == head->summary.end()) return;
  const int64_t epoch = std::atoll(applied->second.c_str());
  if (epoch <= applied_) {
    problem("epoch " + std::to_string(epoch) + " of the outbox was applied after epoch " + std::to_string(applied_));
  }
  applied_ = std::max(applied_, epoch);
}

void Oracle::judge_files(const iceberg::TableMetadata& metadata) {
  const std::vector<std::string> files = rows_.referenced(metadata, problems_);
  for (const std::string& file : std::set<std::string>(files.begin(), files.end())) {
    if (!house_.store()->stat(file).ok()) problem("a snapshot names " + file + ", which does not exist");
  }
}

void Oracle::judge_completeness(const TablesState& last) {
  std::optional<TableMarks> newest = newest_marks(*last.anchor, house_.known_snapshots());
  if (rolled_from_ && may_forget_) {
    tally_.add("roll-backs over no row");
    newest = std::exchange(rolled_from_, std::nullopt);
    judge_rows(last, *newest);
  }
  if (!newest || rolled_from_) return problem("the table was left without positions that hold");
  for (size_t i = 0; i < topic_.partitions.size(); ++i) {
    const auto found = newest->next.find(static_cast<int32_t>(i));
    const int64_t at = found == newest->next.end() ? 0 : found->second;
    if (at < topic_.partitions[i].stable_end) {
      problem("partition " + std::to_string(i) + " is at " + std::to_string(at) + " of " +
              std::to_string(topic_.partitions[i].stable_end));
    }
  }
  const int64_t applied = last.dead_letters ? applied_of(*last.dead_letters) : 0;
  for (const OwedMark& owed : newest->owed) {
    if (owed.epoch > applied) problem("epoch " + std::to_string(owed.epoch) + " is still owed");
  }
  tally_.add("files removed", static_cast<int64_t>(house_.store()->removed()));
  if (last.dead_letters && applied > 0) tally_.add("KI17");
  tally_.add("rows", static_cast<int64_t>(rows_.visible(*last.anchor, problems_).size()));
  if (last.dead_letters) tally_.add("dead letters", static_cast<int64_t>(rows_.visible(*last.dead_letters, problems_).size()));
}

}  // namespace frazil::simulation
