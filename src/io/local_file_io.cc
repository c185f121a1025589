#include "io/local_file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "base/random.h"
#include "base/sync.h"
#include "io/location.h"
#include "io/upload_failpoints.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr std::string_view kHiddenPrefix = ".frazil-";
constexpr size_t kBufferBytes = 65'536;
// Folders whose durability is remembered; beyond this number they are forgotten and synced again, which is only slower.
constexpr size_t kRememberedFolders = 8192;

Code code_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kExhausted;
    case EACCES:
    case EPERM:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case EFBIG:
    case EINVAL:
      return Code::kInvalid;
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kExists;
    case EROFS:  // a disk that the system has remounted after an error of it: until somebody makes it writable again
    default:
      return Code::kUnavailable;
  }
}

Error system_error(Code code, const std::string& what, const std::string& path, int error) {
  return Error(code, what + " " + path + ": " + std::generic_category().message(error));
}
Error system_error(const std::string& what, const std::string& path, int error) {
  return system_error(code_of(error), what, path, error);
}

std::string parent_of(const std::string& path) {
  const size_t name_end = path.find_last_not_of('/');
  const size_t slash = name_end == std::string::npos ? std::string::npos : path.find_last_of('/', name_end);
  if (slash == std::string::npos) return "/";
  const size_t parent_end = path.find_last_not_of('/', slash);
  return parent_end == std::string::npos ? "/" : path.substr(0, parent_end + 1);
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }
  int get() const { return value_; }
  bool is_open() const { return value_ >= 0; }

 private:
  int value_;
};

int sync_retrying(const LocalCalls& calls, int descriptor) {
  int failed;
  do {
    failed = calls.sync(descriptor);
  } while (failed != 0 && errno == EINTR);
  // Some file systems cannot sync folders and say EINVAL; their names are as durable as they get.
  return failed != 0 && errno == EINVAL ? 0 : failed;
}

// Makes the names in a folder durable. Returns errno, 0 when done.
int sync_folder(const LocalCalls& calls, const std::string& folder) {
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return errno;
  return sync_retrying(calls, descriptor.get()) == 0 ? 0 : errno;
}

// Makes folders whose own names survive a power cut, and remembers which do.
class FolderMaker {
 public:
  explicit FolderMaker(const LocalCalls& calls) : calls_(calls) {}

  Status ensure(const std::string& folder) {
    if (folder == "/" || is_known(folder)) return {};
    const std::string parent = parent_of(folder);
    TRY(ensure(parent));
    const bool is_new = ::mkdir(folder.c_str(), 0777) == 0;
    const int mkdir_error = errno;
    if (!is_new) {
      struct stat status;
      if (::stat(folder.c_str(), &status) != 0) {
        const Code code = mkdir_error == ENOENT ? Code::kUnavailable : code_of(mkdir_error);
        return system_error(code, "cannot make folder", folder, mkdir_error);
      }
      if (!S_ISDIR(status.st_mode)) return system_error("cannot make folder", folder, ENOTDIR);
    }
    const int error = sync_folder(calls_, parent);
    // A folder that somebody else made may stand in one that we may not open: then its durability is not ours to give.
    if (error != 0 && (is_new || error == EIO)) {
      return system_error(Code::kUnknownOutcome, "cannot make durable the folder", folder, error);
    }
    remember(folder);
    return {};
  }

  void forget() {
    base::Lock lock(mutex_);
    known_.clear();
  }

 private:
  bool is_known(const std::string& folder) {
    base::Lock lock(mutex_);
    return known_.contains(folder);
  }
  void remember(const std::string& folder) {
    base::Lock lock(mutex_);
    if (known_.size() >= kRememberedFolders) known_.clear();
    known_.insert(folder);
  }

  const LocalCalls& calls_;
  base::Mutex mutex_;
  std::set<std::string> known_;
};

class LocalOutputFile : public OutputFile {
 public:
  LocalOutputFile(std::shared_ptr<const LocalCalls> calls, std::string path, std::string hidden_path,
                  Descriptor descriptor)
      : calls_(std::move(calls)),
        path_(std::move(path)),
        hidden_path_(std::move(hidden_path)),
        descriptor_(std::move(descriptor)) {}
  ~LocalOutputFile() override { LocalOutputFile::abort(); }

  Status write(std::string_view bytes) override {
    TRY(state_);
    if (!descriptor_.is_open()) return base::invalid("write to " + path_ + ", which is closed");
    size_ += static_cast<int64_t>(bytes.size());
    if (buffer_.size() + bytes.size() <= kBufferBytes) {
      buffer_.append(bytes);
      return {};
    }
    TRY(flush());
    if (bytes.size() >= kBufferBytes) return write_through(bytes);
    buffer_.assign(bytes);
    return {};
  }

  int64_t size() const override { return size_; }

  Status close() override {
    TRY(state_);
    if (!descriptor_.is_open()) return base::invalid("close of " + path_ + ", which is closed");
    base::io_point();
    state_ = publish();
    abort();
    return state_;
  }

  // After publish() nothing of the hidden name is left, and this only closes.
  void abort() override {
    descriptor_.reset();
    buffer_.clear();
    if (!hidden_path_.empty()) ::unlink(hidden_path_.c_str());
    hidden_path_.clear();
    if (state_.ok() && !is_published_) state_ = Error(Code::kInvalid, path_ + " was given up before it was closed");
  }

 private:
  Status publish() {
    TRY(flush());
    TRY(upload_mid.pass());
    if (sync_retrying(*calls_, descriptor_.get()) != 0) return durability_error(errno);
    if (calls_->publish(hidden_path_, path_) != 0) {
      const int error = errno;
      if (error == EEXIST) return Error(Code::kExists, path_ + " exists already; it was not replaced");
      if (error == EIO) return durability_error(error);
      return system_error(error == ENOENT ? Code::kUnavailable : code_of(error), "cannot name the file", path_, error);
    }
    hidden_path_.clear();
    const int error = sync_folder(*calls_, parent_of(path_));
    if (error != 0) return system_error(Code::kUnknownOutcome, "cannot make durable the name of", path_, error);
    is_published_ = true;
    return upload_after.pass();
  }

  Error durability_error(int error) const {
    const Code code = error == EIO ? Code::kUnknownOutcome : code_of(error);
    return system_error(code, "cannot make durable", path_, error);
  }

  Status flush() {
    const std::string bytes = std::exchange(buffer_, {});
    return write_through(bytes);
  }

  Status write_through(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = calls_->write(descriptor_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return state_ = system_error("cannot write", path_, written < 0 ? errno : ENOSPC);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }

  std::shared_ptr<const LocalCalls> calls_;
  std::string path_;
  std::string hidden_path_;  // empty once it is gone
  Descriptor descriptor_;
  std::string buffer_;
  int64_t size_ = 0;
  bool is_published_ = false;
  Status state_;  // the first failure: everything after it answers the same
};

Result<Descriptor> open_for_reading(const std::string& path, struct stat* status) {
  // O_NONBLOCK: a named pipe must not hold a lane for ever.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) {
    return system_error(errno == ENOTDIR ? Code::kNotFound : code_of(errno), "cannot read", path, errno);
  }
  if (::fstat(descriptor.get(), status) != 0) return system_error("cannot read", path, errno);
  if (!S_ISREG(status->st_mode)) return base::not_found("cannot read " + path + ": it is not a file");
  return descriptor;
}

Result<std::string> read_at(const Descriptor& descriptor, const std::string& path, int64_t offset, int64_t length) {
  std::string bytes(static_cast<size_t>(length), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got =
        ::pread(descriptor.get(), bytes.data() + filled, bytes.size() - filled, offset + static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read", path, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

FileStatus file_status(std::string location, const struct stat& status) {
  return {std::move(location), status.st_size,
          int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000};
}

// One folder's files into `files`, its folders (as suffixes of `prefix`) into `folders`.
Status list_folder(const std::string& root, const std::string& prefix, const std::string& below,
                   std::vector<FileStatus>* files, std::vector<std::string>* folders) {
  const std::string folder = root + below;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
  if (!stream) return errno == ENOENT || errno == ENOTDIR ? Status() : system_error("cannot list", folder, errno);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) return errno == 0 ? Status() : system_error("cannot list", folder, errno);
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name.starts_with(kHiddenPrefix)) continue;
    struct stat status;
    if (::fstatat(::dirfd(stream.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // removed while we read
      return system_error("cannot list", folder + name, errno);
    }
    // Links are not followed: they lead into circles and out of the prefix.
    if (S_ISDIR(status.st_mode)) folders->push_back(below + name + "/");
    if (S_ISREG(status.st_mode)) files->push_back(file_status(prefix + below + name, status));
  }
}

class LocalFileIO : public FileIO {
 public:
  explicit LocalFileIO(LocalCalls calls)
      : calls_(std::make_shared<const LocalCalls>(std::move(calls))), folders_(*calls_) {}

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    base::io_point();
    TRY_ASSIGN(const std::string path, local_path(location));
    if (path.ends_with('/')) return base::invalid("'" + location + "': names a folder, not a file");
    struct stat status;
    TRY(upload_before.pass());
    if (::lstat(path.c_str(), &status) == 0) return Error(Code::kExists, path + " exists already");
    if (errno != ENOENT) return system_error("cannot create", path, errno);
    const std::string folder = parent_of(path);
    const std::string hidden = (folder == "/" ? "" : folder) + "/" + std::string(kHiddenPrefix) + base::random_uuid();
    TRY(folders_.ensure(folder));
    Descriptor descriptor = open_new(hidden);
    if (!descriptor.is_open() && errno == ENOENT) {  // somebody removed a folder that we remembered
      folders_.forget();
      TRY(folders_.ensure(folder));
      descriptor = open_new(hidden);
    }
    if (!descriptor.is_open()) return system_error("cannot create", path, errno);
    return std::unique_ptr<OutputFile>(std::make_unique<LocalOutputFile>(calls_, path, hidden, std::move(descriptor)));
  }

  Result<std::string> read(const std::string& location) override { return read_range(location, 0, INT64_MAX); }

  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    base::io_point();
    TRY_ASSIGN(const std::string path, local_path(location));
    if (offset < 0 || length < 0) return base::invalid("cannot read " + path + ": the range is negative");
    struct stat status;
    TRY_ASSIGN(const Descriptor descriptor, open_for_reading(path, &status));
    if (offset >= status.st_size) return std::string();
    return read_at(descriptor, path, offset, std::min<int64_t>(length, status.st_size - offset));
  }

  Result<FileStatus> stat(const std::string& location) override {
    base::io_point();
    TRY_ASSIGN(const std::string path, local_path(location));
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) {
      return system_error(errno == ENOTDIR ? Code::kNotFound : code_of(errno), "cannot stat", path, errno);
    }
    if (!S_ISREG(status.st_mode)) return base::not_found("cannot stat " + path + ": it is not a file");
    return file_status(location, status);
  }

  Result<std::vector<FileStatus>> list(const std::string& prefix) override {
    base::io_point();
    TRY_ASSIGN(const std::string root, local_path(prefix));
    if (!root.ends_with('/')) return base::invalid("'" + prefix + "': a prefix to list must end in '/'");
    std::vector<FileStatus> files;
    std::vector<std::string> folders = {""};
    while (!folders.empty()) {
      const std::string below = std::move(folders.back());
      folders.pop_back();
      TRY(list_folder(root, prefix, below, &files, &folders));
    }
    std::sort(files.begin(), files.end(),
              [](const FileStatus& a, const FileStatus& b) { return a.location < b.location; });
    return files;
  }

  Status remove(const std::string& location) override {
    base::io_point();
    TRY_ASSIGN(const std::string path, local_path(location));
    if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
    return system_error("cannot remove", path, errno);
  }

 private:
  static Descriptor open_new(const std::string& path) {
    return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  }

  std::shared_ptr<const LocalCalls> calls_;
  FolderMaker folders_;
};

int publish_by_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // The file system lacks that flag; a hard link refuses a taken name as well.
  if (::link(from.c_str(), to.c_str()) != 0) return -1;
  ::unlink(from.c_str());
  return 0;
}

}  // namespace

LocalCalls system_calls() {
  return {.write = [](int descriptor, const void* bytes, size_t count) { return ::write(descriptor, bytes, count); },
          .sync = [](int descriptor) { return ::fsync(descriptor); },
          .publish = publish_by_name};
}

std::shared_ptr<FileIO> make_local_file_io() {
  return make_local_file_io(system_calls());
}
std::shared_ptr<FileIO> make_local_file_io(LocalCalls calls) {
  return std::make_shared<LocalFileIO>(std::move(calls));
}

}  // namespace frazil::io
