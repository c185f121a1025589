#include "io/rooted_file_io.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/location.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

// `path` with links resolved as far as it exists; what does not exist yet is appended as it stands.
Result<std::string> resolve(const std::string& path) {
  std::string existing = path;
  std::string rest;
  char resolved[PATH_MAX] = "/";
  while (::realpath(existing.empty() ? "/" : existing.c_str(), resolved) == nullptr) {
    if (errno != ENOENT && errno != ENOTDIR)
      return base::invalid("cannot resolve " + path + ": " + std::generic_category().message(errno));
    if (existing.empty()) break;
    const size_t slash = existing.find_last_of('/');
    rest = existing.substr(slash) + rest;
    existing.erase(slash);
  }
  const std::string base = std::strcmp(resolved, "/") == 0 ? "" : resolved;
  return base + rest;
}

bool is_below(const std::string& path, std::string root) {
  while (root.ends_with('/')) root.pop_back();
  return path == root || path.starts_with(root + "/");
}

class RootedFileIO : public FileIO {
 public:
  RootedFileIO(std::shared_ptr<FileIO> inner, std::vector<std::string> roots)
      : inner_(std::move(inner)), roots_(std::move(roots)) {}

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    TRY(admit(location));
    return inner_->create(location);
  }
  Result<std::string> read(const std::string& location) override {
    TRY(admit(location));
    return inner_->read(location);
  }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY(admit(location));
    return inner_->read_range(location, offset, length);
  }
  Result<FileStatus> stat(const std::string& location) override {
    TRY(admit(location));
    return inner_->stat(location);
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override {
    TRY(admit(prefix));
    return inner_->list(prefix);
  }
  Status remove(const std::string& location) override {
    TRY(admit(location));
    return inner_->remove(location);
  }

 private:
  static bool is_local(const std::string& location) {
    return location.starts_with('/') || scheme_of(location) == "file";
  }

  Status admit(const std::string& location) {
    if (has_dot_parts(location)) return base::invalid("'" + location + "': '.' and '..' are not accepted in locations");
    std::string path = location;
    if (is_local(location)) {
      TRY_ASSIGN(const std::string unresolved, local_path(location));
      TRY_ASSIGN(path, resolve(unresolved));
    }
    for (const std::string& root : roots_) {
      if (is_local(root) != is_local(location)) continue;
      if (!is_local(root) && is_below(path, root)) return {};
      if (is_local(root)) {
        TRY_ASSIGN(const std::string unresolved, local_path(root));
        TRY_ASSIGN(const std::string resolved, resolve(unresolved));
        if (is_below(path, resolved)) return {};
      }
    }
    return refusal(location, path);
  }

  Status refusal(const std::string& location, const std::string& path) const {
    std::string roots;
    for (const std::string& root : roots_) roots += (roots.empty() ? "" : ", ") + root;
    const std::string found = path == location ? "" : " (it is " + path + ")";
    return base::invalid("'" + location + "'" + found + " lies outside of the folders that may be used: " +
                         (roots.empty() ? "none" : roots) + "; add its folder to files.allowed_roots to accept it");
  }

  std::shared_ptr<FileIO> inner_;
  std::vector<std::string> roots_;
};

}  // namespace

std::shared_ptr<FileIO> make_rooted_file_io(std::shared_ptr<FileIO> inner, std::vector<std::string> roots) {
  return std::make_shared<RootedFileIO>(std::move(inner), std::move(roots));
}

}  // namespace frazil::io
