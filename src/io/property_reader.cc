#include "io/property_reader.h"

#include <charconv>

namespace frazil::io {

std::string PropertyReader::text(const std::string& name, const std::string& otherwise) const {
  const auto found = properties_.find(name);
  return found == properties_.end() ? otherwise : found->second;
}

bool PropertyReader::flag(const std::string& name, bool otherwise) {
  const std::string value = text(name, otherwise ? "true" : "false");
  if (value == "true" || value == "false") return value == "true";
  if (status_.ok()) status_ = base::invalid(name + ": '" + value + "' is neither true nor false");
  return otherwise;
}

int64_t PropertyReader::number(const std::string& name, int64_t otherwise, int64_t least, int64_t most) {
  const std::string value = text(name, std::to_string(otherwise));
  int64_t number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  if (is_number && number >= least && number <= most) return number;
  if (status_.ok()) {
    status_ = base::invalid(name + ": '" + value + "' is no number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return otherwise;
}

}  // namespace frazil::io
