// Decoder: raw records → rows. One instance belongs to one reader lane.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"
#include "engine/source.h"

namespace frazil::engine {

// A record that cannot be a row: data for the dead letters, not an error.
struct Rejected {
  size_t record = 0;  // index in the RawBatch
  std::string code;
  std::string message;
  std::string field;
};

struct DecodeCounts {
  int64_t tombstones = 0;       // null values skipped by policy
  int64_t skipped = 0;          // rejected and skipped by policy
  int64_t empty_arrays = 0;     // records that hold no row at all, and no fault
  int64_t unknown_fields = 0;
  int64_t duplicate_keys = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // The rows' schema: field for field that of the target table.
  virtual std::shared_ptr<const columnar::Schema> schema() const = 0;
  // Appends the rows of records [first, last) to `rows`; each record gives all its rows or one entry in `rejects`. Ends early, behind
  // a record with which `rows` has grown by kPieceBytes: few bytes may stand for many rows. Returns the first record that it did
  // not look at, above `first`. An Error (kHalted) when the policy says that a bad record ends the pipeline.
  static constexpr int64_t kPieceBytes = 4LL << 20;
  virtual base::Result<size_t> decode(const RawBatch& raw, size_t first, size_t last, columnar::Batch& rows,
                                      std::vector<Rejected>& rejects, DecodeCounts& counts) = 0;
  // From now on decode() also appends to `records`, for each row that it appends, the index of its record in the RawBatch.
  // Outlives the decoder's use.
  virtual void note_records(std::vector<size_t>& records) = 0;
};

}  // namespace frazil::engine
