// One FileIO over many stores: picks by scheme, and by the longest prefix where a catalog has vended credentials for tables.
//
// Stores of a scheme are made at first use from the default properties. Any thread.
#pragma once

#include <memory>
#include <string>

#include "io/file_io.h"
#include "io/store_properties.h"

namespace frazil::io {

class SchemeFileIO : public FileIO {
 public:
  // From now on files below `prefix` (such as "s3://lake/db/orders") are reached with these properties over the default ones. Setting the same
  // prefix and properties again keeps the store as it is. Open files keep the store that they were made with.
  virtual base::Status set_prefix(const std::string& prefix, const StoreProperties& properties, RenewProperties renew) = 0;
};

// `allowed_roots`: where local files may lie (io/rooted_file_io.h); empty: nowhere when `local_is_restricted`, else everywhere.
struct SchemeFileIOConfig {
  StoreProperties properties;
  StoreOptions options;
  bool local_is_restricted = false;
  std::vector<std::string> allowed_roots;
  // memory: keeps files only as long as this process: nobody but a catalog of that kind may put a table there.
  bool has_memory = false;
};
std::shared_ptr<SchemeFileIO> make_scheme_file_io(SchemeFileIOConfig config);

}  // namespace frazil::io
