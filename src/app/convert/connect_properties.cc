#include <algorithm>

#include "app/convert/catalog_names.h"
#include "app/convert/connect_sink.h"
#include "app/convert/convert.h"
#include "app/convert/kafka_names.h"
#include "app/convert/properties_file.h"
#include "app/convert/transform_names.h"

namespace frazil::app {
namespace {

// Names that Kafka Connect's files wrap around what they mean.
std::optional<Node> read_entries(Conversion& conversion, const ForeignPipeline& pipeline) {
  Problems problems(pipeline.file);
  const size_t first = pipeline.text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && pipeline.text[first] == '{';
  std::optional<Node> root = is_json ? parse_yaml(pipeline.text, problems) : parse_properties(pipeline.text, problems);
  for (const Problem& problem : problems.all()) conversion.problem(problem.mark, "file", problem.text);
  if (!root) return std::nullopt;
  // {"name": ..., "config": {...}}: the body of a request to Connect's REST interface.
  const Node* config = root->find("config");
  if (config == nullptr || config->kind != Node::Kind::kMap) return root;
  Node entries = *config;
  if (const Node* name = root->find("name"); name != nullptr && entries.find("name") == nullptr) {
    entries.entries.push_back({"name", name->mark, *name});
  }
  return entries;
}

// References of Connect's configuration providers → ours. False where there is no counterpart.
bool translate_providers(std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t at = text.find("${", begin);
    const size_t end = at == std::string::npos ? at : text.find('}', at);
    if (end == std::string::npos) {
      out += text.substr(begin);
      break;
    }
    out += text.substr(begin, at - begin);
    const std::string inner = text.substr(at + 2, end - at - 2);
    const size_t colon = inner.find(':');
    const std::string provider = inner.substr(0, colon);
    std::string rest = colon == std::string::npos ? "" : inner.substr(colon + 1);
    if (provider == "env") {
      out += "${env:" + rest.substr(rest.find_first_not_of(':') == std::string::npos ? 0 : rest.find_first_not_of(':')) + "}";
    } else if (provider == "directory" && rest.find(':') != std::string::npos) {
      rest[rest.rfind(':')] = '/';
      out += "${file:" + rest + "}";
    } else {
      return false;
    }
    begin = end + 1;
  }
  text = out;
  return true;
}

// Resolves what can be and refuses what cannot; true where the entry may go on.
bool prepare(Conversion& conversion, Entry& entry) {
  if (entry.value.kind != Node::Kind::kScalar) {
    conversion.refused({entry.key, entry.key, entry.mark, entry.value}, "must be a text");
    return false;
  }
  if (translate_providers(entry.value.scalar)) return true;
  conversion.refused({entry.key, entry.key, entry.mark, entry.value},
                     "its configuration provider has no counterpart: give the value as ${env:NAME} or ${directory:/path:file}");
  return false;
}

}  // namespace

void convert_connect(Conversion& conversion, const ForeignPipeline& pipeline) {
  auto entries = read_entries(conversion, pipeline);
  if (!entries) return;
  for (const auto& [key, text] : pipeline.parameters) {
    Node value;
    value.scalar = text;
    value.mark.origin = "--parameter " + key;
    if (Node* found = entries->find(key)) {
      *found = value;
    } else {
      entries->entries.push_back({key, value.mark, value});
    }
  }
  std::erase_if(entries->entries, [&](Entry& entry) { return !prepare(conversion, entry); });
  ConnectSink(conversion, *entries).translate();
}

}  // namespace frazil::app
