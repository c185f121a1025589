#include "sinks/iceberg/table_halts.h"

#include <algorithm>

namespace frazil::sinks {
namespace {

constexpr int64_t kEpochsVoidedAtMost = 100'000;

base::Halt make(std::string code, std::string text, std::string range, int64_t head, std::vector<base::HaltChoice> choices) {
  base::Halt halt;
  halt.token = base::halt_token(code, range, head);
  halt.code = std::move(code);
  halt.text = std::move(text);
  halt.range = std::move(range);
  halt.choices = std::move(choices);
  return halt;
}

// "3 entries of epochs 5 to 7 (files are listed in …)", or that there are none.
std::string told(const std::vector<OwedEntry>& owed) {
  if (owed.empty()) return "Nothing is owed to it";
  std::string text = "It is owed " + std::to_string(owed.size()) + (owed.size() == 1 ? " entry" : " entries") + " of epochs " +
                     std::to_string(owed.front().epoch) + " to " + std::to_string(owed.back().epoch) + ", whose files are listed in";
  for (const OwedEntry& entry : owed) text += " " + (entry.void_epochs ? "(void)" : entry.manifest);
  return text;
}

// "orders/0 next 42, orders/1 next 7".
std::string in_words(const engine::SourcePositions& positions, const engine::PositionFormat& format) {
  constexpr size_t kSplitsAtMost = 20;
  std::string words;
  size_t told = 0;
  for (const auto& [split, next] : positions.next) {
    if (told++ == kSplitsAtMost) break;
    words += (words.empty() ? "" : ", ") + split + " next " + format.in_words(next);
  }
  const size_t more = positions.next.size() - std::min(positions.next.size(), kSplitsAtMost);
  if (words.empty()) return "no position yet";
  return words + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace

base::Error owed_table_gone(const iceberg::TableId& table, const std::string& uuid, const std::vector<OwedEntry>& owed) {
  return base::Error(make("OWED_TABLE_GONE",
                          "table " + table.text() + " of this pipeline does not exist any more. " + told(owed) +
                              ". Nothing is read on. Bring it back (register its newest metadata file), or accept that it is gone",
                          table.text() + " " + uuid, 0,
                          {{"forget", "give up what is owed to it; create: makes it anew, or it must be there at the next start"}}));
}

base::Error owed_table_replaced(const iceberg::TableId& table, const std::string& expected_uuid, const std::string& found_uuid,
                                const std::vector<OwedEntry>& owed) {
  return base::Error(make("OWED_TABLE_REPLACED",
                          "table " + table.text() + " of this pipeline is another one: its uuid was " + expected_uuid + " and is " +
                              found_uuid + ". " + told(owed) + ". Nothing was written into the new one",
                          table.text() + " " + expected_uuid + " " + found_uuid, 0,
                          {{"forget", "give up what is owed to the former one, and write into the new one from now on"}}));
}

base::Error owed_refused(const iceberg::TableId& table, const std::vector<OwedEntry>& owed, const base::Error& answer) {
  return base::Error(make("OWED_REFUSED",
                          "table " + table.text() + " does not take what it is owed: " + answer.message() + ". " + told(owed),
                          table.text() + " epochs " + std::to_string(owed.front().epoch) + ".." + std::to_string(owed.back().epoch), 0,
                          {{"forget", "give up what is owed to it: these rows are in no table then, unless you add their files by hand"}}));
}

base::Error owed_rows_rewritten(const OwedEntry& entry, const std::string& problem, int64_t head) {
  const std::string epochs = std::to_string(entry.void_epochs->first) + ".." + std::to_string(entry.void_epochs->second);
  return base::Error(make("OWED_ROWS_REWRITTEN",
                          "rows of epochs " + epochs + " are to leave table " + entry.table +
                              ", and their files cannot be told from others: " + problem +
                              ". Nothing was removed from it. Remove those rows yourself, then accept; or accept and have them twice",
                          entry.table + " epochs " + epochs, head,
                          {{"leave", "leave the table as it is: rows of those epochs that are still there stay, and come again"}}));
}

base::Error table_gone(const iceberg::TableId& table) {
  return base::Error(make("TABLE_GONE", "table " + table.text() + " does not exist any more. Nothing was written. Restore it, or "
                          "start again: with create: a new table begins at the configured start",
                          table.text(), 0, {}));
}

base::Error table_of_group_replaced(const IcebergSinkConfig& config, const std::string& remembered_uuid,
                                    const std::string& found_uuid, int64_t head) {
  const std::string table = config.table.text();
  const std::string group = config.group.empty() ? "the consumer group" : "group " + config.group;
  const std::string now = found_uuid.empty() ? "table " + table + " does not exist" : "table " + table + " has uuid " + found_uuid;
  return base::Error(
      make("TABLE_REPLACED",
           group + " belongs to table uuid " + remembered_uuid + ", and " + now + ". Nothing was made or written. If this is another "
           "pipeline, give it another `name` (`--name` where a template is called, whose name is the topic's). If the table was dropped or table.name was changed, bring the former one back, or start anew",
           table + " " + remembered_uuid + " " + (found_uuid.empty() ? "none" : found_uuid), head,
           {{"start", "use the new table: read from the positions it holds, else from the configured start"}}));
}

base::Error table_replaced(const iceberg::TableId& table, const std::string& expected_uuid, const std::string& found_uuid,
                           int64_t head) {
  return base::Error(make("TABLE_REPLACED", "table " + table.text() + " is another one: its uuid was " + expected_uuid +
                          " and is " + found_uuid + ". Nothing was written into the new one",
                          table.text() + " " + expected_uuid + " " + found_uuid, head,
                          {{"start", "use the new table: read from the positions it holds, else from the configured start"}}));
}

base::Error positions_taken_over(const iceberg::TableId& table, const std::string& by) {
  return base::Error(make("POSITIONS_TAKEN_OVER", "pipeline " + by + " has taken over this pipeline's positions in table " +
                          table.text() + ". Stop this one for good, or give it another name",
                          table.text() + " " + by, 0, {}));
}

base::Halt table_rolled_back(const iceberg::TableId& table, const PipelineState& state, int64_t head,
                             const engine::PositionFormat& format) {
  const std::string now = state.at_head ? in_words(state.at_head->positions, format) : "unknown";
  // The token is made of the range: another set of choices (somebody expired what the head still knew) is another halt.
  const std::string range = "snapshot " + std::to_string(state.marks.snapshot_id) + " head " + std::to_string(head) +
                            (state.at_head ? " epoch " + std::to_string(state.at_head->epoch) : " of unknown epoch");
  std::vector<base::HaltChoice> choices;
  if (state.at_head) {
    choices.push_back({"table", "read again what was rolled back: from " + now + "; dead letters of those epochs are removed"});
  }
  choices.push_back({"source", "leave it out: go on at " + in_words(state.marks.positions, format)});
  return make("TABLE_ROLLED_BACK",
              "table " + table.text() + " was rolled back: snapshot " + std::to_string(state.marks.snapshot_id) +
                  " with epoch " + std::to_string(state.marks.epoch) + " and positions " + in_words(state.marks.positions, format) +
                  " is no ancestor of the head " + std::to_string(head) + ", whose positions are " + now,
              range, head, std::move(choices));
}

base::Halt anchor_put_back(const iceberg::TableId& anchor, int64_t anchor_epoch, const AppliedEpoch& applied, bool may_void, int64_t head) {
  const std::string epoch = std::to_string(anchor_epoch);
  const std::string beyond = std::to_string(applied.epoch);
  std::vector<base::HaltChoice> choices;
  if (may_void && applied.epoch - anchor_epoch <= kEpochsVoidedAtMost) {
    choices.push_back({"table", "take the rows of epochs above " + epoch + " out of the other tables, and read on from the positions of epoch " +
                                    epoch + "; epochs are counted on above " + beyond});
  }
  std::string text = "table " + anchor.text() + ", which keeps this pipeline's positions, knows its epochs up to " + epoch + ", and table " +
                     applied.table + " has applied epoch " + beyond;
  text += ": " + anchor.text() + " was put back to an older state (an older metadata file registered, a backup), or property .applied of " +
          applied.table + " was set by hand. Nothing is taken for applied by its number. Register the newest metadata file of " +
          anchor.text() + " again, or set the property right";
  text += choices.empty() ? "" : "; or accept that the anchor's positions count";
  return make("TABLE_ROLLED_BACK", std::move(text), "epoch " + epoch + " table " + applied.table + " applied " + beyond, head,
              std::move(choices));
}

base::Halt history_lost(const iceberg::TableId& table, const std::string& pipeline, const PipelineState& state, int64_t head,
                        const engine::PositionFormat& format) {
  const std::string x = std::to_string(state.marks.snapshot_id);
  const std::string positions = in_words(state.marks.positions, format);
  return make("TABLE_HISTORY_LOST",
              "nothing in table " + table.text() + " tells whether its head " + std::to_string(head) + " grew out of snapshot " + x +
                  " with epoch " + std::to_string(state.marks.epoch) + " and positions " + positions +
                  ": the snapshots between them were expired, and others rewrote or removed the newest files of that snapshot. "
                  "Tag " + tag_name(pipeline) + " still shows it: rows that the tag has and the head has not were rolled back "
                  "or deleted on purpose. Nothing was written",
              "snapshot " + x + " head " + std::to_string(head), head,
              {{"source", "the table was not rolled back, or what was shall stay out: go on at " + positions}});
}

base::Halt watermark_lost(const iceberg::TableId& table, const std::string& pipeline, const PipelineState& state, int64_t head,
                          const engine::PositionFormat& format) {
  std::vector<base::HaltChoice> choices;
  std::string known = "nothing else is known";
  std::string range = known;
  if (state.property_positions) {
    known = in_words(*state.property_positions, format);
    range = format.encode(*state.property_positions);
    choices.push_back({"property", "go on at " + known});
  }
  return make("WATERMARK_LOST",
              "the snapshot of table " + table.text() + " that held the positions of pipeline " + pipeline +
                  " was removed, although tag " + tag_name(pipeline) + " should have kept it. Property " +
                  property_name(pipeline) + " says: " + known,
              "positions " + range, head, std::move(choices));
}

base::Halt positions_of_another(const iceberg::TableId& table, const std::string& other, const engine::SourcePositions& positions,
                                const engine::PositionFormat& format, int64_t head) {
  return make("POSITIONS_OF_ANOTHER_PIPELINE",
              "table " + table.text() + " holds positions of pipeline " + other +
                  " for the same source. If this pipeline is its new name, a fresh start would double every row. The other is at " +
                  in_words(positions, format),
              other + " " + format.encode(positions), head,
              {{"take_over", "go on at the positions of " + other + " and close it"},
               {"beside", "run beside it on purpose: rows of the common topics will be there twice"}});
}

base::Halt rows_of_another(const iceberg::TableId& table, const OutboxMark& other, const std::optional<engine::SourcePositions>& positions,
                           const engine::PositionFormat& format) {
  const std::string anchor = other.anchor_table.empty() ? "table uuid " + other.anchor_uuid : "table " + other.anchor_table;
  const std::string known = positions ? "are " + in_words(*positions, format) + ", of the same source" : "are not known, so it may read the same source";
  return make("POSITIONS_OF_ANOTHER_PIPELINE",
              "pipeline " + other.pipeline + " writes into table " + table.text() + ", and its positions, in " + anchor + ", " + known +
                  ": every row would come twice. If this pipeline is its new name, set anchor: to " + anchor +
                  " and it can be taken over there. If not, give one of the two another table",
              other.pipeline + " " + other.anchor_uuid, 0,
              {{"beside", "run beside it on purpose: rows of common topics will be there twice"}});
}

base::Halt anchor_changed(const iceberg::TableId& anchor, const iceberg::TableId& table, const OutboxMark& mark, bool has_positions) {
  const std::string former = mark.anchor_table.empty() ? "the table with uuid " + mark.anchor_uuid : "table " + mark.anchor_table + " (uuid " + mark.anchor_uuid + ")";
  const std::string now = has_positions ? "holds other positions of it" : "holds no positions of it";
  return make("ANCHOR_CHANGED",
              "table " + table.text() + " has rows of this pipeline whose positions are in " + former + ", and table " + anchor.text() +
                  ", which keeps positions now, " + now + ". Reading on would bring rows twice. Set anchor: back, or the former tables: list, "
                  "or give this pipeline another `name`",
              mark.anchor_uuid, 0,
              {{"start", has_positions ? "go on at the positions that " + anchor.text() + " holds"
                                       : "begin at the configured start: rows that are in the tables already come again"}});
}

base::Halt positions_lost(const iceberg::TableId& anchor, const std::string& pipeline, const iceberg::TableId& table) {
  return make("WATERMARK_LOST",
              "table " + table.text() + " has rows of pipeline " + pipeline + " whose positions were in table " + anchor.text() +
                  ", and they are not there any more: property " + property_name(pipeline) + ", tag " + tag_name(pipeline) +
                  " and its snapshots were removed, or an older metadata file was registered",
              "pipeline " + pipeline, 0,
              {{"start", "begin at the configured start: rows that are in the tables already come again"}});
}

base::Error commit_rejected(const iceberg::TableId& table, const base::Error& answer, int64_t head) {
  return base::Error(make("COMMIT_REJECTED", "the catalog refused a commit to " + table.text() + ": " + answer.message(),
                          table.text(), head, {}));
}

}  // namespace frazil::sinks
