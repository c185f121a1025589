#include "io/memory_file_io.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/sync.h"
#include "io/location.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

struct StoredFile {
  std::shared_ptr<const std::string> bytes;
  int64_t modified_millis = 0;
};

// The files by location. Shared by the FileIO and the files that still grow.
class Store {
 public:
  bool contains(const std::string& location) {
    base::Lock lock(mutex_);
    return files_.contains(location);
  }
  // False when the name is taken.
  bool insert(const std::string& location, StoredFile file) {
    base::Lock lock(mutex_);
    return files_.emplace(location, std::move(file)).second;
  }
  Result<StoredFile> find(const std::string& location) {
    base::Lock lock(mutex_);
    const auto found = files_.find(location);
    if (found == files_.end()) return base::not_found("cannot read " + location + ": no such file");
    return found->second;
  }
  std::vector<FileStatus> below(const std::string& prefix) {
    base::Lock lock(mutex_);
    std::vector<FileStatus> found;
    for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix); ++it) {
      found.push_back({it->first, static_cast<int64_t>(it->second.bytes->size()), it->second.modified_millis});
    }
    return found;
  }
  void erase(const std::string& location) {
    base::Lock lock(mutex_);
    files_.erase(location);
  }

 private:
  base::Mutex mutex_;
  std::map<std::string, StoredFile> files_;
};

class MemoryOutputFile : public OutputFile {
 public:
  MemoryOutputFile(std::shared_ptr<Store> store, std::string location)
      : store_(std::move(store)), location_(std::move(location)) {}

  Status write(std::string_view bytes) override {
    TRY(state_);
    bytes_.append(bytes);
    return {};
  }
  int64_t size() const override { return size_ >= 0 ? size_ : static_cast<int64_t>(bytes_.size()); }
  Status close() override {
    TRY(state_);
    base::io_point();
    size_ = size();
    auto bytes = std::make_shared<const std::string>(std::exchange(bytes_, {}));
    const bool is_new = store_->insert(location_, {std::move(bytes), base::wall_millis()});
    state_ = base::invalid(location_ + " is closed");
    return is_new ? Status() : Error(Code::kExists, location_ + " exists already; it was not replaced");
  }
  void abort() override {
    size_ = size();
    bytes_.clear();
    if (state_.ok()) state_ = base::invalid(location_ + " was given up before it was closed");
  }

 private:
  std::shared_ptr<Store> store_;
  std::string location_;
  std::string bytes_;
  int64_t size_ = -1;  // set once the bytes are gone
  Status state_;
};

class MemoryFileIO : public FileIO {
 public:
  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    base::io_point();
    TRY(check_scheme(location));
    if (location.ends_with('/')) return base::invalid("'" + location + "': names a folder, not a file");
    if (store_->contains(location)) return Error(Code::kExists, location + " exists already");
    return std::unique_ptr<OutputFile>(std::make_unique<MemoryOutputFile>(store_, location));
  }
  Result<std::string> read(const std::string& location) override { return read_range(location, 0, INT64_MAX); }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    base::io_point();
    TRY(check_scheme(location));
    if (offset < 0 || length < 0) return base::invalid("cannot read " + location + ": the range is negative");
    TRY_ASSIGN(const StoredFile file, store_->find(location));
    if (static_cast<size_t>(offset) >= file.bytes->size()) return std::string();
    return file.bytes->substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  }
  Result<FileStatus> stat(const std::string& location) override {
    base::io_point();
    TRY(check_scheme(location));
    TRY_ASSIGN(const StoredFile file, store_->find(location));
    return FileStatus{location, static_cast<int64_t>(file.bytes->size()), file.modified_millis};
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override {
    base::io_point();
    TRY(check_scheme(prefix));
    if (!prefix.ends_with('/')) return base::invalid("'" + prefix + "': a prefix to list must end in '/'");
    return store_->below(prefix);
  }
  Status remove(const std::string& location) override {
    base::io_point();
    TRY(check_scheme(location));
    store_->erase(location);
    return {};
  }

 private:
  static Status check_scheme(const std::string& location) {
    if (scheme_of(location) == "memory") return {};
    return base::unsupported("'" + location + "': the memory store holds memory:// locations only");
  }

  std::shared_ptr<Store> store_ = std::make_shared<Store>();
};

}  // namespace

std::shared_ptr<FileIO> make_memory_file_io() {
  return std::make_shared<MemoryFileIO>();
}

}  // namespace frazil::io
