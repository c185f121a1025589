// The halts that a table can cause, with their texts, ranges and choices. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/applied_epochs.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/pipeline_state.h"

namespace frazil::sinks {

base::Error table_gone(const iceberg::TableId& table);
base::Error table_replaced(const iceberg::TableId& table, const std::string& expected_uuid, const std::string& found_uuid,
                           int64_t head);
// The same, told by the source's consumer group: this pipeline's, or that of another one of the same name. `found_uuid` is empty
// when the table does not exist yet.
base::Error table_of_group_replaced(const IcebergSinkConfig& config, const std::string& remembered_uuid,
                                    const std::string& found_uuid, int64_t head);
base::Error positions_taken_over(const iceberg::TableId& table, const std::string& by);
// Choices: `table` (read again what was rolled back; only when the head still has marks) and `source` (leave it out).
base::Halt table_rolled_back(const iceberg::TableId& table, const PipelineState& state, int64_t head,
                             const engine::PositionFormat& format);
// The same code: the anchor knows less than a table has applied. Choice, if `may_void`: `table` (void what the tables have above the
// anchor's epochs, read on from its positions). Not while the anchor owes what its table does not show to have.
base::Halt anchor_put_back(const iceberg::TableId& anchor, int64_t anchor_epoch, const AppliedEpoch& applied, bool may_void, int64_t head);
// Choice: `property` (go on at the positions that the property still says), when it does.
base::Halt history_lost(const iceberg::TableId& table, const std::string& pipeline, const PipelineState& state, int64_t head,
                        const engine::PositionFormat& format);
base::Halt watermark_lost(const iceberg::TableId& table, const std::string& pipeline, const PipelineState& state, int64_t head,
                          const engine::PositionFormat& format);
// Choices: `take_over` (go on at the other's positions and close it) and `beside` (own positions, rows twice on purpose).
base::Halt positions_of_another(const iceberg::TableId& table, const std::string& other, const engine::SourcePositions& positions,
                                const engine::PositionFormat& format, int64_t head);
// The same code, told by a table that rows go to: another pipeline writes into it. `positions`: that other's, nothing when they are not
// known. Choice: `beside`.
base::Halt rows_of_another(const iceberg::TableId& table, const OutboxMark& other, const std::optional<engine::SourcePositions>& positions,
                           const engine::PositionFormat& format);
// A table that rows go to has rows of this very pipeline, brought by another anchor. Choice: `start` (this anchor counts).
base::Halt anchor_changed(const iceberg::TableId& anchor, const iceberg::TableId& table, const OutboxMark& mark, bool has_positions);
// Rows were brought by this very anchor, and it has no positions of the pipeline any more. Choice: `start`.
base::Halt positions_lost(const iceberg::TableId& anchor, const std::string& pipeline, const iceberg::TableId& table);
// What the outbox cannot bring to its table. `owed`: the table's entries, in the order of epochs; none when it was only missed.
// Choice of the first three: `forget` (give up what is owed to it, take the table as it is then). The last: `leave`.
base::Error owed_table_gone(const iceberg::TableId& table, const std::string& uuid, const std::vector<OwedEntry>& owed);
base::Error owed_table_replaced(const iceberg::TableId& table, const std::string& expected_uuid, const std::string& found_uuid,
                                const std::vector<OwedEntry>& owed);
base::Error owed_refused(const iceberg::TableId& table, const std::vector<OwedEntry>& owed, const base::Error& answer);
base::Error owed_rows_rewritten(const OwedEntry& entry, const std::string& problem, int64_t head);
base::Error commit_rejected(const iceberg::TableId& table, const base::Error& answer, int64_t head);

}  // namespace frazil::sinks
