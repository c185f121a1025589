#include "app/control/control_socket.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "app/control/control_protocol.h"
#include "app/control/private_folder.h"
#include "base/log.h"

namespace frazil::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServices = "/run/frazil";  // RuntimeDirectory= of the units

std::string service_socket() {
  const std::string folder = service_folder();
  return folder.empty() ? "" : folder + "/control.sock";
}

// What processes that were killed have left.
void remove_dead_sockets(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().stem().string();
    const bool is_ours = entry->path().extension() == ".sock" && !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (!is_ours || kill(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)), 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove(entry->path(), ignored);
  }
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
  return user_folder() + "/" + std::to_string(getpid()) + ".sock";
}

std::vector<std::string> likely_control_sockets() {
  std::vector<std::string> found;
  if (const std::string service = service_socket(); !service.empty()) found.push_back(service);
  add_sockets(user_folder(), found);
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
  base::Status folder;
  if (is_auto && service_socket().empty()) {
    folder = make_user_folder();
    if (folder.ok()) remove_dead_sockets(user_folder());
  }
  net::LineServerConfig server;
  server.path = path;
  server.answer = [&desk, statuses = std::move(statuses)](std::string_view line, uint32_t user) {
    return answer_control(line, name_of_user(user), desk, statuses);
  };
  auto started = folder.ok() ? net::LineServer::start(std::move(server)) : base::Result<std::unique_ptr<net::LineServer>>(folder.error());
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
