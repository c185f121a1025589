#include "iceberg/metadata_file.h"

#include <charconv>

#include <fmt/format.h>

#include "base/random.h"
#include "format/avro/compression.h"
#include "iceberg/stored_file.h"
#include "iceberg/table_metadata_json.h"
#include "iceberg/table_properties.h"

namespace frazil::iceberg {

namespace {

constexpr int64_t kMetadataBytesMax = 1LL << 30;

void append_to_log(TableMetadata& metadata, const std::string& previous_location, int64_t previous_updated_ms, int32_t keep) {
  if (previous_location.empty()) return;
  auto& log = metadata.metadata_log;
  log.push_back({previous_updated_ms, previous_location});
  if (log.size() > static_cast<size_t>(keep)) log.erase(log.begin(), log.end() - keep);
}

}  // namespace

base::Result<TableMetadata> read_metadata(io::FileIO& io, const std::string& location) {
  TRY_ASSIGN(std::string bytes, read_stored(io, location));
  if (format::is_gzip(bytes)) {
    auto plain = format::gzip_decompress(bytes, kMetadataBytesMax);
    TRY_ASSIGN(bytes, std::move(plain).in(location));
  }
  return table_metadata_from_json(bytes).in(location);
}

base::Result<std::string> write_metadata(io::FileIO& io, TableMetadata& metadata, const std::string& previous_location,
                                         int64_t previous_updated_ms) {
  TRY_ASSIGN(const TableProperties properties, read_table_properties(metadata.properties, metadata.location));
  append_to_log(metadata, previous_location, previous_updated_ms, properties.metadata_previous_versions_max);
  TRY_ASSIGN(std::string bytes, table_metadata_to_json(metadata));
  if (properties.metadata_gzip) bytes = format::gzip_compress(bytes);
  const int version = previous_location.empty() ? 0 : metadata_version(previous_location) + 1;
  const std::string location = fmt::format("{}/{:05}-{}{}.metadata.json", properties.metadata_path, version,
                                           base::random_uuid(), properties.metadata_gzip ? ".gz" : "");
  TRY(io::write_file(io, location, bytes));
  return location;
}

int metadata_version(const std::string& location) {
  const size_t slash = location.rfind('/');
  const char* begin = location.data() + (slash == std::string::npos ? 0 : slash + 1);
  const char* end = location.data() + location.size();
  // The file system catalog's form is v12.metadata.json.
  if (begin != end && *begin == 'v') ++begin;
  int version = -1;
  const auto [after, error] = std::from_chars(begin, end, version);
  if (error != std::errc() || version < 0 || after == end || (*after != '-' && *after != '.')) return -1;
  return version;
}

}  // namespace frazil::iceberg
