#include "net/local_socket.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace frazil::net {

base::Result<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos) {
    return base::invalid("\"" + path + "\" cannot be the path of a socket: 1 to " + std::to_string(sizeof address.sun_path - 1) +
                         " bytes are allowed");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

base::Result<Descriptor> local_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) return base::unavailable(std::string("no socket: ") + std::strerror(errno));
  return made;
}

bool wait_for_events(int descriptor, short events, base::MonoMicros deadline) {
  while (true) {
    const base::MonoMicros now = base::mono_micros();
    if (now >= deadline) return false;
    pollfd waited{descriptor, events, 0};
    const int64_t wait_ms = std::min<int64_t>((deadline - now) / 1000 + 1, INT_MAX);
    if (poll(&waited, 1, static_cast<int>(wait_ms)) > 0) return true;
  }
}

}  // namespace frazil::net
