// S3Objects: single objects of a store: look, read in ranges, compare, remove. What FileIO and uploads have in common.
// Any thread; every function blocks for requests. Errors as in io/s3/s3_requests.h; kNotFound names the location.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/sync.h"
#include "io/file_io.h"
#include "io/s3/s3_requests.h"

namespace frazil::io {

// A file's name, and where it is in the store.
struct S3File {
  S3Location target;
  std::string location;
};

// What a store says of an object.
struct S3Object {
  int64_t bytes = 0;
  int64_t modified_millis = 0;
  std::string checksum;  // CRC32C as the store reports it; may be empty
};

// What a file's bytes are, as far as a store can tell: sizes and checksums of its parts (one, when it was put whole).
struct S3Digest {
  struct Piece {
    int64_t bytes = 0;
    uint32_t checksum = 0;
  };
  std::vector<Piece> pieces;
  int64_t bytes() const;
  // As the store reports it: "<base64>", or "<base64>-<parts>" of an upload in parts.
  std::string text() const;
  // Whether the object has these checksums; nothing when the store reports none, or one of another form.
  std::optional<bool> agrees_with(const S3Object& object) const;
  bool is_in_parts = false;
};

class S3Objects {
 public:
  explicit S3Objects(std::shared_ptr<S3Requests> requests);
  S3Requests& requests() { return *requests_; }

  // An object that was written through here and is not found is asked for again for some seconds: some stores know a new name late.
  base::Result<S3Object> look(const S3File& file, base::Interrupt& interrupt,
                              int64_t total_ms = 0);
  // Bytes [offset, offset + length), fewer at the end. Long ranges in several requests, all of the same version of the object.
  base::Result<std::string> read(const S3File& file, int64_t offset, int64_t length,
                                 base::Interrupt& interrupt);
  // True when the object has these bytes: by its checksum, or read back when the store reports none that can be compared.
  base::Result<bool> matches(const S3File& file, const S3Digest& digest, base::Interrupt& interrupt);
  // What is absent is removed already.
  base::Status remove(const S3File& file, int64_t total_ms, base::Interrupt& interrupt);

  void remember(const std::string& location);
  void forget(const std::string& location);

 private:
  struct Piece {
    std::string bytes;
    int64_t total = 0;  // of the object
    std::string etag;
  };
  base::Result<S3Answer> send_until_found(const S3Request& request, const std::string& location, base::Interrupt& interrupt);
  base::Result<Piece> read_piece(const S3File& file, int64_t offset, int64_t length,
                                 const std::string& etag, base::Interrupt& interrupt);
  base::Result<bool> reads_back(const S3File& file, const S3Digest& digest,
                                base::Interrupt& interrupt);
  bool is_remembered(const std::string& location);

  const std::shared_ptr<S3Requests> requests_;
  base::Mutex mutex_;
  std::unordered_set<std::string> written_;  // the newest of them
  std::deque<std::string> order_;
};

}  // namespace frazil::io
