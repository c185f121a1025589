// PropertyReader: values of store properties by name, checked. The first wrong one is kept as the error, so that a store's maker asks for all it needs and
// looks once. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace frazil::io {

class PropertyReader {
 public:
  explicit PropertyReader(const std::map<std::string, std::string>& properties) : properties_(properties) {}
  bool has(const std::string& name) const { return properties_.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  // "true" or "false".
  bool flag(const std::string& name, bool otherwise);
  int64_t number(const std::string& name, int64_t otherwise, int64_t least, int64_t most);
  const base::Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& properties_;
  base::Status status_;
};

}  // namespace frazil::io
