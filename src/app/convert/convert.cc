#include "app/convert/convert.h"

#include <algorithm>

#include "app/convert/catalog_names.h"
#include "app/convert/kafka_names.h"
#include "app/convert/transform_names.h"

namespace frazil::app {
namespace {

struct DialectWord {
  Dialect dialect;
  std::string_view word;
  std::string_view from;  // for the first line of the file
};
constexpr DialectWord kDialects[] = {
    {Dialect::kBeam, "beam", "Beam YAML"},
    {Dialect::kConnect, "connect", "properties of Kafka Connect's Iceberg sink"},
    {Dialect::kDataflow, "dataflow", "parameters of Dataflow's template Kafka_To_Iceberg_Yaml"},
};

std::string place_of(const std::string& file, const Mark& mark) {
  if (!mark.origin.empty()) return mark.origin;
  if (mark.line == 0) return file;
  return file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

// What differs stands at the top of the file, for who reads it later.
void add_comments(Conversion& conversion, std::string_view from) {
  conversion.draft.comment("", "Converted from " + std::string(from) + ".");
  for (const Finding& finding : conversion.findings()) {
    if (finding.fate == Fate::kChanged) conversion.draft.comment("", "Changed: " + finding.name + ": " + finding.text);
    if (finding.fate == Fate::kRefused) conversion.draft.comment("", "MISSING: " + finding.name + ": " + finding.text);
  }
}

std::string table_of(const std::vector<ForeignName>& names) {
  std::string out = "| name | | what becomes of it |\n|---|---|---|\n";
  for (const ForeignName& name : names) {
    out += "| `" + name.name + "` | " + std::string(fate_name(name.fate)) + " | " + name.doc + " |\n";
  }
  return out;
}

}  // namespace

std::optional<Dialect> dialect_of(std::string_view word) {
  for (const DialectWord& known : kDialects) {
    if (known.word == word) return known.dialect;
  }
  return std::nullopt;
}

std::string without_byte_order_mark(std::string text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : std::move(text);
}

std::optional<Dialect> guess_dialect(const std::string& text) {
  if (text.find("connector.class") != std::string::npos || text.find("iceberg.tables") != std::string::npos) return Dialect::kConnect;
  if (text.find("bootstrapServers") != std::string::npos || text.find("catalogProperties") != std::string::npos) return Dialect::kDataflow;
  if (text.starts_with("pipeline:") || text.find("\npipeline:") != std::string::npos) return Dialect::kBeam;
  return std::nullopt;
}

Converted convert_pipeline(Dialect dialect, const ForeignPipeline& pipeline) {
  Conversion conversion(pipeline.schema);
  if (dialect == Dialect::kBeam) convert_beam(conversion, pipeline);
  if (dialect == Dialect::kConnect) convert_connect(conversion, pipeline);
  if (dialect == Dialect::kDataflow) convert_dataflow(conversion, pipeline);
  if (!pipeline.name.empty()) conversion.draft.set("name", pipeline.name);
  const auto known = std::find_if(std::begin(kDialects), std::end(kDialects), [&](const DialectWord& d) { return d.dialect == dialect; });
  add_comments(conversion, known->from);
  return {conversion.draft.to_yaml(), conversion.findings(), conversion.has_refusals()};
}

std::string findings_as_text(const std::string& file, const std::vector<Finding>& findings, bool with_all) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.fate == Fate::kHonoured && !with_all) continue;
    text += place_of(file, finding.mark) + ": " + finding.name + ": " + std::string(fate_name(finding.fate)) + ": " + finding.text + "\n";
  }
  return text;
}

std::string foreign_names_as_markdown() {
  std::string out = "### Dataflow's template `Kafka_To_Iceberg_Yaml`\n\n" + table_of(dataflow_names());
  out += "\n### Beam YAML: `pipeline`, `options`, `providers`\n\n" + table_of(beam_pipeline_names());
  out += "\n### Beam YAML: transforms, by type\n\n" + table_of(beam_transform_types());
  out += "\n### Beam YAML: a transform\n\n" + table_of(beam_transform_names());
  out += "\n### Beam YAML: `ReadFromKafka`\n\n" + table_of(kafka_read_names());
  out += "\n### Beam YAML: `WriteToIceberg`\n\n" + table_of(iceberg_write_names());
  out += "\n### Kafka Connect: the connector, the Iceberg sink, the worker\n\n" + table_of(connect_names());
  out += "\n### Kafka Connect: transforms, by class\n\n" + table_of(connect_transform_names());
  out += "\n### Kafka's Java clients (`consumerConfigUpdates`, `consumer_config`, `consumer.override.*`)\n\n"
         "Names that librdkafka shares are taken as they are.\n\n" +
         table_of(kafka_names());
  out += "\n### Catalog properties (`catalogProperties`, `catalog_properties`, `iceberg.catalog.*`)\n\n" + table_of(catalog_names());
  out += "\n### Hadoop's configuration (`configProperties`, `config_properties`, `iceberg.hadoop.*`)\n\n" + table_of(hadoop_names());
  return out;
}

}  // namespace frazil::app
