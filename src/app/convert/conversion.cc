#include "app/convert/conversion.h"

#include <algorithm>
#include <cctype>

#include "app/config/nearest_name.h"
#include "app/config/references.h"
#include "app/config/units.h"
#include "net/url.h"

namespace frazil::app {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// A text has no lines of its own in the file.
void move_to(Node& node, const Mark& mark) {
  node.mark = mark;
  for (Node& item : node.items) move_to(item, mark);
  for (Entry& entry : node.entries) {
    entry.mark = mark;
    move_to(entry.value, mark);
  }
}

// Maps and lists that are given as text come apart later.
bool is_address_with_secret(const Given& given) {
  const std::string text = trimmed(given.text());
  return !text.starts_with('{') && !text.starts_with('[') && net::may_hold_secret(text);
}

bool is_family(const ForeignName& name) { return name.name.ends_with('*'); }

std::string_view prefix_of(const ForeignName& family) { return std::string_view(family.name).substr(0, family.name.size() - 1); }

}  // namespace

std::string_view fate_name(Fate fate) {
  switch (fate) {
    case Fate::kHonoured:
      return "honoured";
    case Fate::kChanged:
      return "changed";
    case Fate::kNotNeeded:
      return "not needed";
    case Fate::kRefused:
      return "refused";
  }
  return "";
}

bool Given::is_true() const { return lower(text()) == "true"; }

void Conversion::honoured(const Given& given, std::string text) { add({given.mark, given.name, Fate::kHonoured, std::move(text)}); }
void Conversion::changed(const Given& given, std::string text) { add({given.mark, given.name, Fate::kChanged, std::move(text)}); }
void Conversion::not_needed(const Given& given, std::string text) { add({given.mark, given.name, Fate::kNotNeeded, std::move(text)}); }
void Conversion::refused(const Given& given, std::string text) { add({given.mark, given.name, Fate::kRefused, std::move(text)}); }

void Conversion::problem(const Mark& mark, const std::string& name, std::string text) {
  add({mark, name, Fate::kRefused, std::move(text)});
}

std::string Conversion::secret(const Given& given, const std::string& text, const std::string& variable) {
  if (has_reference(text)) {
    const auto resolved = resolve_references(text, "");
    if (resolved.ok() && is_all_by_reference(*resolved, given.key)) return keep_references(text);
    refused(given, "a part of the secret stands there in plain text beside a reference: put the whole of it behind one");
    return "${env:" + variable + "}";
  }
  changed(given, "a secret stands there in plain text; the pipeline takes it from the environment variable " + variable +
                     ": set that, or put ${file:/path} in its place");
  return "${env:" + variable + "}";
}

bool Conversion::has_refusals() const {
  return std::any_of(findings_.begin(), findings_.end(), [](const Finding& f) { return f.fate == Fate::kRefused; });
}

const ForeignName* find_foreign_name(const std::vector<ForeignName>& names, std::string_view key) {
  const ForeignName* best = nullptr;
  for (const ForeignName& name : names) {
    if (name.name == key) return &name;
    if (!is_family(name) || !key.starts_with(prefix_of(name)) || key.size() == prefix_of(name).size()) continue;
    if (best == nullptr || name.name.size() > best->name.size()) best = &name;
  }
  return best;
}

void translate_name(Conversion& conversion, const std::vector<ForeignName>& names, const Given& given) {
  const ForeignName* known = find_foreign_name(names, given.key);
  if (known == nullptr) {
    std::vector<std::string> all;
    for (const ForeignName& name : names) all.push_back(name.name);
    conversion.refused(given, "unknown name, nearest known name \"" + nearest_name(given.key, all) + "\"");
    return;
  }
  const size_t before = conversion.findings().size();
  if (is_address_with_secret(given)) {
    conversion.refused(given, "the address holds a login or a key in plain text: take it out, and give credentials by properties of their own, by reference");
    return;
  }
  if (known->translate) {
    const std::string key = is_family(*known) ? given.key.substr(prefix_of(*known).size()) : given.key;
    known->translate(conversion, {given.name, key, given.mark, given.value});
  }
  if (conversion.findings().size() == before) conversion.add({given.mark, given.name, known->fate, known->doc});
}

void translate_map(Conversion& conversion, const std::vector<ForeignName>& names, const std::string& prefix, const Node& map) {
  for (const Entry& entry : map.entries) {
    translate_name(conversion, names, {prefix + entry.key, entry.key, entry.mark, entry.value});
  }
}

void translate_settings(Conversion& conversion, const std::vector<ForeignName>& names, const std::string& prefix, const Node& map) {
  for (const Entry& entry : map.entries) {
    const Given given{prefix + entry.key, entry.key, entry.mark, entry.value};
    if (is_left_out(entry.value) && find_foreign_name(names, entry.key) != nullptr) {
      conversion.not_needed(given, "empty, so not given");
    } else {
      translate_name(conversion, names, given);
    }
  }
}

bool is_left_out(const Node& value) {
  return value.kind == Node::Kind::kScalar && (value.is_empty || value.scalar.empty() || value.scalar == "null");
}

std::optional<Node> as_map(Conversion& conversion, const Given& given) {
  if (given.value.kind == Node::Kind::kMap) return given.value;
  if (given.value.kind == Node::Kind::kScalar) {
    Problems problems("");
    std::optional<Node> parsed = parse_yaml(given.value.scalar, problems);
    if (parsed && parsed->kind == Node::Kind::kMap && !problems.has_errors()) {
      move_to(*parsed, given.mark);
      return parsed;
    }
    if (parsed && parsed->kind == Node::Kind::kMap) {
      conversion.refused(given, problems.all().front().text);
      return std::nullopt;
    }
  }
  conversion.refused(given, "must be a map, as in {\"name\": \"value\"}");
  return std::nullopt;
}

std::optional<std::vector<std::string>> as_list(Conversion& conversion, const Given& given) {
  std::optional<Node> list;
  if (given.value.kind == Node::Kind::kList) {
    list = given.value;
  } else if (const std::string text = trimmed(given.text()); text.starts_with('[')) {
    Problems problems("");
    list = parse_yaml(text, problems);
    if (list && list->kind != Node::Kind::kList) list.reset();
  } else if (!text.empty()) {
    return split_at_commas(text);
  }
  std::vector<std::string> items;
  bool is_good = list.has_value();
  for (const Node& item : list ? list->items : std::vector<Node>{}) {
    is_good = is_good && item.kind == Node::Kind::kScalar && !item.is_empty;
    items.push_back(item.scalar);
  }
  if (is_good) return items;
  conversion.refused(given, "must be a list of texts, as in [\"a\", \"b\"]");
  return std::nullopt;
}

std::optional<int64_t> as_count(Conversion& conversion, const Given& given) {
  const auto number = parse_integer(trimmed(given.text()));
  if (number.ok() && *number > 0) return *number;
  conversion.refused(given, "must be a whole number above 0");
  return std::nullopt;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  const auto end_part = [&] {
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
    part.clear();
  };
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth <= 0) {
      end_part();
    } else {
      part += c;
    }
  }
  end_part();
  return parts;
}

std::vector<std::string> partition_fields_as_here(std::vector<std::string> fields) {
  for (std::string& field : fields) {
    const size_t open = field.find('('), comma = field.rfind(',');
    const std::string word = field.substr(0, open);
    if ((word != "bucket" && word != "truncate") || comma == std::string::npos || !field.ends_with(')')) continue;
    const std::string column = trimmed(field.substr(open + 1, comma - open - 1)), number = trimmed(field.substr(comma + 1, field.size() - comma - 2));
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) field = word + "(" + number + ", " + column + ")";
  }
  return fields;
}

std::string variable_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

bool has_reference(const std::string& text) {
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::string_view rest = std::string_view(text).substr(at + 2);
    if (rest.starts_with("env:") || rest.starts_with("file:")) return true;
  }
  return false;
}

std::string keep_references(const std::string& text) {
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("${") && !rest.starts_with("${env:") && !rest.starts_with("${file:")) kept += '$';
    kept += text[i];
  }
  return kept;
}

std::string to_pipeline_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_kept = std::isalnum(byte) != 0 || c == '_' || c == '-';
    name += is_kept ? static_cast<char>(std::tolower(byte)) : '-';
  }
  while (name.size() > 1 && name.front() == '-') name.erase(0, 1);
  constexpr size_t kLongest = 64;
  return name.substr(0, kLongest);
}

}  // namespace frazil::app
