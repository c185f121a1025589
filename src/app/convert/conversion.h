// Conversion: one foreign pipeline on its way to a Frazil file: the draft, and what became of each name that was found.
//
// Every name ends in exactly one finding. Values are never repeated in findings: they may be secret. One thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/document.h"
#include "app/convert/pipeline_draft.h"

namespace frazil::app {

// What becomes of a foreign name.
enum class Fate {
  kHonoured,   // the same, under another name
  kChanged,    // something near it; the text says what differs
  kNotNeeded,  // Frazil has no use for it, and nothing is lost
  kRefused,    // it would mean something that Frazil does not do; the text says what to do
};
// "honoured", "changed", "not needed", "refused".
std::string_view fate_name(Fate fate);

struct Finding {
  Mark mark;
  std::string name;  // as the user wrote it, with what surrounds it: "catalogProperties.type"
  Fate fate = Fate::kHonoured;
  std::string text;
};

// A name with its value, as it was found.
struct Given {
  std::string name;  // for messages
  std::string key;   // the last part, by which a table of names is searched; behind a family's prefix, the rest
  Mark mark;
  const Node& value;

  std::string text() const { return value.kind == Node::Kind::kScalar ? value.scalar : std::string(); }
  bool is_true() const;  // "true" in any case
};

class Conversion {
 public:
  explicit Conversion(std::string schema) : schema_argument(std::move(schema)) {}

  PipelineDraft draft;
  const std::string schema_argument;  // --schema, or empty

  void honoured(const Given& given, std::string text);
  void changed(const Given& given, std::string text);
  void not_needed(const Given& given, std::string text);
  void refused(const Given& given, std::string text);
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  // What lies between names: a missing one, or two that do not go together.
  void problem(const Mark& mark, const std::string& name, std::string text);

  // `text` if it is a reference already; else `${env:VARIABLE}` and a finding that tells to set it. An inline secret goes nowhere.
  std::string secret(const Given& given, const std::string& text, const std::string& variable);

  const std::vector<Finding>& findings() const { return findings_; }
  bool has_refusals() const;

 private:
  std::vector<Finding> findings_;
};

// One declaration of a foreign name: translation, refusal and the page of names all come from it.
struct ForeignName {
  std::string name{};  // "topic", or a family such as "header.*"
  Fate fate = Fate::kHonoured;
  std::string doc{};  // what it becomes, or why not and what to do instead; a part of a sentence
  // Puts the value into the draft and adds findings of its own, if any. When it adds none, `fate` and `doc` are the finding.
  // Empty where nothing is put.
  std::function<void(Conversion&, const Given&)> translate{};
};

// The declaration of `key`: the name itself, else the family with the longest prefix; nullptr for none.
const ForeignName* find_foreign_name(const std::vector<ForeignName>& names, std::string_view key);
// Translates one name. Unknown ones become refusals that name the nearest known one.
void translate_name(Conversion& conversion, const std::vector<ForeignName>& names, const Given& given);
// Each entry of a map; `prefix` stands before the keys in findings ("catalogProperties.").
void translate_map(Conversion& conversion, const std::vector<ForeignName>& names, const std::string& prefix, const Node& map);
// The same where a known name without a value, or with null, counts as not given: parameters that a script or a template passes on.
void translate_settings(Conversion& conversion, const std::vector<ForeignName>& names, const std::string& prefix, const Node& map);
bool is_left_out(const Node& value);

// Values that come as text where a tree is meant ("{\"type\": \"rest\"}"), parsed. A refusal, and nothing, when they are neither.
std::optional<Node> as_map(Conversion& conversion, const Given& given);
// The same for a list; a text with commas counts as one.
std::optional<std::vector<std::string>> as_list(Conversion& conversion, const Given& given);
// A whole number above zero, or a refusal.
std::optional<int64_t> as_count(Conversion& conversion, const Given& given);

// Splits at commas outside of parentheses; blanks around the parts are dropped.
std::vector<std::string> split_at_commas(const std::string& text);
// "bucket(id, 64)" → "bucket(64, id)", "truncate(name, 4)" likewise; others stay as they are.
std::vector<std::string> partition_fields_as_here(std::vector<std::string> fields);
// "sasl.password" → "SASL_PASSWORD".
std::string variable_name(std::string_view text);
// Keeps `${env:…}` and `${file:…}`; any other `${` is written so that it stays as it is.
std::string keep_references(const std::string& text);
bool has_reference(const std::string& text);
// Lower case, with '-' for what a pipeline's name cannot hold, at most 64 letters.
std::string to_pipeline_name(const std::string& text);

}  // namespace frazil::app
