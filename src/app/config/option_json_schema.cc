#include <nlohmann/json.hpp>

#include "app/config/option.h"
#include "app/config/option_reference.h"
#include "app/config/option_tree.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

// Any scalar may be a reference, or hold one.
constexpr char kReference[] = R"(\$\{(env|file):[^}]+\})";

Json pattern(const std::string& own) {
  return {{"type", "string"}, {"pattern", own + "|" + kReference}};
}

Json words(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) {
    list.push_back(value);
    // YAML readers turn this word into a null.
    if (value == "null") list.push_back(nullptr);
  }
  return {{"enum", list}};
}

Json column_list() {
  const Json text = {{"type", "string"}};
  const Json column = {
      {"type", "object"},
      {"properties", {{"name", text}, {"type", text}, {"required", {{"type", "boolean"}}}, {"doc", text}}},
      {"required", {"name", "type"}},
      {"additionalProperties", false}};
  return {{"type", "array"}, {"items", column}, {"minItems", 1}};
}

Json start_forms(const Option& option) {
  const Json offsets = {
      {"type", "object"},
      {"additionalProperties", {{"type", "object"}, {"additionalProperties", {{"type", "integer"}}}}}};
  const auto only = [](const char* key, const Json& value) {
    return Json{
        {"type", "object"}, {"properties", {{key, value}}}, {"required", {key}}, {"additionalProperties", false}};
  };
  return {{"anyOf", {words(option.values), only("timestamp", {{"type", "string"}}), only("offsets", offsets)}}};
}

Json form_of(const Option& option) {
  switch (option.kind) {
    case OptionKind::kText:
      return {{"type", {"string", "number"}}};
    case OptionKind::kInteger:
      return {{"anyOf", {{{"type", "integer"}}, pattern("^-?[0-9]+$")}}};
    case OptionKind::kBoolean:
      return {{"anyOf", {{{"type", "boolean"}}, pattern("^(true|false)$")}}};
    case OptionKind::kDuration:
      return pattern("^([0-9.]+(ms|s|m|h|d))+$");
    case OptionKind::kSize:
      return {{"anyOf", {{{"type", "integer"}}, pattern("^[0-9.]+ ?([kKMGT]?B|[KMGT]iB)?$")}}};
    case OptionKind::kChoice:
      return words(option.values);
    case OptionKind::kTextList: {
      const Json list = {{"type", "array"}, {"items", {{"type", {"string", "number", "boolean"}}}}};
      if (!option.takes_one_text) return list;
      return {{"anyOf", {{{"type", {"string", "number", "boolean"}}}, list}}};
    }
    case OptionKind::kProperties:
      return {{"type", "object"}, {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
    case OptionKind::kStart:
      return start_forms(option);
    case OptionKind::kSchema:
      return {{"anyOf", {{{"type", "string"}}, column_list()}}};
    case OptionKind::kSection:
    case OptionKind::kSectionList:
      break;
  }
  return Json::object();
}

Json describe(const Option& option) {
  Json form = form_of(option);
  const bool has_own_words = option.kind == OptionKind::kChoice || option.kind == OptionKind::kStart;
  if (!option.values.empty() && !has_own_words) form = {{"anyOf", {words(option.values), form}}};
  form["description"] = option.doc;
  if (!option.default_text.empty()) form["default"] = option.default_text;
  return form;
}

Json describe_list(const OptionTree& tree);

Json describe_map(const OptionTree& tree) {
  Json map = {{"type", tree.option != nullptr && !tree.option->is_required ? Json{"object", "null"} : Json("object")}};
  if (tree.option != nullptr) map["description"] = tree.option->doc;
  Json required = Json::array();
  for (const OptionTree& child : tree.children) {
    map["properties"][child.name] =
        child.option->kind == OptionKind::kSection       ? describe_map(child)
        : child.option->kind == OptionKind::kSectionList ? describe_list(child)
                                                         : describe(*child.option);
    if (child.option->is_required) required.push_back(child.name);
  }
  if (!required.empty()) map["required"] = required;
  map["additionalProperties"] = false;
  return map;
}

Json describe_list(const OptionTree& tree) {
  Json item = describe_map(tree);
  item["type"] = "object";
  item.erase("description");
  return {{"type", "array"}, {"items", item}, {"minItems", 1}, {"description", tree.option->doc}};
}

Json describe_options(const std::vector<const std::vector<Option>*>& lists) {
  std::vector<const Option*> options;
  for (const auto* list : lists) {
    for (const Option& option : *list) options.push_back(&option);
  }
  return describe_map(make_option_tree(options));
}

}  // namespace

std::string options_as_json_schema() {
  Json many = describe_options({&process_options()});
  many["properties"]["pipelines"] = {
      {"type", "array"}, {"minItems", 1}, {"items", describe_options({&pipeline_options()})}};
  many["required"] = {"pipelines"};
  const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "A pipeline file of Frazil"},
                       {"anyOf", {describe_options({&pipeline_options(), &process_options()}), many}}};
  return schema.dump(2) + "\n";
}

}  // namespace frazil::app
