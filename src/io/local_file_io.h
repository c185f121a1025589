// FileIO on the local file system.
//
// A file grows under a hidden name (".frazil-<uuid>") in its own folder. close() makes its bytes durable, gives it its
// name without ever replacing another file, and makes the name durable (the folder, and each folder above it that is
// new to this process: another process may have made it and not be done). A killed process leaves hidden files, which
// list() never shows. Any thread. Errors name the path and the system's reason:
//   kExhausted    no space, no quota, no file descriptors      kInvalid   permission, read-only, a name too long
//   kUnavailable  the device failed while reading              kUnknownOutcome  it failed while making something
//   durable
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "io/file_io.h"

namespace frazil::io {

// What the operating system does for a growing file: a seam, so that tests can let it fail. Results and errno as in
// POSIX.
struct LocalCalls {
  std::function<ssize_t(int descriptor, const void* bytes, size_t count)> write;
  std::function<int(int descriptor)> sync;
  // Gives `from` the name `to`; EEXIST when that name is taken.
  std::function<int(const std::string& from, const std::string& to)> publish;
};
LocalCalls system_calls();

std::shared_ptr<FileIO> make_local_file_io();
std::shared_ptr<FileIO> make_local_file_io(LocalCalls calls);

}  // namespace frazil::io
