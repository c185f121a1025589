#include "sinks/iceberg/table_setup.h"

#include <set>

#include "base/log.h"
#include "base/sync.h"
#include "iceberg/table_properties.h"

namespace frazil::sinks {
namespace {

void set_default(iceberg::Properties& properties, const std::string& key, const std::string& value) {
  properties.try_emplace(key, value);
}

// True the first time that this process hears of `what`.
bool is_told_first(const std::string& what) {
  static base::Mutex mutex;
  static std::set<std::string> told;
  base::Lock lock(mutex);
  return told.insert(what).second;
}

base::Result<iceberg::SortOrder> parse_sort_order(const std::vector<std::string>& entries) {
  if (entries.empty()) return iceberg::SortOrder{};
  return base::unsupported("create.sort_by: sorted tables are not written yet; leave it empty");
}

}  // namespace

base::Result<iceberg::CreateTable> new_table_request(const IcebergSinkConfig& config) {
  const std::string name = config.table.text();
  if (!config.create) return base::not_found("table " + name + " does not exist; create it, or add create: to the pipeline's table");
  if (!config.schema) return base::invalid("table " + name + " does not exist and schema: from_table has nothing to read it from");
  iceberg::CreateTable request;
  // The spec names columns by field id, so the columns need ids before it is parsed.
  request.schema = columnar::assign_fresh_ids(*config.schema);
  TRY_ASSIGN(request.spec, iceberg::parse_partition_spec(config.create->partition_by, request.schema));
  TRY_ASSIGN(request.sort_order, parse_sort_order(config.create->sort_by));
  request.properties = config.create->properties;
  set_default(request.properties, "format-version", "2");
  set_default(request.properties, "write.parquet.compression-codec", "zstd");
  set_default(request.properties, "history.expire.max-snapshot-age-ms", std::to_string(config.history_keep_ms));
  set_default(request.properties, "history.expire.min-snapshots-to-keep", "1");
  set_default(request.properties, "write.metadata.delete-after-commit.enabled", "true");
  return request;
}

base::Result<iceberg::LoadedTable> create_table(iceberg::Catalog& catalog, const IcebergSinkConfig& config) {
  const std::string name = config.table.text();
  TRY_ASSIGN(const iceberg::CreateTable request, new_table_request(config));
  base::Status made = catalog.create_namespace(config.table.ns);
  if (!made.ok() && made.error().code() != base::Code::kExists) return std::move(made).in("create namespace for " + name).error();
  base::Result<iceberg::LoadedTable> created = catalog.create_table(config.table, request);
  if (!created.ok() && created.error().code() == base::Code::kExists) return catalog.load_table(config.table);
  if (created.ok()) base::log_info("table_created", {{"table", name}, {"location", created->metadata.location}});
  return std::move(created).in("create table " + name);
}

void tell_what_is_not_honoured(const IcebergSinkConfig& config, const iceberg::TableMetadata& metadata) {
  std::vector<std::string> names = iceberg::properties_not_honoured(metadata.properties);
  if (metadata.default_sort_order_id != 0) names.push_back("the table's sort order");
  for (const std::string& name : names) {
    if (!is_told_first(config.pipeline + "\n" + metadata.table_uuid + "\n" + name)) continue;
    base::log_warn("property_not_honoured", {{"pipeline", config.pipeline}, {"table", config.table.text()}, {"property", name},
                                             {"value", metadata.property(name)}});
  }
}

}  // namespace frazil::sinks
