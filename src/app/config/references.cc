#include "app/config/references.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace frazil::app {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

std::optional<std::string> read_secret_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content(kMaxFileBytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad()) return std::nullopt;
  content.resize(static_cast<size_t>(file.gcount()));
  if (content.ends_with('\n')) content.pop_back();
  if (content.ends_with('\r')) content.pop_back();
  return content;
}

// Replaces one reference, "env:NAME" or "file:/path".
base::Status append_reference(std::string_view reference, const std::string& folder, Resolved& resolved) {
  const size_t colon = reference.find(':');
  const std::string_view kind = reference.substr(0, colon);
  const std::string name(colon == std::string_view::npos ? "" : reference.substr(colon + 1));
  if (name.empty() || (kind != "env" && kind != "file")) {
    return base::invalid("a reference has the form ${env:NAME} or ${file:/path}");
  }
  resolved.has_reference = true;
  if (kind == "env") {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) {
      resolved.missing.push_back("environment variable " + name + " is not set");
    } else {
      resolved.text += value;
    }
    return {};
  }
  const std::filesystem::path path = std::filesystem::path(name).is_absolute() ? name : folder + "/" + name;
  if (const auto content = read_secret_file(path)) {
    resolved.text += *content;
  } else {
    resolved.missing.push_back("file " + path.string() + " cannot be read");
  }
  return {};
}

}  // namespace

base::Result<Resolved> resolve_references(std::string_view text, const std::string& folder) {
  Resolved resolved;
  while (!text.empty()) {
    const size_t at = text.find("${");
    if (at == std::string_view::npos) break;
    if (at > 0 && text[at - 1] == '$') {
      resolved.text += text.substr(0, at - 1);
      resolved.text += "${";
      resolved.plain += text.substr(0, at - 1);
      resolved.plain += "${";
      text.remove_prefix(at + 2);
      continue;
    }
    resolved.text += text.substr(0, at);
    resolved.plain += text.substr(0, at);
    const size_t end = text.find('}', at);
    if (end == std::string_view::npos) return base::invalid("a reference has the form ${env:NAME} or ${file:/path}");
    TRY(append_reference(text.substr(at + 2, end - at - 2), folder, resolved));
    text.remove_prefix(end + 1);
  }
  resolved.text += text;
  resolved.plain += text;
  return resolved;
}

bool is_all_by_reference(const Resolved& resolved, std::string_view option) {
  if (!resolved.has_reference) return false;
  std::string_view plain = resolved.plain;
  // "id:secret": the id is a name, and the colon may stand between two references.
  const bool is_pair = option == "credential" || option.ends_with(".credential");
  return plain.empty() || (is_pair && plain.find(':') == plain.size() - 1);
}

}  // namespace frazil::app
