#include "io/location.h"

#include <algorithm>
#include <cctype>

namespace frazil::io {

using base::Result;

std::string scheme_of(std::string_view location) {
  const size_t colon = location.find(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  std::string scheme;
  for (char c : location.substr(0, colon)) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '+' && c != '-' && c != '.') return "";
    scheme += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::isalpha(static_cast<unsigned char>(scheme[0])) ? scheme : "";
}

Result<std::string> local_path(std::string_view location) {
  const std::string text(location);
  if (location.find('\0') != std::string_view::npos) {
    return base::invalid("'" + text.substr(0, text.find('\0')) + "…': a location cannot contain a zero byte");
  }
  if (location.starts_with('/')) return text;
  const std::string scheme = scheme_of(location);
  if (scheme.empty()) return base::invalid("'" + text + "': a location must be absolute, for example file:///" + text);
  if (scheme != "file") return base::unsupported("'" + text + "': scheme '" + scheme + "' does not name a local file");
  std::string_view rest = location.substr(5);
  if (rest.starts_with("//")) {
    const size_t slash = rest.find('/', 2);
    const std::string_view host = rest.substr(2, slash == std::string_view::npos ? rest.npos : slash - 2);
    if (!host.empty() && host != "localhost") {
      return base::invalid("'" + text + "': names the host '" + std::string(host) + "'; local files are file:///path");
    }
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  }
  if (!rest.starts_with('/')) return base::invalid("'" + text + "': a local location is file:/// and an absolute path");
  return std::string(rest);
}

std::string canonical_location(std::string_view location) {
  std::string canonical(location);
  const std::string scheme = scheme_of(location);
  if (scheme == "file" || location.starts_with('/')) {
    const Result<std::string> path = local_path(location);
    if (!path.ok()) return canonical;
    canonical = *path;
    canonical.erase(0, canonical.find_first_not_of('/'));
    canonical = "file:///" + (canonical.find_first_not_of('/') == std::string::npos ? "" : canonical);
  }
  const size_t scheme_end = canonical.find("://");
  const size_t keep = scheme_end == std::string::npos ? 1 : scheme_end + 4;
  while (canonical.size() > keep && canonical.ends_with('/')) canonical.pop_back();
  return canonical;
}

bool has_dot_parts(std::string_view path) {
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part == "." || part == "..") return true;
    start = end + 1;
  }
  return false;
}

}  // namespace frazil::io
