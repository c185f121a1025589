// Manifests and manifest lists (Iceberg specification, sections "Manifests" and "Manifest Lists"): model and files.
// Avro field ids, header keys and file sizes are exact: foreign readers judge them. Pure values; functions do I/O where
// they take a FileIO; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file_io.h"
#include "iceberg/literal.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

enum class FileContent { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };

struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  std::string file_format = "PARQUET";
  PartitionKey partition;
  int64_t record_count = 0;
  int64_t file_size_in_bytes = 0;
  std::map<int32_t, int64_t> column_sizes;
  std::map<int32_t, int64_t> value_counts;
  std::map<int32_t, int64_t> null_value_counts;
  std::map<int32_t, int64_t> nan_value_counts;
  std::map<int32_t, std::string> lower_bounds;
  std::map<int32_t, std::string> upper_bounds;
  std::vector<int64_t> split_offsets;
  std::vector<int32_t> equality_ids;
  std::optional<int32_t> sort_order_id;
  std::optional<std::string> key_metadata;          // of encrypted files: kept as it is
  std::optional<std::string> referenced_data_file;  // of position deletes for one data file
};

struct ManifestEntry {
  enum class Status { kExisting = 0, kAdded = 1, kDeleted = 2 } status = Status::kAdded;
  std::optional<int64_t> snapshot_id;           // null: inherited
  std::optional<int64_t> sequence_number;       // null: inherited
  std::optional<int64_t> file_sequence_number;  // null: inherited
  DataFile data_file;
};

struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;  // binary single-value form
  std::optional<std::string> upper_bound;
};

// Stands for a sequence number that the commit has yet to give.
inline constexpr int64_t kUnassignedSequence = -1;

struct ManifestFile {
  std::string manifest_path;
  int64_t manifest_length = 0;
  int32_t partition_spec_id = 0;
  int32_t content = 0;  // 0 data, 1 deletes
  int64_t sequence_number = 0;
  int64_t min_sequence_number = 0;
  int64_t added_snapshot_id = 0;
  int32_t added_files_count = 0;
  int32_t existing_files_count = 0;
  int32_t deleted_files_count = 0;
  int64_t added_rows_count = 0;
  int64_t existing_rows_count = 0;
  int64_t deleted_rows_count = 0;
  std::vector<FieldSummary> partitions;
  std::optional<std::string> key_metadata;
};

struct Manifest {
  std::map<std::string, std::string> header;  // Avro metadata without avro.*
  std::vector<ManifestEntry> entries;         // inherited values are left null
};
struct ManifestList {
  std::map<std::string, std::string> header;
  std::vector<ManifestFile> manifests;
};

// Codec of Avro files: "gzip"/"deflate", "zstd", "snappy", "uncompressed" (write.avro.compression-codec).
struct AvroOptions {
  std::string codec = "gzip";
  std::optional<int> level;
};

// Writes a data manifest whose entries are all ADDED by `snapshot_id` (sequence numbers inherited). The returned
// ManifestFile has sequence numbers of kUnassignedSequence: assigned when it joins a manifest list.
base::Result<ManifestFile> write_manifest(io::FileIO& io, const std::string& location, const columnar::Schema& schema,
                                          const PartitionSpec& spec, int64_t snapshot_id,
                                          const std::vector<DataFile>& added, const AvroOptions& options);
// The same for arbitrary entries (rewrites of manifests, deletions).
base::Result<ManifestFile> write_manifest_entries(io::FileIO& io, const std::string& location, const columnar::Schema& schema,
                                                  const PartitionSpec& spec, int64_t snapshot_id,
                                                  const std::vector<ManifestEntry>& entries, const AvroOptions& options);
// The same, entry by entry: what is held is the encoded file, not the entries. One thread.
class ManifestFileWriter {
 public:
  // `content`: 0 data, 1 deletes. Errors as of write_manifest_entries.
  static base::Result<std::unique_ptr<ManifestFileWriter>> open(const columnar::Schema& schema, const PartitionSpec& spec,
                                                                int64_t snapshot_id, int32_t content, const AvroOptions& options);
  virtual ~ManifestFileWriter() = default;
  virtual base::Status add(const ManifestEntry& entry) = 0;
  // Writes the file. Called once.
  virtual base::Result<ManifestFile> finish(io::FileIO& io, const std::string& location) = 0;
};
// `spec`'s partition types are taken from the file's own header schema. Non-ASCII and unknown fields of others are read over.
base::Result<Manifest> read_manifest(io::FileIO& io, const std::string& location);
// The same of a manifest's bytes, which somebody has read already.
base::Result<Manifest> parse_manifest(std::string_view bytes);
// The entries in the file's order, one block of them decoded at a time. An error of `visit` ends the reading and is returned.
base::Status visit_manifest(io::FileIO& io, const std::string& location, const std::function<base::Status(ManifestEntry)>& visit);
// `extra_header`: more Avro metadata keys (for example frazil.positions). Returns the file's length.
base::Result<int64_t> write_manifest_list(io::FileIO& io, const std::string& location, int64_t snapshot_id,
                                          std::optional<int64_t> parent_snapshot_id, int64_t sequence_number,
                                          const std::vector<ManifestFile>& manifests,
                                          const std::map<std::string, std::string>& extra_header, const AvroOptions& options);
base::Result<ManifestList> read_manifest_list(io::FileIO& io, const std::string& location);

}  // namespace frazil::iceberg
