#include "app/config/option_reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/config/option.h"
#include "clients/kafka/property_allow_list.h"

namespace frazil::app {
namespace {

std::string type_cell(const Option& option) {
  std::string text = kind_name(option.kind);
  if (option.kind == OptionKind::kChoice) text.clear();
  for (const std::string& value : option.values) text += (text.empty() ? "`" : ", `") + value + "`";
  if (option.takes_one_text) text = "text or " + text;
  if (option.is_secret) text += ", secret";
  return text;
}

std::string default_cell(const Option& option) {
  if (!option.default_text.empty()) return "`" + option.default_text + "`";
  return option.is_required ? "required" : "";
}

void append_table(const std::vector<Option>& options, std::string& text) {
  text += "| option | type | default | meaning |\n|---|---|---|---|\n";
  for (const Option& option : options) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", shown_path(option), type_cell(option), default_cell(option), option.doc);
  }
}

}  // namespace

std::string shown_path(const Option& option) {
  const size_t dot = option.path.find('.');
  const std::string head = option.path.substr(0, dot);
  for (const Option& other : pipeline_options()) {
    if (other.kind != OptionKind::kSectionList || other.path != head || dot == std::string::npos) continue;
    return head + "[]" + option.path.substr(dot);
  }
  return option.path;
}

std::string kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::kSection:
      return "section";
    case OptionKind::kSectionList:
      return "list of sections";
    case OptionKind::kText:
      return "text";
    case OptionKind::kInteger:
      return "integer";
    case OptionKind::kBoolean:
      return "boolean";
    case OptionKind::kDuration:
      return "duration";
    case OptionKind::kSize:
      return "size";
    case OptionKind::kChoice:
      return "word";
    case OptionKind::kTextList:
      return "list of texts";
    case OptionKind::kProperties:
      return "map of texts";
    case OptionKind::kStart:
      return "start";
    case OptionKind::kSchema:
      return "schema";
  }
  return "";
}

std::string options_as_markdown() {
  std::string text = R"(# Options of a pipeline file

Written by `frazil options --format markdown`; `frazil options --format json-schema` gives the same for editors.

- A file holds one pipeline, or several under `pipelines:`, a list; the options of the process then stand beside that list.
- Keys that are unknown, written twice or of the wrong type are errors. `frazil validate FILE` finds all of them.
- **duration**: `250ms`, `5s`, `10m`, `1h`, `7d`. **size**: `128MB` counts by 1000, `2GiB` by 1024.
- `${env:NAME}` and `${file:/path}` put in an environment variable or a file's content; `$${` is a literal `${`. Secrets are given
  only in this way. Inside of `{...}` and `[...]` YAML wants quotes around it: `{token: "${env:TOKEN}"}`.
- `--set commit.interval=2s` changes an option for one run; with several pipelines, `--set NAME:commit.interval=2s`.
- Every option takes effect at the start of a run.

## A pipeline

)";
  append_table(pipeline_options(), text);
  text += "\n## The process\n\n";
  append_table(process_options(), text);
  text += "\n## Kafka client properties\n\nAllowed under `source.kafka.properties`, with librdkafka's own meaning:\n\n";
  std::string line;
  for (const std::string& name : clients::allowed_kafka_properties()) {
    const std::string item = "`" + name + "`" + (clients::is_kafka_secret(name) ? " (secret)" : "");
    if (line.size() + item.size() > 110) text += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + item;
  }
  return text + line + "\n";
}

std::string options_as_text() {
  std::string text;
  for (const auto* options : {&pipeline_options(), &process_options()}) {
    for (const Option& option : *options) {
      if (option.kind == OptionKind::kSection || option.kind == OptionKind::kSectionList) continue;
      std::string type = type_cell(option);
      std::erase(type, '`');
      std::string otherwise =
          option.default_text.empty() ? (option.is_required ? "(required)" : "") : option.default_text;
      text += fmt::format("{:<36} {:<16} {}\n", shown_path(option), otherwise, type);
    }
  }
  return text;
}

}  // namespace frazil::app
