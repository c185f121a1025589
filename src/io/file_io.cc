#include "io/file_io.h"

#include "io/local_file_io.h"
#include "io/location.h"
#include "io/memory_file_io.h"

namespace frazil::io {

base::Status write_file(FileIO& io, const std::string& location, std::string_view bytes) {
  TRY_ASSIGN(const std::unique_ptr<OutputFile> file, io.create(location));
  TRY(file->write(bytes));
  return file->close();
}

base::Status FileIO::remove_all(const std::vector<std::string>& locations) {
  for (const std::string& location : locations) TRY(remove(location));
  return {};
}

base::Result<std::shared_ptr<FileIO>> file_io_for(const std::string& location) {
  const std::string scheme = scheme_of(location);
  if (scheme == "memory") {
    // One store for the whole process: who names the same location must find the same file.
    static const std::shared_ptr<FileIO> store = make_memory_file_io();
    return store;
  }
  if (scheme == "file" || scheme.empty()) {
    TRY(local_path(location));
    return make_local_file_io();
  }
  return base::unsupported("'" + location + "': no file store for the scheme '" + scheme + "' (known: file, memory)");
}

}  // namespace frazil::io
