#include "tests/simulation/keeping_file_io.h"

#include "io/memory_file_io.h"

namespace frazil::simulation {

KeepingFileIO::KeepingFileIO() : store_(io::make_memory_file_io()) {}

base::Status KeepingFileIO::find(const std::string& location) const {
  return removed_.contains(location) ? base::not_found(location + " was removed") : base::Status();
}

base::Result<std::unique_ptr<io::OutputFile>> KeepingFileIO::create(const std::string& location) {
  return store_->create(location);
}

base::Result<std::string> KeepingFileIO::read(const std::string& location) {
  TRY(find(location));
  return store_->read(location);
}

base::Result<std::string> KeepingFileIO::read_range(const std::string& location, int64_t offset, int64_t length) {
  TRY(find(location));
  return store_->read_range(location, offset, length);
}

base::Result<io::FileStatus> KeepingFileIO::stat(const std::string& location) {
  TRY(find(location));
  return store_->stat(location);
}

base::Result<std::vector<io::FileStatus>> KeepingFileIO::list(const std::string& prefix) {
  TRY_ASSIGN(std::vector<io::FileStatus> files, store_->list(prefix));
  std::erase_if(files, [&](const io::FileStatus& file) { return removed_.contains(file.location); });
  return files;
}

base::Status KeepingFileIO::remove(const std::string& location) {
  removed_.insert(location);
  return {};
}

}  // namespace frazil::simulation
