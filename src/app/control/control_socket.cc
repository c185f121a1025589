#include "app/control/control_socket.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/control/control_protocol.h"
#include "base/log.h"

namespace frazil::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServices = "/run/frazil";  // RuntimeDirectory= of the units

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// systemd separates several folders by colons.
std::string service_socket() {
  const std::string folders = environment("RUNTIME_DIRECTORY");
  return folders.empty() ? "" : folders.substr(0, folders.find(':')) + "/control.sock";
}

std::string user_folder() {
  const std::string folder = environment("XDG_RUNTIME_DIR");
  return folder.empty() ? "" : folder + "/frazil";
}

void add_sockets(const fs::path& folder, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".sock" && entry->is_socket(error)) found.push_back(entry->path());
  }
}

}  // namespace

std::string default_control_socket() {
  if (const std::string service = service_socket(); !service.empty()) return service;
  const std::string folder = user_folder();
  return folder.empty() ? "" : folder + "/" + std::to_string(getpid()) + ".sock";
}

std::vector<std::string> likely_control_sockets() {
  std::vector<std::string> found;
  if (const std::string service = service_socket(); !service.empty()) found.push_back(service);
  if (const std::string folder = user_folder(); !folder.empty()) add_sockets(folder, found);
  std::error_code error;
  for (fs::directory_iterator entry(kServices, error), end; !error && entry != end; entry.increment(error)) add_sockets(entry->path(), found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

base::Result<std::unique_ptr<net::LineServer>> start_control_socket(const ProcessConfig& config, HaltDesk& desk,
                                                                    std::vector<const engine::PipelineStatus*> statuses) {
  const bool is_auto = config.control_socket == "auto";
  const std::string path = is_auto ? default_control_socket() : config.control_socket;
  if (path.empty()) return std::unique_ptr<net::LineServer>();
  if (is_auto && service_socket().empty()) {
    std::error_code error;
    fs::create_directory(user_folder(), error);
    if (!error) fs::permissions(user_folder(), fs::perms::owner_all, error);
  }
  net::LineServerConfig server;
  server.path = path;
  server.answer = [&desk, statuses = std::move(statuses)](std::string_view line, uint32_t user) {
    return answer_control(line, name_of_user(user), desk, statuses);
  };
  auto started = net::LineServer::start(std::move(server));
  if (started.ok()) {
    base::log_info("control socket listens", {{"path", path}});
    return started;
  }
  if (!is_auto) return std::move(started).in("control.socket");
  base::log_warn("control_socket_missing", {{"why", started.error().message()},
                                            {"then", "halts are answered by `frazil run --accept` alone"}});
  return std::unique_ptr<net::LineServer>();
}

}  // namespace frazil::app
