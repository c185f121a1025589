// The folder of this user in which only its own processes read and write: control sockets, keys. Reads the environment; any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace frazil::app {

// The folder that systemd gives a service ($RUNTIME_DIRECTORY); empty outside of one.
std::string service_folder();
// $XDG_RUNTIME_DIR/frazil, or /tmp/frazil-<uid> where no session gives a folder.
std::string user_folder();
// Makes user_folder(), or sees that it is this user's alone. kUnavailable when it cannot be.
base::Status make_user_folder();

}  // namespace frazil::app
