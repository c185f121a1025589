// FileIO: files by URI, as Iceberg needs them: written once, never changed, read whole or in ranges.
//
// Implementations are picked by URI scheme (`file:` and bare absolute paths: local; `memory:`: tests). Frazil writes
// `file:///abs`; `file:/abs` and `/abs` of other writers are read. All functions may be called from any thread; an
// OutputFile belongs to one thread. Every implementation passes tests/conformance/file_io_*.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::io {

// A file while it grows. Nothing is visible under its name before close() has returned ok; after that it is durable
// (bytes and name), so a commit may name it. Destroying it unclosed, or abort(), leaves nothing under the name.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual base::Status write(std::string_view bytes) = 0;
  // Bytes written so far.
  virtual int64_t size() const = 0;
  // Memory that this file holds for bytes that have not left yet.
  virtual int64_t buffered_bytes() const { return 0; }
  // No more bytes will come: what close() needs may begin in the background, so that many files are closed in the time of one. Once, before close().
  virtual void seal() {}
  // kExists when the name was taken meanwhile (nothing is overwritten). kUnknownOutcome when durability is not known.
  virtual base::Status close() = 0;
  virtual void abort() = 0;
};

struct FileStatus {
  std::string location;
  int64_t bytes = 0;
  int64_t modified_millis = 0;
};

class FileIO {
 public:
  virtual ~FileIO() = default;
  // Starts a new file. kExists if the name is taken already; stores that would have to ask for it say so at close(). Folders are
  // made as needed.
  virtual base::Result<std::unique_ptr<OutputFile>> create(const std::string& location) = 0;
  // The whole file. kNotFound when absent.
  virtual base::Result<std::string> read(const std::string& location) = 0;
  // Bytes [offset, offset+length), fewer at the end of the file.
  virtual base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) = 0;
  virtual base::Result<FileStatus> stat(const std::string& location) = 0;
  // All files below a prefix that ends in '/', recursively, sorted by location; unfinished files are not listed.
  virtual base::Result<std::vector<FileStatus>> list(const std::string& prefix) = 0;
  // Removing what is absent is ok.
  virtual base::Status remove(const std::string& location) = 0;
  // Removes many, in few requests where a store can; the first error ends it, with some removed.
  virtual base::Status remove_all(const std::vector<std::string>& locations);
};

// Writes a small file whole: create, write, close.
base::Status write_file(FileIO& io, const std::string& location, std::string_view bytes);

// The FileIO for the scheme of `location`; `root_uri` restricts nothing here. kUnsupported names the scheme.
base::Result<std::shared_ptr<FileIO>> file_io_for(const std::string& location);

}  // namespace frazil::io
