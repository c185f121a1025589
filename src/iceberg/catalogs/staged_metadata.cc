#include "iceberg/catalogs/staged_metadata.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "iceberg/metadata_file.h"
#include "iceberg/new_table.h"
#include "iceberg/table_properties.h"
#include "io/location.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// How often a table may move on while its metadata is read.
constexpr int kLoadAttempts = 10;

Status check_part(const std::string& part, const std::string& whole) {
  if (part.empty()) return base::invalid("'" + whole + "': a name cannot be empty");
  for (char c : part) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return base::invalid("'" + whole + "': a name cannot contain control characters");
    }
  }
  return {};
}

bool is_misread(char c) {
  return c == '/' || c == '\\' || c == '?' || c == '#' || c == '%' || c == ':' || c == '*';
}

std::string folder_name(const std::string& part) {
  std::string name = part;
  for (char& c : name) {
    if (is_misread(c)) c = '_';
  }
  if (name.starts_with('.')) name[0] = '_';
  if (name == part) return name;
  const uint64_t digest = base::xxh64(part);
  return name + "-" + base::hex({reinterpret_cast<const char*>(&digest), sizeof(digest)}).substr(0, 8);
}

Error not_staged(const Error& error) {
  const bool is_permanent = error.code() != Code::kUnknownOutcome && error.code() != Code::kExists;
  return Error(is_permanent ? error.code() : Code::kUnavailable, error.message()).in("writing table metadata");
}

Result<LoadedTable> write_staged(io::FileIO& io, TableMetadata metadata, const std::string& previous_location,
                                 int64_t previous_ms) {
  const Result<std::string> location = write_metadata(io, metadata, previous_location, previous_ms);
  if (!location.ok()) return not_staged(location.error());
  return LoadedTable{std::move(metadata), *location};
}

}  // namespace

Status check_namespace(const Namespace& ns) {
  const std::string whole = TableId{ns, ""}.text();
  if (ns.empty()) return base::invalid("a namespace needs a name");
  for (const std::string& part : ns) {
    TRY(check_part(part, whole));
    if (part.find('.') != std::string::npos) {
      return base::invalid("'" + part + "': a namespace cannot contain a dot; nested namespaces are joined by dots");
    }
  }
  return {};
}

Status check_new_table_id(const TableId& id) {
  TRY(check_namespace(id.ns));
  return check_part(id.name, id.text());
}

std::string default_table_location(const std::string& warehouse, const TableId& id) {
  std::string location = io::canonical_location(warehouse);
  for (const std::string& part : id.ns) location += (location.ends_with('/') ? "" : "/") + folder_name(part);
  return location + "/" + folder_name(id.name);
}

Result<LoadedTable> stage_table(io::FileIO& io, const std::string& warehouse, const TableId& id,
                                const CreateTable& request) {
  const std::string location =
      request.location.empty() ? default_table_location(warehouse, id) : io::canonical_location(request.location);
  TRY_ASSIGN(TableMetadata metadata, new_table_metadata(request, location, base::wall_millis()));
  return write_staged(io, std::move(metadata), "", 0);
}

Result<LoadedTable> stage_commit(io::FileIO& io, const LoadedTable& base, const TableCommit& commit) {
  TRY(check(commit.requirements, &base.metadata));
  TRY_ASSIGN(TableMetadata metadata, apply(base.metadata, commit.updates, base::wall_millis()));
  return write_staged(io, std::move(metadata), base.metadata_location, base.metadata.last_updated_ms);
}

void remove_forgotten_metadata(io::FileIO& io, const TableMetadata& before, const TableMetadata& after) {
  const auto properties = read_table_properties(after.properties, after.location);
  if (!properties.ok() || !properties->metadata_delete_after_commit) return;
  std::set<std::string> kept;
  for (const MetadataLogEntry& entry : after.metadata_log) kept.insert(entry.metadata_file);
  for (const MetadataLogEntry& entry : before.metadata_log) {
    if (kept.contains(entry.metadata_file)) continue;
    const Status removed = io.remove(entry.metadata_file);
    if (!removed.ok()) base::log_warn("old_metadata_not_removed", {{"file", entry.metadata_file}, {"why", removed.error().message()}});
  }
}

Result<LoadedTable> load_to_register(io::FileIO& io, const std::string& metadata_location) {
  Result<TableMetadata> metadata = read_metadata(io, metadata_location);
  if (metadata.ok()) return LoadedTable{std::move(metadata).value(), metadata_location};
  if (metadata.error().code() == Code::kCorrupt) return base::invalid(metadata.error().message());
  return metadata.error();
}

bool is_at_or_below(const Namespace& ns, const Namespace& above) {
  return ns.size() >= above.size() && std::equal(above.begin(), above.end(), ns.begin());
}

Status check_property_change(const Properties& set, const std::vector<std::string>& remove) {
  if (set.contains("")) return base::invalid("a property needs a name");
  for (const std::string& key : remove) {
    if (set.contains(key)) return base::invalid("property " + key + " cannot be set and removed at once");
  }
  return {};
}

Result<LoadedTable> load_current(io::FileIO& io, const std::function<Result<std::string>()>& current_location) {
  TRY_ASSIGN(std::string location, current_location());
  for (int attempt = 0; attempt < kLoadAttempts; ++attempt) {
    Result<TableMetadata> metadata = read_metadata(io, location);
    if (metadata.ok()) return LoadedTable{std::move(metadata).value(), location};
    if (metadata.error().code() == Code::kUnknownOutcome) return base::unavailable(metadata.error().message());
    if (metadata.error().code() != Code::kNotFound) return metadata.error();
    TRY_ASSIGN(std::string now, current_location());
    if (now == location)
      return base::corrupt("the catalog names the metadata file " + location + ", which does not exist");
    location = std::move(now);
  }
  return base::unavailable("the table changed faster than its metadata could be read");
}

}  // namespace frazil::iceberg
