#include "iceberg/json_view.h"

#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace frazil::iceberg {

using Json = nlohmann::ordered_json;

namespace {

const Json& node_of(const void* node) { return *static_cast<const Json*>(node); }

base::Error missing(const char* key) { return base::corrupt(std::string("JSON member \"") + key + "\" is missing"); }

base::Error mistyped(std::string_view key, const char* expected) {
  return base::corrupt("JSON member \"" + std::string(key) + "\" is not " + expected);
}

base::Result<int64_t> long_of(const Json& node, std::string_view key) {
  if (node.is_number_unsigned() && node.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return mistyped(key, "a 64-bit integer");
  }
  if (!node.is_number_integer()) return mistyped(key, "an integer");
  return node.get<int64_t>();
}

}  // namespace

bool JsonView::is_set() const { return node_ != nullptr && !node_of(node_).is_null(); }
bool JsonView::is_object() const { return node_ != nullptr && node_of(node_).is_object(); }
bool JsonView::is_array() const { return node_ != nullptr && node_of(node_).is_array(); }
bool JsonView::is_string() const { return node_ != nullptr && node_of(node_).is_string(); }

JsonView JsonView::member(const char* key) const {
  if (!is_object()) return JsonView();
  const auto found = node_of(node_).find(key);
  return found == node_of(node_).end() ? JsonView() : JsonView(&*found);
}

base::Result<int64_t> JsonView::long_member(const char* key) const {
  const JsonView found = member(key);
  if (!found.is_set()) return missing(key);
  return long_of(node_of(found.node_), key);
}

base::Result<int32_t> JsonView::int_member(const char* key) const {
  TRY_ASSIGN(const int64_t wide, long_member(key));
  if (wide < INT32_MIN || wide > INT32_MAX) return mistyped(key, "a 32-bit integer");
  return static_cast<int32_t>(wide);
}

base::Result<std::string> JsonView::text_member(const char* key) const {
  const JsonView found = member(key);
  if (!found.is_set()) return missing(key);
  if (!found.is_string()) return mistyped(key, "a string");
  return node_of(found.node_).get<std::string>();
}

base::Result<bool> JsonView::boolean_member(const char* key) const {
  const JsonView found = member(key);
  if (!found.is_set()) return missing(key);
  if (!node_of(found.node_).is_boolean()) return mistyped(key, "true or false");
  return node_of(found.node_).get<bool>();
}

base::Result<std::optional<int64_t>> JsonView::optional_long(const char* key) const {
  if (!member(key).is_set()) return std::optional<int64_t>();
  TRY_ASSIGN(const int64_t value, long_member(key));
  return std::optional<int64_t>(value);
}

base::Result<std::optional<int32_t>> JsonView::optional_int(const char* key) const {
  if (!member(key).is_set()) return std::optional<int32_t>();
  TRY_ASSIGN(const int32_t value, int_member(key));
  return std::optional<int32_t>(value);
}

base::Result<std::vector<JsonView>> JsonView::array_member(const char* key) const {
  const JsonView found = member(key);
  if (!found.is_set()) return std::vector<JsonView>();
  if (!found.is_array()) return mistyped(key, "an array");
  return found.elements();
}

base::Result<std::vector<JsonView>> JsonView::elements() const {
  if (!is_array()) return base::corrupt("JSON value is not an array");
  std::vector<JsonView> result;
  for (const Json& element : node_of(node_)) result.emplace_back(&element);
  return result;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  std::vector<std::pair<std::string, JsonView>> result;
  if (!is_object()) return result;
  for (const auto& [key, value] : node_of(node_).items()) result.emplace_back(key, JsonView(&value));
  return result;
}

base::Result<int64_t> JsonView::as_long() const {
  if (!is_set()) return base::corrupt("JSON value is missing");
  return long_of(node_of(node_), "element");
}

base::Result<std::string> JsonView::as_text() const {
  if (!is_string()) return base::corrupt("JSON value is not a string");
  return node_of(node_).get<std::string>();
}

std::string JsonView::dump() const {
  return node_ == nullptr ? "null" : node_of(node_).dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

constexpr int kDepthMax = 512;

// The parser is happy with any depth, and writing back what it read recurses.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

base::Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  if (is_too_deep(text)) return base::corrupt("JSON is nested too deeply");
  auto node = std::make_shared<const Json>(Json::parse(text, nullptr, false));
  if (node->is_discarded()) return base::corrupt("not valid JSON");
  JsonDocument document;
  document.node_ = std::move(node);
  return document;
}

void JsonText::separate() {
  if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
}

JsonText& JsonText::open(char bracket) {
  separate();
  out_ += bracket;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  out_ += bracket;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  value(name);
  out_ += ':';
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  // JSON is UTF-8, whatever a property or a summary holds.
  if (!base::is_valid_utf8(text)) return value(base::valid_utf8_of(text));
  separate();
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (byte < 0x20) {
      out_ += "\\u00";
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
  return *this;
}

JsonText& JsonText::value(int64_t number) {
  separate();
  out_ += std::to_string(number);
  return *this;
}

JsonText& JsonText::value(bool truth) {
  separate();
  out_ += truth ? "true" : "false";
  return *this;
}

JsonText& JsonText::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace frazil::iceberg
