// Where the control socket of a process is, and the server on it. Owned by the run; see control_protocol.h for what is said.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"
#include "app/control/halt_desk.h"
#include "base/result.h"
#include "engine/pipeline_status.h"
#include "net/line_server.h"

namespace frazil::app {

// `control.socket: auto`: control.sock in the folder that systemd gives a service ($RUNTIME_DIRECTORY), else <pid>.sock in
// $XDG_RUNTIME_DIR/frazil, or in /tmp/frazil-<uid>, which only this user may enter.
std::string default_control_socket();
// Sockets that a client may try when it was given none: those of its own environment, and those of services in /run/frazil.
std::vector<std::string> likely_control_sockets();

// Nothing when it is off, or `auto` cannot have its place (logged). A path that was set and cannot be used is an error; `auto` warns and goes on without.
// `desk` and `statuses` outlive the server.
base::Result<std::unique_ptr<net::LineServer>> start_control_socket(const ProcessConfig& config, HaltDesk& desk,
                                                                    std::vector<const engine::PipelineStatus*> statuses);

}  // namespace frazil::app
