#include "app/merge_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/control/private_folder.h"
#include "base/random.h"
#include "net/digest.h"
#include "net/local_socket.h"

namespace frazil::app {
namespace {

constexpr char kName[] = "/merge.key";
constexpr size_t kDigits = 64;

base::Error failed(const std::string& path) {
  return base::Error(errno == ENOENT ? base::Code::kNotFound : base::Code::kUnavailable, path + ": " + std::strerror(errno));
}

std::string new_key() {
  std::string bytes;
  while (bytes.size() < kDigits / 2) {
    const uint64_t more = base::random_u64();
    bytes.append(reinterpret_cast<const char*>(&more), sizeof more);
  }
  return net::hex(bytes);
}

base::Result<std::string> read_key(const std::string& path) {
  const net::Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) return failed(path);
  struct stat found {};
  if (fstat(file.number(), &found) != 0) return failed(path);
  if (!S_ISREG(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 0077) != 0) {
    return base::invalid(path + " is no file that this user alone can read; remove it, and workers make another");
  }
  std::string key(kDigits + 1, '\0');
  key.resize(static_cast<size_t>(std::max<ssize_t>(0, read(file.number(), key.data(), key.size()))));
  if (key.size() != kDigits || key.find_first_not_of("0123456789abcdef") != key.npos) {
    return base::invalid(path + " holds no key; remove it, and workers make another");
  }
  return key;
}

// Whole, or not there: another worker may read it at any moment. Who comes second finds the key of the first.
base::Status make_key(const std::string& path) {
  const std::string draft = path + "." + std::to_string(base::random_u64());
  const net::Descriptor file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return failed(draft);
  const std::string key = new_key();
  const bool is_made = write(file.number(), key.data(), key.size()) == static_cast<ssize_t>(key.size()) &&
                       (link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const base::Status status = is_made ? base::Status() : base::Status(failed(path));
  unlink(draft.c_str());
  return status;
}

}  // namespace

base::Result<std::string> merge_key_in(const std::string& folder) {
  const std::string path = folder + kName;
  base::Result<std::string> key = read_key(path);
  if (key.ok() || key.error().code() != base::Code::kNotFound) return key;
  TRY(make_key(path));
  return read_key(path);
}

base::Result<std::string> merge_key_of_user() {
  if (const std::string folder = service_folder(); !folder.empty()) return merge_key_in(folder);
  TRY(make_user_folder());
  return merge_key_in(user_folder());
}

std::string epoch_proof(std::string_view key, std::string_view epoch) {
  return "Frazil " + net::hex(net::hmac_sha256(key, "epoch\n" + std::string(epoch)));
}

std::string verdict_proof(std::string_view key, std::string_view epoch_proof, std::string_view verdict) {
  return net::hex(net::hmac_sha256(key, "verdict\n" + std::string(epoch_proof) + "\n" + std::string(verdict)));
}

}  // namespace frazil::app
