// GcsObjects: single objects of a store: look, read in ranges, list, remove. What FileIO and uploads have in common.
// Any thread; every function blocks for requests. Errors as in io/gcs/gcs_requests.h; kNotFound names the location.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/gcs/gcs_location.h"
#include "io/gcs/gcs_requests.h"

namespace frazil::io {

// What the store says of an object.
struct GcsObject {
  std::string name;
  int64_t bytes = 0;
  int64_t modified_millis = 0;
  std::string checksum;    // CRC32C in base64; the store has one for every object, emulators may lack it
  std::string generation;  // one for each content that the name has ever had
};

// The object resource of an answer. kCorrupt when it is none.
base::Result<GcsObject> read_gcs_object(const std::string& json);

class GcsObjects {
 public:
  explicit GcsObjects(std::shared_ptr<GcsRequests> requests) : requests_(std::move(requests)) {}
  GcsRequests& requests() { return *requests_; }

  base::Result<GcsObject> look(const GcsLocation& at, const std::string& location, base::Interrupt& interrupt,
                               int64_t total_ms = 0);
  // Bytes [offset, offset + length), fewer at the end. Long ranges in several requests, all of the same generation.
  base::Result<std::string> read(const GcsLocation& at, const std::string& location, int64_t offset, int64_t length);
  // All whose names begin with `at.object`, in any order.
  base::Result<std::vector<GcsObject>> list(const GcsLocation& at);
  // What is absent is removed already. With a generation: only that one.
  base::Status remove(const GcsLocation& at, const std::string& location, const std::string& generation,
                      int64_t total_ms, base::Interrupt& interrupt);

 private:
  struct Piece {
    std::string bytes;
    int64_t total = 0;  // of the object
    std::string generation;
  };
  base::Result<Piece> read_piece(const GcsLocation& at, const std::string& location, int64_t offset, int64_t length,
                                 const std::string& generation);

  const std::shared_ptr<GcsRequests> requests_;
};

}  // namespace frazil::io
