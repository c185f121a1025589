// KeepingFileIO: a store in memory that only pretends to remove files, so that the oracle can still read what a past state named,
// and can tell when something was removed that a later state names. Removing never hands on the token: catalogs remove old
// metadata right after their swap, and the record of states must follow without a gap. Holder of the token.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/file_io.h"

namespace frazil::simulation {

class KeepingFileIO : public io::FileIO {
 public:
  KeepingFileIO();
  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override;
  base::Result<std::string> read(const std::string& location) override;
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override;
  base::Result<io::FileStatus> stat(const std::string& location) override;
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override;
  base::Status remove(const std::string& location) override;

  // Every file that was ever closed.
  std::shared_ptr<io::FileIO> everything() const { return store_; }
  size_t removed() const { return removed_.size(); }

 private:
  base::Status find(const std::string& location) const;

  const std::shared_ptr<io::FileIO> store_;
  std::set<std::string> removed_;
};

}  // namespace frazil::simulation
