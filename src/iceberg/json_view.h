// JsonDocument and JsonView: typed reading of foreign JSON, where every wrong type is an error that names the member.
// JsonText: writing JSON in a chosen order. Both keep 64-bit integers exactly. A view lives as long as its document.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::iceberg {

// One value of a document. Errors are kCorrupt.
class JsonView {
 public:
  explicit JsonView(const void* node = nullptr) : node_(node) {}

  // False for a member that does not exist, and for null.
  bool is_set() const;
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;

  // The member, or an unset view. Reading an unset view is an error that names `key`.
  JsonView member(const char* key) const;
  base::Result<int64_t> long_member(const char* key) const;
  base::Result<int32_t> int_member(const char* key) const;
  base::Result<std::string> text_member(const char* key) const;
  base::Result<bool> boolean_member(const char* key) const;
  // nullopt when absent or null.
  base::Result<std::optional<int64_t>> optional_long(const char* key) const;
  base::Result<std::optional<int32_t>> optional_int(const char* key) const;
  // Elements of an array member; absent or null: none.
  base::Result<std::vector<JsonView>> array_member(const char* key) const;

  base::Result<std::vector<JsonView>> elements() const;
  // Members of an object, in the document's order.
  std::vector<std::pair<std::string, JsonView>> members() const;
  base::Result<int64_t> as_long() const;
  base::Result<std::string> as_text() const;
  std::string dump() const;

 private:
  const void* node_;
};

class JsonDocument {
 public:
  static base::Result<JsonDocument> parse(std::string_view text);
  JsonView root() const { return JsonView(node_.get()); }

 private:
  std::shared_ptr<const void> node_;
};

// Appends JSON; the caller opens and closes in order, commas come by themselves.
class JsonText {
 public:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  JsonText& key(std::string_view name);
  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(const std::string& text) { return value(std::string_view(text)); }
  JsonText& value(int64_t number);
  JsonText& value(int32_t number) { return value(int64_t{number}); }
  JsonText& value(bool truth);
  // JSON text as it is.
  JsonText& raw(std::string_view json);
  std::string take() { return std::move(out_); }

 private:
  void separate();
  std::string out_;
};

}  // namespace frazil::iceberg
