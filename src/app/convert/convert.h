// Foreign pipelines → Frazil's pipeline file: calls of Dataflow's Kafka_To_Iceberg_Yaml template, Beam YAML, and properties of
// Kafka Connect's Iceberg sink.
//
// Every name of the input is translated, told to be needless, or refused with a reason and what to do; unknown names are refused.
// Secrets never appear in the result. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

enum class Dialect { kBeam, kConnect, kDataflow };

// "beam", "connect", "dataflow".
std::optional<Dialect> dialect_of(std::string_view word);
// Some editors begin a file in UTF-8 with it.
std::string without_byte_order_mark(std::string text);
// What a file most likely is, by its content; nothing when it is none of them.
std::optional<Dialect> guess_dialect(const std::string& text);

struct ForeignPipeline {
  std::string file;  // names the text in messages
  std::string text;  // may be empty for Dataflow, when parameters say all
  // Of the command line: they replace what the file says. Beam YAML takes none.
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string name;    // of the pipeline; empty: from the input
  std::string schema;  // a file, or from_table; empty: from the input
};

struct Converted {
  std::string yaml;  // of use when nothing was refused; else the part that could be translated
  std::vector<Finding> findings;
  bool has_refusals = false;
};

Converted convert_pipeline(Dialect dialect, const ForeignPipeline& pipeline);

// "pipeline.yaml:3:5: topic: honoured: ..." for what the user should know: everything but what was simply honoured, or all
// with `with_all`. One finding a line, each line ended.
std::string findings_as_text(const std::string& file, const std::vector<Finding>& findings, bool with_all);

// The table of all names and what becomes of them, as Markdown.
std::string foreign_names_as_markdown();

// The steps of convert_pipeline, one for each dialect.
void convert_dataflow(Conversion& conversion, const ForeignPipeline& pipeline);
void convert_beam(Conversion& conversion, const ForeignPipeline& pipeline);
void convert_connect(Conversion& conversion, const ForeignPipeline& pipeline);

// The names that only one dialect has, for the table of names.
const std::vector<ForeignName>& dataflow_names();
const std::vector<ForeignName>& beam_pipeline_names();
const std::vector<ForeignName>& beam_transform_types();
const std::vector<ForeignName>& beam_transform_names();
const std::vector<ForeignName>& connect_names();
const std::vector<ForeignName>& connect_transform_names();

}  // namespace frazil::app
