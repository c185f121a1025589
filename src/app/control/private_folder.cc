#include "app/control/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace frazil::app {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Error failed(const std::string& folder) { return base::unavailable(folder + ": " + std::strerror(errno)); }

}  // namespace

// systemd separates several folders by colons.
std::string service_folder() {
  const std::string folders = environment("RUNTIME_DIRECTORY");
  return folders.substr(0, folders.find(':'));
}

std::string user_folder() {
  const std::string folder = environment("XDG_RUNTIME_DIR");
  return folder.empty() ? "/tmp/frazil-" + std::to_string(geteuid()) : folder + "/frazil";
}

// /tmp is a place where others may have been first.
base::Status make_user_folder() {
  const std::string folder = user_folder();
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(folder);
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return failed(folder);
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid()) return base::unavailable(folder + " is no folder of this user");
  if ((found.st_mode & 0077) != 0 && chmod(folder.c_str(), 0700) != 0) return failed(folder);
  return {};
}

}  // namespace frazil::app
