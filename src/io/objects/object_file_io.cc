#include "io/objects/object_file_io.h"

#include <map>
#include <utility>

#include "io/objects/growing_object.h"
#include "io/objects/object_reader.h"
#include "io/objects/object_upload.h"
#include "io/upload_lanes.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

class ObjectFileIO : public FileIO {
 public:
  explicit ObjectFileIO(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {
    const ObjectLimits& limits = store_->limits();
    lanes_ = std::make_shared<UploadLanes>(limits.store + "-upload", limits.lanes, limits.lanes * limits.part_bytes);
  }

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(ObjectAddress at, file_at(location));
    auto upload = std::make_shared<ObjectUpload>(store_, std::move(at));
    return std::unique_ptr<OutputFile>(
        std::make_unique<GrowingObject>(lanes_, std::move(upload), location, store_->limits().part_bytes));
  }
  Result<std::string> read(const std::string& location) override { return read_range(location, 0, INT64_MAX); }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY_ASSIGN(const ObjectAddress at, file_at(location));
    if (offset < 0 || length < 0) return base::invalid("cannot read " + location + ": the range is negative");
    base::Interrupt none;
    return read_object(*store_, at, offset, length, none);
  }
  Result<FileStatus> stat(const std::string& location) override {
    TRY_ASSIGN(const ObjectAddress at, file_at(location));
    base::Interrupt none;
    TRY_ASSIGN(const StoredObject object, store_->look(at, Errand::kWork, none));
    return FileStatus{location, object.bytes, object.modified_millis};
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override;
  Status remove(const std::string& location) override {
    TRY_ASSIGN(const ObjectAddress at, file_at(location));
    base::Interrupt none;
    return store_->remove(at, "", Errand::kWork, none);
  }
  Status remove_all(const std::vector<std::string>& locations) override {
    std::vector<ObjectAddress> objects;
    for (const std::string& location : locations) {
      TRY_ASSIGN(ObjectAddress at, file_at(location));
      objects.push_back(std::move(at));
    }
    return store_->remove_all(objects);
  }

 private:
  Result<ObjectAddress> file_at(const std::string& location) const {
    TRY_ASSIGN(ObjectAddress at, store_->address_of(location));
    if (at.key.empty() || at.key.ends_with('/')) return base::invalid("'" + location + "': names a folder, not a file");
    return at;
  }

  const std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<UploadLanes> lanes_;
};

Result<std::vector<FileStatus>> ObjectFileIO::list(const std::string& prefix) {
  TRY_ASSIGN(const ObjectAddress at, store_->address_of(prefix));
  if (!prefix.ends_with('/')) return base::invalid("'" + prefix + "': a prefix to list must end in '/'");
  const std::string bucket_root = prefix.substr(0, prefix.size() - at.key.size());
  std::map<std::string, FileStatus> found;  // a page may repeat the end of the one before
  std::string next;
  while (true) {
    TRY_ASSIGN(ObjectPage page, store_->list_page(at, next).in("listing " + prefix));
    for (const ObjectPage::Entry& entry : page.entries) {
      if (!entry.key.starts_with(at.key)) {
        return base::corrupt("listing " + prefix + ": the store lists an object that is not below it");
      }
      if (entry.key.ends_with('/')) continue;  // consoles and gateways mark folders with empty objects
      const std::string location = bucket_root + entry.key;
      found[location] = {location, entry.bytes, entry.modified_millis};
    }
    if (page.next.empty()) break;
    if (page.next == next) return base::corrupt("listing " + prefix + ": the store's list does not end");
    next = std::move(page.next);
  }
  std::vector<FileStatus> files;
  for (auto& [location, status] : found) files.push_back(std::move(status));
  return files;
}

}  // namespace

std::shared_ptr<FileIO> make_object_file_io(std::shared_ptr<ObjectStore> store) {
  return std::make_shared<ObjectFileIO>(std::move(store));
}

}  // namespace frazil::io
