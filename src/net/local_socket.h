// What server and client of a Unix socket share: a descriptor that closes itself, and addresses. Any thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace frazil::net {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// kInvalid: empty, or longer than the kernel takes (107 bytes).
base::Result<sockaddr_un> local_address(const std::string& path);
// A socket that does not block and is not inherited by other programs.
base::Result<Descriptor> local_socket();
// Waits for `events` (poll) until the deadline; false when it has passed.
bool wait_for_events(int descriptor, short events, base::MonoMicros deadline);

}  // namespace frazil::net
