#include "tests/simulation/oracle.h"

#include <algorithm>
#include <cstdlib>

#include "tests/simulation/producer.h"

namespace frazil::simulation {
namespace {

constexpr size_t kProblemsKept = 5;

std::string place(int32_t partition, int64_t offset) { return std::to_string(partition) + "/" + std::to_string(offset); }

// Every table of a state that exists, the anchor apart.
std::vector<std::pair<iceberg::TableId, TableVersion>> others_of(const TablesState& state) {
  std::vector<std::pair<iceberg::TableId, TableVersion>> others;
  if (state.dead_letters) others.emplace_back(kDeadLetters, state.dead_letters);
  for (size_t i = 0; i < kRoutedTables; ++i) {
    if (state.routed[i]) others.emplace_back(routed_tables()[i], state.routed[i]);
  }
  return others;
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
  for (const auto& [id, table] : others_of(history.back())) judge_files(*table);
  if (must_be_complete) judge_completeness(history.back());
  return problems_;
}

void Oracle::judge_state(const TablesState& state) {
  for (const auto& [id, table] : others_of(state)) judge_outbox(id, *table);
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
  const bool voids = std::any_of(newest.owed.begin(), newest.owed.end(), [](const OwedMark& owed) { return owed.void_epochs.has_value(); });
  if (voids) floors_[newest.epoch] = newest.next;
  if (scenario_.is_routed()) tally_.add(voids ? "routed:roll-back-taken" : "routed:roll-back-left-out");
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
  const int count = seen.total();
  if (entry.kind != LogEntry::Kind::kRecord) {
    if (count != 0) problem("record " + place(partition, offset) + " is no committed record and is there");
    return;
  }
  const int32_t part = part_named_by(partition, offset);
  if (std::any_of(seen.parts.begin(), seen.parts.end(), [&](int32_t named) { return named != part; })) {
    problem("record " + place(partition, offset) + " is there from another log");
  }
  if (is_left_out(partition, offset) && is_well_left_out(entry.value, seen)) return;
  if (is_skipped(partition, offset) && count == 0) return;
  if (count != 1) {
    problem("record " + place(partition, offset) + " is there " + std::to_string(count) + " times (" +
            std::to_string(seen.anchor) + " rows, " + std::to_string(seen.routed[0]) + " and " + std::to_string(seen.routed[1]) +
            " routed, " + std::to_string(seen.dead) + " dead letters; frontier " + std::to_string(frontier) + ")");
    return;
  }
  judge_place(partition, offset, entry.value, seen);
}

bool Oracle::is_well_left_out(const std::string& value, const Seen& seen) const {
  const bool was_in_anchor = kind_of(value) != RecordKind::kBad && places_of(value, scenario_.routing).anchor;
  return seen.total() == 1 || (seen.total() == 0 && (was_in_anchor || !scenario_.is_routed()));
}

void Oracle::judge_place(int32_t partition, int64_t offset, const std::string& value, const Seen& seen) {
  const RecordKind kind = kind_of(value);
  const Places places = places_of(value, scenario_.routing);
  if (kind == RecordKind::kBad && seen.dead != 1) problem("record " + place(partition, offset) + " should be a dead letter");
  if (seen.dead == 1 && kind == RecordKind::kPlain && !places.dead) problem("record " + place(partition, offset) + " is a dead letter");
  has_strays_ = has_strays_ || (seen.dead == 1 && kind == RecordKind::kPlain && places.dead);
  const bool is_astray = (seen.anchor == 1 && !places.anchor) || (seen.routed[0] == 1 && !places.routed[0]) || (seen.routed[1] == 1 && !places.routed[1]);
  if (is_astray) problem("record " + place(partition, offset) + " is in another table than its kind is for");
}

void Oracle::judge_rows(const TablesState& state, const TableMarks& newest) {
  Counts counts = counts_.count(state, newest);
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

void Oracle::judge_outbox(const iceberg::TableId& table, const iceberg::TableMetadata& metadata) {
  const iceberg::Snapshot* head = metadata.current_snapshot();
  Outbox& outbox = outboxes_[table];
  if (head == nullptr || head->snapshot_id == outbox.snapshot) return;
  outbox.snapshot = head->snapshot_id;
  const auto applied = head->summary.find(std::string("frazil.") + kPipeline + ".applied");
  if (applied == head->summary.end()) return;
  const int64_t epoch = std::atoll(applied->second.c_str());
  if (epoch <= outbox.applied) {
    problem("epoch " + std::to_string(epoch) + " was applied to " + table.name + " after epoch " + std::to_string(outbox.applied));
  }
  outbox.applied = std::max(outbox.applied, epoch);
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
  judge_positions(*newest);
  std::map<std::string, int64_t> applied;
  for (const auto& [id, table] : others_of(last)) applied[id.text()] = applied_of(*table);
  for (const OwedMark& owed : newest->owed) {
    if (owed.epoch > applied[owed.table]) problem("epoch " + std::to_string(owed.epoch) + " is still owed to " + owed.table);
  }
  count_end(last);
}

void Oracle::judge_positions(const TableMarks& newest) {
  for (size_t i = 0; i < topic_.partitions.size(); ++i) {
    const auto found = newest.next.find(static_cast<int32_t>(i));
    const int64_t at = found == newest.next.end() ? 0 : found->second;
    if (at < topic_.partitions[i].stable_end) {
      problem("partition " + std::to_string(i) + " is at " + std::to_string(at) + " of " +
              std::to_string(topic_.partitions[i].stable_end));
    }
  }
}

void Oracle::count_end(const TablesState& last) {
  const auto rows = [&](const TableVersion& table) {
    return table ? static_cast<int64_t>(rows_.visible(*table, problems_).size()) : int64_t{0};
  };
  tally_.add("files removed", static_cast<int64_t>(house_.store()->removed()));
  if (last.dead_letters && applied_of(*last.dead_letters) > 0) tally_.add("KI17");
  tally_.add("rows", rows(last.anchor));
  tally_.add("dead letters", rows(last.dead_letters));
  if (has_strays_) tally_.add("routed:no-table");
  for (const TableVersion& table : last.routed) tally_.add("routed:rows", rows(table));
}

}  // namespace frazil::simulation
