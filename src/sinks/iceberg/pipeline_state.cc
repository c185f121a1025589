#include "sinks/iceberg/pipeline_state.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "iceberg/manifest.h"
#include "iceberg/metadata_file.h"
#include "iceberg/scan.h"
#include "sinks/iceberg/marks.h"

namespace frazil::sinks {
namespace {

using Json = nlohmann::json;

int64_t number_or_zero(const std::string& text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The property, as far as it can be read: somebody may have edited it.
struct PropertyView {
  std::optional<int64_t> snapshot_id;
  int64_t epoch = 0;
  std::string positions;
  std::string closed_by;
};

PropertyView read_property(const std::string& text) {
  PropertyView view;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return view;
  if (json.contains("snapshot") && json["snapshot"].is_number_integer()) view.snapshot_id = json["snapshot"].get<int64_t>();
  if (json.contains("epoch") && json["epoch"].is_number_integer()) view.epoch = json["epoch"].get<int64_t>();
  if (json.contains("positions") && json["positions"].is_object()) view.positions = json["positions"].dump();
  if (json.contains("closed_by") && json["closed_by"].is_string()) view.closed_by = json["closed_by"].get<std::string>();
  return view;
}

// The newest snapshot of the pipeline among `from` and its ancestors, or null.
const iceberg::Snapshot* newest_of(const iceberg::TableMetadata& metadata, std::optional<int64_t> from,
                                   const std::string& pipeline) {
  for (std::optional<int64_t> id = from; id;) {
    const iceberg::Snapshot* snapshot = metadata.snapshot(*id);
    if (snapshot == nullptr) return nullptr;
    if (is_of(*snapshot, pipeline)) return snapshot;
    id = snapshot->parent_snapshot_id;
  }
  return nullptr;
}

// X: named by the property, else by the tag, else the newest of the pipeline among the head's ancestors.
std::optional<int64_t> find_watermark(const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                      const PropertyView& property, std::optional<int64_t> tag) {
  if (property.snapshot_id) return property.snapshot_id;
  if (tag) return tag;
  const iceberg::Snapshot* newest = newest_of(metadata, metadata.current_snapshot_id, pipeline);
  return newest == nullptr ? std::nullopt : std::optional(newest->snapshot_id);
}

// Snapshots by id; expired ones too, as long as an older metadata file still tells of them.
class SnapshotHistory {
 public:
  SnapshotHistory(io::FileIO& io, const iceberg::TableMetadata& metadata)
      : io_(io), metadata_(metadata), unread_(metadata.metadata_log) {}

  // nullptr when nothing tells of it any more.
  base::Result<const iceberg::Snapshot*> find(int64_t id) {
    return first([id](const iceberg::TableMetadata& told) { return told.snapshot(id); });
  }

  // The id of its parent. Some expiries take it away from snapshots whose parent they remove; older metadata still name it.
  base::Result<std::optional<int64_t>> parent_of(const iceberg::Snapshot& child) {
    if (child.parent_snapshot_id) return child.parent_snapshot_id;
    TRY_ASSIGN(const iceberg::Snapshot* as_it_was, first([&](const iceberg::TableMetadata& told) {
                 const iceberg::Snapshot* same = told.snapshot(child.snapshot_id);
                 return same != nullptr && same->parent_snapshot_id ? same : nullptr;
               }));
    return as_it_was == nullptr ? std::optional<int64_t>() : as_it_was->parent_snapshot_id;
  }

 private:
  // What the newest metadata that answers says, or nullptr.
  template <typename Ask>
  base::Result<const iceberg::Snapshot*> first(Ask ask) {
    if (const iceberg::Snapshot* told = ask(metadata_)) return told;
    for (const auto& older : older_) {
      if (const iceberg::Snapshot* told = ask(*older)) return told;
    }
    while (!unread_.empty()) {
      const std::string location = unread_.back().metadata_file;
      unread_.pop_back();
      base::Result<iceberg::TableMetadata> read = iceberg::read_metadata(io_, location);
      if (!read.ok() && read.error().code() == base::Code::kNotFound) continue;  // deleted, as many tables ask for
      TRY(read.status());
      older_.push_back(std::make_unique<const iceberg::TableMetadata>(std::move(read).value()));
      if (const iceberg::Snapshot* told = ask(*older_.back())) return told;
    }
    return static_cast<const iceberg::Snapshot*>(nullptr);
  }

  io::FileIO& io_;
  const iceberg::TableMetadata& metadata_;
  std::vector<iceberg::MetadataLogEntry> unread_;
  std::vector<std::unique_ptr<const iceberg::TableMetadata>> older_;
};

enum class Descent { kYes, kNo, kUntold };

// Whether `x` is the head or an ancestor of it. Others may have expired snapshots between the two, which is no roll-back: where
// no metadata file tells of a parent any more, the answer is kUntold.
base::Result<Descent> walk_to(io::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& x) {
  SnapshotHistory history(io, metadata);
  const auto last = static_cast<size_t>(std::max<int64_t>(metadata.last_sequence_number, 0)) + metadata.snapshots.size();
  size_t steps = 0;
  for (std::optional<int64_t> id = metadata.current_snapshot_id; id && steps <= last; ++steps) {
    if (*id == x.snapshot_id) return Descent::kYes;
    TRY_ASSIGN(const iceberg::Snapshot* snapshot, history.find(*id));
    if (snapshot == nullptr) return Descent::kUntold;
    // Sequence numbers fall from child to parent: beyond this one x cannot come.
    if (metadata.format_version >= 2 && snapshot->sequence_number <= x.sequence_number) return Descent::kNo;
    TRY_ASSIGN(id, history.parent_of(*snapshot));
  }
  return metadata.current_snapshot_id ? Descent::kUntold : Descent::kNo;  // a head without a parent that anybody remembers
}

// The newest snapshot that added a file which `x` still shows, deletes included; nothing when x shows no file.
base::Result<std::optional<int64_t>> newest_writer_of(io::FileIO& io, const iceberg::Snapshot& x) {
  TRY_ASSIGN(iceberg::ManifestList list, iceberg::manifests_of(io, x));
  std::sort(list.manifests.begin(), list.manifests.end(),
            [](const auto& a, const auto& b) { return a.sequence_number > b.sequence_number; });
  std::optional<int64_t> writer;
  int64_t newest = -1;
  for (const iceberg::ManifestFile& file : list.manifests) {
    if (file.sequence_number <= newest) break;  // it holds nothing newer
    if (file.added_files_count == 0 && file.existing_files_count == 0) continue;
    TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(io, file.manifest_path));
    for (iceberg::ManifestEntry entry : manifest.entries) {
      TRY(iceberg::inherit(entry, file));
      const int64_t sequence = entry.file_sequence_number.value_or(entry.sequence_number.value_or(0));
      if (entry.status == iceberg::ManifestEntry::Status::kDeleted || sequence <= newest) continue;
      newest = sequence;
      writer = entry.snapshot_id;
    }
  }
  return writer;
}

// Whether the head has a file that snapshot `writer` added: files keep the id of the snapshot that added them, through merged
// manifests too, so the head grew out of that snapshot.
base::Result<bool> has_files_of(io::FileIO& io, const iceberg::Snapshot& head, int64_t writer, int64_t sequence_number_at_most) {
  TRY_ASSIGN(const iceberg::ManifestList list, iceberg::manifests_of(io, head));
  for (const iceberg::ManifestFile& file : list.manifests) {
    if (file.added_snapshot_id == writer && file.added_files_count > 0) return true;
  }
  for (const iceberg::ManifestFile& file : list.manifests) {
    if (file.existing_files_count == 0 || file.min_sequence_number > sequence_number_at_most) continue;
    TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(io, file.manifest_path));
    for (const iceberg::ManifestEntry& entry : manifest.entries) {
      if (entry.status == iceberg::ManifestEntry::Status::kExisting && entry.snapshot_id == writer) return true;
    }
  }
  return false;
}

// Whether what x's positions say is still in the head (docs/protocol, "Is X in the history?"):
// 1. The chain of parents, with the metadata log, says yes or no: that is the answer.
// 2. It is cut. x shows no file: no row stands below its positions that a roll-back could have taken.
// 3. The head has a file of the newest snapshot whose files x shows: the head grew out of that one, and up to x no other file came
//    that x still shows. So every row of x that nobody has removed on purpose is in the head.
// 4. Else nothing tells: those files were rewritten or deleted by others, or rolled back.
base::Result<Descent> head_descends_from(io::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& x) {
  TRY_ASSIGN(const Descent told, walk_to(io, metadata, x));
  const iceberg::Snapshot* head = metadata.current_snapshot();
  if (told != Descent::kUntold || head == nullptr) return told;
  TRY_ASSIGN(const std::optional<int64_t> writer, newest_writer_of(io, x));
  if (!writer) return Descent::kYes;
  TRY_ASSIGN(const bool is_there, has_files_of(io, *head, *writer, x.sequence_number));
  return is_there ? Descent::kYes : Descent::kUntold;
}

base::Result<std::string> positions_text(io::FileIO& io, const iceberg::Snapshot& snapshot) {
  const std::string inline_text = snapshot.summary_text(kPositionsKey);
  const Json json = Json::parse(inline_text, nullptr, false);
  if (!json.is_object() || !json.contains("in")) return inline_text;
  TRY_ASSIGN(const iceberg::ManifestList list, iceberg::read_manifest_list(io, snapshot.manifest_list));
  const auto found = list.header.find(kPositionsKey);
  if (found == list.header.end()) {
    return base::corrupt("snapshot " + std::to_string(snapshot.snapshot_id) + ": its manifest list " + snapshot.manifest_list +
                         " should hold frazil.positions and does not");
  }
  if (positions_digest(found->second) != json.value("digest", "")) {
    return base::corrupt("snapshot " + std::to_string(snapshot.snapshot_id) + ": frazil.positions in " +
                         snapshot.manifest_list + " does not match the digest in the summary");
  }
  return found->second;
}

}  // namespace

// What an outbox writes into other tables names its pipeline too, and carries no positions.
bool is_of(const iceberg::Snapshot& snapshot, const std::string& pipeline) {
  return snapshot.summary_text(kPipelineKey) == pipeline && !snapshot.summary_text(kPositionsKey).empty();
}

int64_t highest_epoch(const iceberg::TableMetadata& metadata, const std::string& pipeline) {
  int64_t highest = read_property(metadata.property(property_name(pipeline))).epoch;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    if (is_of(snapshot, pipeline)) highest = std::max(highest, snapshot.summary_number(kEpochKey));
  }
  return highest;
}

std::string tag_name(const std::string& pipeline) { return "frazil-" + pipeline; }
std::string property_name(const std::string& pipeline) { return "frazil." + pipeline; }

base::Result<std::optional<SnapshotMarks>> read_marks(io::FileIO& io, const iceberg::Snapshot& snapshot,
                                                      const std::string& pipeline, const engine::PositionFormat& format) {
  if (!is_of(snapshot, pipeline)) return std::optional<SnapshotMarks>();
  SnapshotMarks marks;
  marks.snapshot_id = snapshot.snapshot_id;
  marks.epoch = snapshot.summary_number(kEpochKey);
  TRY_ASSIGN(const std::string positions, positions_text(io, snapshot));
  TRY_ASSIGN(marks.positions, format.decode(positions));
  if (const std::string owed = snapshot.summary_text(kOwedKey); !owed.empty()) {
    TRY_ASSIGN(marks.owed, decode_owed(owed));
  }
  return std::optional(std::move(marks));
}

base::Result<PipelineState> read_state(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                       const engine::PositionFormat& format) {
  PipelineState state;
  const PropertyView property = read_property(metadata.property(property_name(pipeline)));
  if (const auto ref = metadata.refs.find(tag_name(pipeline)); ref != metadata.refs.end()) {
    state.tag_snapshot = ref->second.snapshot_id;
  }
  state.highest_epoch = sinks::highest_epoch(metadata, pipeline);
  state.tables = decode_known_tables(metadata.property(property_name(pipeline) + ".tables"));
  if (!property.closed_by.empty()) {
    state.condition = StateCondition::kTakenOver;
    state.taken_over_by = property.closed_by;
    return state;
  }
  const std::optional<int64_t> watermark = find_watermark(metadata, pipeline, property, state.tag_snapshot);
  if (!watermark) return state;
  const iceberg::Snapshot* x = metadata.snapshot(*watermark);
  if (x == nullptr) {
    state.condition = StateCondition::kWatermarkLost;
    if (!property.positions.empty()) {
      TRY_ASSIGN(state.property_positions, format.decode(property.positions));
    }
    // The same request has set both. Without them, what is owed would be lost with the snapshot.
    const std::string owed = metadata.property(property_name(pipeline) + ".owed");
    if (!owed.empty()) {
      TRY_ASSIGN(state.marks.owed, decode_owed(owed));
    }
    return state;
  }
  TRY_ASSIGN(std::optional<SnapshotMarks> marks, read_marks(io, *x, pipeline, format));
  if (!marks) {
    return base::corrupt("property " + property_name(pipeline) + " names snapshot " + std::to_string(*watermark) +
                         ", which carries no positions of pipeline " + pipeline);
  }
  state.marks = std::move(*marks);
  TRY_ASSIGN(const Descent descent, head_descends_from(io, metadata, *x));
  if (descent == Descent::kYes) {
    state.condition = StateCondition::kHolds;
    return state;
  }
  state.condition = descent == Descent::kNo ? StateCondition::kRolledBack : StateCondition::kHistoryLost;
  if (const iceberg::Snapshot* newest = newest_of(metadata, metadata.current_snapshot_id, pipeline)) {
    TRY_ASSIGN(state.at_head, read_marks(io, *newest, pipeline, format));
  }
  return state;
}

std::string encode_property(int64_t snapshot_id, int64_t sequence_number, int64_t epoch, const std::string& positions_json) {
  std::string text = "{\"snapshot\":" + std::to_string(snapshot_id) + ",\"sequence\":" + std::to_string(sequence_number) +
                     ",\"epoch\":" + std::to_string(epoch);
  if (!positions_json.empty() && positions_json.size() <= kInlineBytes) text += ",\"positions\":" + positions_json;
  return text + "}";
}

std::vector<std::string> other_pipelines(const iceberg::TableMetadata& metadata, const std::string& pipeline) {
  const std::string prefix = "frazil.";
  std::set<std::string> names;
  for (const auto& [key, value] : metadata.properties) {
    if (!key.starts_with(prefix)) continue;
    const std::string name = key.substr(prefix.size());
    if (name == pipeline || name.find('.') != std::string::npos) continue;
    if (read_property(value).closed_by.empty()) names.insert(name);
  }
  const std::string tag_prefix = "frazil-";
  for (const auto& [name, ref] : metadata.refs) {
    if (!name.starts_with(tag_prefix) || ref.is_branch) continue;
    const std::string other = name.substr(tag_prefix.size());
    if (other != pipeline) names.insert(other);
  }
  return {names.begin(), names.end()};
}

int64_t applied_epoch(const iceberg::TableMetadata& metadata, const std::string& pipeline, const std::string& anchor_uuid) {
  const std::string key = property_name(pipeline) + ".applied";
  const std::string anchor_key = property_name(pipeline) + ".anchor";
  const auto is_other = [&](const std::string& anchor) { return !anchor_uuid.empty() && !anchor.empty() && anchor != anchor_uuid; };
  const int64_t applied = is_other(metadata.property(anchor_key)) ? 0 : number_or_zero(metadata.property(key));
  for (std::optional<int64_t> id = metadata.current_snapshot_id; id;) {
    const iceberg::Snapshot* snapshot = metadata.snapshot(*id);
    if (snapshot == nullptr) break;
    const std::string text = snapshot->summary_text(key);
    if (!text.empty()) return is_other(snapshot->summary_text(anchor_key)) ? applied : std::max(applied, number_or_zero(text));
    id = snapshot->parent_snapshot_id;
  }
  return applied;
}

}  // namespace frazil::sinks
