#include "iceberg/table_properties.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace frazil::iceberg {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/') && !path.ends_with("://")) path.pop_back();
  return path;
}

// Reads one property after the other; the first wrong value is kept as the error.
class PropertyReader {
 public:
  explicit PropertyReader(const Properties& properties) : properties_(properties) {}

  template <typename T>
  void number(const char* key, T& target, int64_t least, int64_t most = INT64_MAX) {
    const std::string* text = find(key);
    if (text == nullptr) return;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    const int64_t limit = std::min<int64_t>(most, sizeof(T) == 4 ? INT32_MAX : INT64_MAX);
    if (error != std::errc() || end != text->data() + text->size() || value < least || value > limit) {
      return refuse(key, *text, "a whole number from " + std::to_string(least) +
                                    (limit == INT64_MAX ? std::string() : " to " + std::to_string(limit)));
    }
    target = static_cast<T>(value);
  }

  template <typename T>
  void number(const char* key, std::optional<T>& target, int64_t least, int64_t most = INT64_MAX) {
    const std::string* text = find(key);
    if (text == nullptr || lower(*text) == "null") return;
    T value{};
    number(key, value, least, most);
    target = value;
  }

  void boolean(const char* key, bool& target) {
    const std::string* text = find(key);
    if (text == nullptr) return;
    const std::string word = lower(*text);
    if (word != "true" && word != "false") return refuse(key, *text, "true or false");
    target = word == "true";
  }

  void word(const char* key, std::string& target, const std::set<std::string>& allowed) {
    const std::string* text = find(key);
    if (text == nullptr) return;
    const std::string value = lower(*text);
    if (!allowed.contains(value)) return refuse(key, *text, "one of" + listed(allowed));
    target = value;
  }

  void path(const char* key, std::string& target) {
    const std::string* text = find(key);
    if (text == nullptr) return;
    if (text->empty()) return refuse(key, *text, "a location");
    target = without_slash(*text);
  }

  void metrics(const std::string& key, std::string& target) {
    const std::string* text = find(key.c_str());
    if (text == nullptr) return;
    const std::string value = lower(*text);
    if (!is_metrics_mode(value)) return refuse(key.c_str(), *text, "none, counts, full or truncate(N)");
    target = value;
  }

  base::Status status() const { return status_; }

 private:
  const std::string* find(const char* key) const {
    const auto found = properties_.find(key);
    return found == properties_.end() ? nullptr : &found->second;
  }

  void refuse(const char* key, const std::string& value, const std::string& expected) {
    if (!status_.ok()) return;
    status_ = base::invalid(std::string("table property ") + key + "=" + value + ": expected " + expected);
  }

  static std::string listed(const std::set<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? " " : ", ") + word;
    return text;
  }

  static bool is_metrics_mode(const std::string& mode) {
    if (mode == "none" || mode == "counts" || mode == "full") return true;
    if (!mode.starts_with("truncate(") || !mode.ends_with(")")) return false;
    int length = 0;
    const char* end = mode.data() + mode.size() - 1;
    const auto [after, error] = std::from_chars(mode.data() + 9, end, length);
    return error == std::errc() && after == end && length > 0;
  }

  const Properties& properties_;
  base::Status status_;
};

constexpr char kColumnMetrics[] = "write.metadata.metrics.column.";

void read_write_properties(PropertyReader& reader, const Properties& properties, TableProperties& out) {
  std::string format = "parquet";
  reader.word("write.format.default", format, {"parquet", "avro", "orc"});
  reader.word("write.parquet.compression-codec", out.parquet_codec,
              {"zstd", "brotli", "lz4", "gzip", "snappy", "uncompressed"});
  reader.number("write.parquet.compression-level", out.parquet_level, -131072, 22);
  reader.number("write.parquet.row-group-size-bytes", out.parquet_row_group_bytes, 1);
  reader.number("write.parquet.page-size-bytes", out.parquet_page_bytes, 1);
  reader.number("write.parquet.page-row-limit", out.parquet_page_rows, 1);
  reader.number("write.parquet.dict-size-bytes", out.parquet_dictionary_bytes, 1);
  reader.number("write.target-file-size-bytes", out.target_file_bytes, 1);
  reader.word("write.avro.compression-codec", out.avro.codec, {"gzip", "zstd", "snappy", "uncompressed"});
  reader.number("write.avro.compression-level", out.avro.level, -131072, 22);
  reader.path("write.folder-storage.path", out.data_path);
  reader.path("write.data.path", out.data_path);
  reader.path("write.metadata.path", out.metadata_path);
  reader.boolean("write.object-storage.enabled", out.object_storage);
  reader.boolean("write.object-storage.partitioned-paths", out.object_storage_partitioned_paths);
  std::string codec = "none";
  reader.word("write.metadata.compression-codec", codec, {"none", "gzip"});
  out.metadata_gzip = codec == "gzip";
  reader.number("write.metadata.previous-versions-max", out.metadata_previous_versions_max, 1);
  reader.boolean("write.metadata.delete-after-commit.enabled", out.metadata_delete_after_commit);
  reader.metrics("write.metadata.metrics.default", out.metrics_default);
  reader.number("write.metadata.metrics.max-inferred-column-defaults", out.metrics_max_inferred_columns, 0);
  const std::string prefix = kColumnMetrics;
  for (const auto& [key, value] : properties) {
    if (key.starts_with(prefix)) reader.metrics(key, out.metrics_by_column[key.substr(prefix.size())]);
  }
}

void read_commit_properties(PropertyReader& reader, TableProperties& out) {
  reader.boolean("commit.manifest-merge.enabled", out.manifest_merge);
  reader.number("commit.manifest.min-count-to-merge", out.manifest_min_count_to_merge, 1);
  reader.number("commit.manifest.target-size-bytes", out.manifest_target_bytes, 1);
  reader.number("commit.retry.num-retries", out.commit_retries, 0);
  reader.number("commit.retry.min-wait-ms", out.commit_min_wait_ms, 0);
  reader.number("commit.retry.max-wait-ms", out.commit_max_wait_ms, 0);
  reader.number("commit.retry.total-timeout-ms", out.commit_total_timeout_ms, 0);
  reader.number("history.expire.max-snapshot-age-ms", out.max_snapshot_age_ms, 0);
  reader.number("history.expire.min-snapshots-to-keep", out.min_snapshots_to_keep, 1);
  reader.number("history.expire.max-ref-age-ms", out.max_ref_age_ms, 1);
  reader.boolean("gc.enabled", out.gc_enabled);
}

// Defined by Iceberg for writers, and without effect here. Those that end in '.' stand for a column each.
constexpr const char* kNotHonoured[] = {
    "write.delete.", "write.update.", "write.merge.", "write.spark.fanout.enabled", "write.upsert.enabled",
    "write.wap.enabled", "write.orc.", "write.location-provider.impl", "write.summary.partition-limit",
    "write.parquet.bloom-filter-", "commit.retry.num-retries",
    "write.parquet.stats-enabled.", "write.parquet.dict-encoding-enabled.", "write.parquet.page-version",
    "write.parquet.shred-variants", "write.parquet.variant-inference-buffer-size",
    "write.parquet.row-group-size-track-uncompressed", "commit.status-check.", "history.expire.max-ref-age-ms", "encryption.",
    "compatibility.",
};

}  // namespace

base::Result<TableProperties> read_table_properties(const Properties& properties, const std::string& table_location) {
  TableProperties out;
  const std::string location = without_slash(table_location);
  out.data_path = location + "/data";
  out.metadata_path = location + "/metadata";
  PropertyReader reader(properties);
  read_write_properties(reader, properties, out);
  read_commit_properties(reader, out);
  TRY(reader.status());
  return out;
}

std::vector<std::string> properties_not_honoured(const Properties& properties) {
  std::vector<std::string> names;
  for (const auto& [key, value] : properties) {
    const bool is_listed = std::any_of(std::begin(kNotHonoured), std::end(kNotHonoured), [&key = key](const std::string& name) {
      return name.ends_with('.') || name.ends_with('-') ? key.starts_with(name) : key == name;
    });
    const bool is_other_format = key == "write.format.default" && lower(value) != "parquet";
    const bool is_by_range = key == "write.distribution-mode" && lower(value) == "range";
    if (is_listed || is_other_format || is_by_range) names.push_back(key);
  }
  return names;
}

}  // namespace frazil::iceberg
