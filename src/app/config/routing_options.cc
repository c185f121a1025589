#include "app/config/routing_options.h"

#include <algorithm>

#include "base/utf8.h"

namespace frazil::app {
namespace {

using Kind = OptionKind;
using T = OptionTarget;
using V = OptionValue;

RoutedTableConfig& entry(const T& t) { return t.pipeline->tables.back(); }

std::string assign_name(const T& t, const V& v) {
  entry(t).name = v.text;
  return check_table_name(v.text);
}

std::string assign_schema(const T& t, const V& v) {
  entry(t).schema = v.schema;
  entry(t).timestamps = v.timestamps;
  return "";
}

std::string assign_unrouted(const T& t, const V& v) {
  using Unrouted = PipelineConfig::Unrouted;
  t.pipeline->unrouted = v.text == "skip" ? Unrouted::kSkip : v.text == "halt" ? Unrouted::kHalt : Unrouted::kDeadLetter;
  return "";
}

std::string assign_anchor(const T& t, const V& v) {
  t.pipeline->anchor = v.text;
  return check_table_name(v.text);
}

std::vector<Option> entry_options() {
  return {
      {.path = "tables.name",
       .doc = "Name of the table with its namespace.",
       .is_required = true,
       .assign = assign_name},
      {.path = "tables.when", .kind = Kind::kSection, .doc = "Which rows the table takes; without it, all. `topic` and `field` may stand together."},
      {.path = "tables.when.topic",
       .doc = "Rows of this topic.",
       .assign = [](const T& t, const V& v) { entry(t).topic = v.text; return ""; }},
      {.path = "tables.when.field",
       .doc = "Rows with a value in this column, a string, boolean, int, long or uuid; members of structs behind dots. With `equals` or "
              "`matches`. A null meets neither.",
       .assign = [](const T& t, const V& v) { entry(t).field = v.text; return ""; }},
      {.path = "tables.when.equals",
       .kind = Kind::kTextList,
       .doc = "The value, or a list of values; `true`, `false` and numbers as they are written in decimal.",
       .takes_one_text = true,
       .assign = [](const T& t, const V& v) { entry(t).equals = v.list; return ""; }},
      {.path = "tables.when.matches",
       .doc = "A regular expression (RE2) that the value matches as a whole.",
       .assign = [](const T& t, const V& v) { entry(t).matches = v.text; return ""; }},
      {.path = "tables.schema",
       .kind = Kind::kSchema,
       .doc = "The fields of the topic's documents, as in `decode.json.schema`, which it replaces for this topic. Needs `when.topic`.",
       .assign = assign_schema},
      {.path = "tables.create",
       .kind = Kind::kSection,
       .doc = "Creates this table when it is missing, instead of what `table.create` says.",
       .assign = [](const T& t, const V&) { entry(t).create.emplace(); return ""; }},
      {.path = "tables.create.partition_by",
       .kind = Kind::kTextList,
       .doc = "As `table.create.partition_by`.",
       .assign = [](const T& t, const V& v) { entry(t).create->partition_by = v.list; return ""; }},
      {.path = "tables.create.properties",
       .kind = Kind::kProperties,
       .doc = "As `table.create.properties`.",
       .assign = [](const T& t, const V& v) { entry(t).create->properties = v.properties; return ""; }},
  };
}

}  // namespace

std::string check_table_name(const std::string& name) {
  const bool has_empty_part = name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string::npos;
  if (name.find('{') != std::string::npos) {
    return "names that are made from fields or topics are unsupported in this version; name each table, and say which rows it takes";
  }
  const bool has_control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (has_control || !base::is_valid_utf8(name)) return "a table's name is text in UTF-8 without control characters";
  return name.find('.') == std::string::npos || has_empty_part ? "a table's name is namespace.table, as in shop.orders" : "";
}

std::vector<Option> routing_options() {
  std::vector<Option> options{
      {.path = "tables",
       .kind = Kind::kSectionList,
       .doc = "Several tables instead of `table.name`, asked in this order, at most 63. Catalog, `table.create` and `table.columns` "
              "are common to all of them.",
       .assign = [](const T& t, const V&) { t.pipeline->tables.emplace_back(); return ""; }},
  };
  for (Option& option : entry_options()) options.push_back(std::move(option));
  options.push_back({.path = "route",
                     .kind = Kind::kChoice,
                     .default_text = "first",
                     .doc = "A row goes to the first of `tables` that takes it, or to all that do.",
                     .values = {"first", "all"},
                     .assign = [](const T& t, const V& v) { t.pipeline->route_to_all = v.text == "all"; return ""; }});
  options.push_back({.path = "unrouted",
                     .kind = Kind::kChoice,
                     .default_text = "dead_letter",
                     .doc = "A row that none of `tables` takes: keep its record as a dead letter with code `NO_TABLE`, skip the row "
                            "(counted), or halt.",
                     .values = {"dead_letter", "skip", "halt"},
                     .assign = assign_unrouted});
  options.push_back({.path = "anchor",
                     .doc = "The table whose commits decide and that keeps the positions: one of `tables`, or a table without rows, "
                            "which is created. `<name>_positions` beside the first of `tables` unless set. Changing it starts anew.",
                     .assign = assign_anchor});
  return options;
}

}  // namespace frazil::app
