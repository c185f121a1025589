#include "app/plan/table_probe.h"

#include <algorithm>

#include "app/open_catalog.h"
#include "app/pipeline.h"
#include "app/sink_config.h"
#include "base/clock.h"
#include "iceberg/new_table.h"
#include "iceberg/table_properties.h"
#include "sinks/iceberg/retention.h"
#include "sinks/iceberg/table_setup.h"
#include "sinks/iceberg/target_tables.h"

namespace frazil::app {
namespace {

using iceberg::Transform;

std::string type_text(const columnar::Field* field) {
  if (field == nullptr) return "";
  return field->type.name() + (field->required ? " required" : "");
}

std::vector<ColumnDifference> compare(const columnar::Schema& table, const columnar::Schema& configured) {
  std::vector<ColumnDifference> differences;
  for (const columnar::Field& field : table.fields) {
    const ColumnDifference one{field.name, type_text(&field), type_text(configured.find(field.name))};
    if (one.in_table != one.in_schema) differences.push_back(one);
  }
  for (const columnar::Field& field : configured.fields) {
    if (table.find(field.name) == nullptr) differences.push_back({field.name, "", type_text(&field)});
  }
  return differences;
}

// Buckets are all touched; of a time an interval touches one piece. How many values a column has nobody knows before.
void count_partitions(const iceberg::TableMetadata& metadata, TableFacts& facts) {
  for (const iceberg::PartitionField& field : metadata.default_spec().fields) {
    facts.partition_by.push_back(iceberg::to_string(field, *metadata.current_schema()));
    switch (field.transform.kind) {
      case Transform::Kind::kBucket:
        facts.touched_partitions *= std::max(1, field.transform.width);
        break;
      case Transform::Kind::kIdentity:
      case Transform::Kind::kTruncate:
      case Transform::Kind::kUnknown:
        facts.is_touched_a_guess = true;
        break;
      default:
        break;
    }
  }
}

// What is known of a table, and how rows go into it, if they can.
struct Probed {
  TableFacts facts;
  std::optional<sinks::TargetTable> target;
};

base::Status describe(const iceberg::TableMetadata& metadata, const sinks::IcebergSinkConfig& sink, Probed& probed) {
  TableFacts& facts = probed.facts;
  facts.location = metadata.location;
  count_partitions(metadata, facts);
  TRY_ASSIGN(const iceberg::TableProperties properties, iceberg::read_table_properties(metadata.properties, metadata.location));
  facts.target_file_bytes = properties.target_file_bytes;
  const sinks::MetadataGrowth growth = sinks::measure_growth(metadata, sink.pipeline);
  facts.bytes_per_snapshot = growth.bytes_per_snapshot;
  facts.metadata_bytes = growth.bytes;
  facts.snapshots = static_cast<int64_t>(metadata.snapshots.size());
  if (const iceberg::Snapshot* head = metadata.current_snapshot()) {
    facts.rows = head->summary_number("total-records");
    facts.files = head->summary_number("total-data-files");
    const int64_t bytes = head->summary_number("total-files-size");
    if (facts.rows > 0 && bytes > 0) facts.file_bytes_per_record = static_cast<double>(bytes) / static_cast<double>(facts.rows);
  }
  if (!sink.targets.empty()) return {};  // an anchor: whether rows fit is its tables' to say
  auto target = sinks::TargetTables::describe(sink, sinks::targets_of(sink).front(), metadata);
  if (target.ok()) {
    probed.target = std::move(target).value();
  } else {
    facts.problem = target.error().message();
  }
  return {};
}

// A table that is not there: as it would be made.
base::Status describe_new(const sinks::IcebergSinkConfig& sink, Probed& probed) {
  TableFacts& facts = probed.facts;
  const auto request = sinks::new_table_request(sink);
  const auto metadata = request.ok() ? iceberg::new_table_metadata(*request, "not made", base::wall_millis()) : request.error();
  if (request.ok()) {
    for (const columnar::Field& field : request->schema.fields) facts.columns.emplace_back(field.name, type_text(&field));
  }
  if (!metadata.ok()) {
    facts.problem = metadata.error().message();
    return {};
  }
  TRY(describe(*metadata, sink, probed));
  facts.location.clear();
  return {};
}

// `sink`: of this table alone, whose files are called `files`.
base::Result<Probed> probe(iceberg::Catalog& catalog, const sinks::IcebergSinkConfig& sink, const std::string& files) {
  Probed probed;
  TableFacts& facts = probed.facts;
  facts.name = sink.table.text();
  const auto loaded = catalog.load_table(sink.table);
  if (!loaded.ok() && loaded.error().code() != base::Code::kNotFound) return loaded.error().in("load table " + facts.name);
  facts.access.push_back({"ask the catalog for table " + facts.name, ""});
  facts.exists = loaded.ok();
  if (!facts.exists) {
    TRY(describe_new(sink, probed));
    return probed;
  }
  if (sink.schema) facts.differences = compare(*loaded->metadata.current_schema(), *sink.schema);
  TRY(describe(loaded->metadata, sink, probed));
  if (const iceberg::Snapshot* head = loaded->metadata.current_snapshot()) {
    const base::Status read = catalog.file_io()->read(head->manifest_list).status();
    facts.access.push_back({"read " + files, read.ok() ? "" : read.error().message()});
  }
  return probed;
}

}  // namespace

base::Result<ProbedTables> probe_tables(const PipelineConfig& config) {
  TRY_ASSIGN(const auto catalog, open_catalog(config.table.catalog));
  TRY_ASSIGN(const sinks::IcebergSinkConfig sink, sink_config(config, user_name()));
  ProbedTables tables;
  TRY_ASSIGN(Probed anchor, probe(*catalog, sink, sink.targets.empty() ? "the table's files" : "the anchor's files"));
  tables.anchor = std::move(anchor.facts);
  std::vector<sinks::TargetTable> targets;
  for (const sinks::TargetConfig& target : sink.targets) {
    TRY_ASSIGN(Probed probed, probe(*catalog, sinks::config_of(sink, target), "the files of table " + target.table.text()));
    tables.targets.push_back(std::move(probed.facts));
    if (probed.target) targets.push_back(std::move(*probed.target));
  }
  if (sink.targets.empty() || targets.size() < sink.targets.size()) return tables;
  const auto together = sinks::TargetTables::make(sink, std::move(targets));
  if (!together.ok()) tables.problem = together.error().message();
  return tables;
}

}  // namespace frazil::app
