// LineServer: answers one line of text with one line, over a Unix socket of this machine; ask_line: the client's side of it.
//
// For orders to a running process. The socket's file has mode 0600, and the peer's user (as the kernel tells it, not the client) must be the
// process's own or root: others are sent away unanswered. One request in each connection, ended by a new line, of bounded size; a client that
// is slow loses its connection after a fixed time, and others are served meanwhile. The answers are made on the server's own lane, one after
// the other, so they must not block. A file left by a process that died is replaced, one that somebody listens on is not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::net {

struct LineServerConfig {
  std::string path;  // its folder must exist
  // The line without its end, and the peer's user. What it returns must hold no new line.
  std::function<std::string(std::string_view line, uint32_t user)> answer;
  size_t request_bytes_at_most = 64 << 10;
  int64_t client_ms_at_most = 2'000;  // for the request, and again for its answer
  size_t clients_at_most = 16;        // a further one takes the place of the oldest
};

class LineServer {
 public:
  // Listens when it returns. kExists: another process does on this path; kInvalid: the path cannot be one; kUnavailable: the system refused.
  static base::Result<std::unique_ptr<LineServer>> start(LineServerConfig config);
  // Ends open connections, joins the lane and removes the file.
  ~LineServer();
  const std::string& path() const;

 private:
  class Impl;
  explicit LineServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The answer of the server at `path`. kNotFound: nobody listens there; kUnavailable: no answer within the time, or it was cut off.
base::Result<std::string> ask_line(const std::string& path, std::string_view line, int64_t timeout_ms);

}  // namespace frazil::net
