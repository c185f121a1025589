// AvroDecoder: reads values in Avro's binary form from foreign bytes. Trusts no length.
//
// The first failure sticks: later reads give zeros and ok() stays false, so callers check once a record. Loops over blocks
// end on failure. One thread at a time; views point into the bytes given.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "format/avro/avro_schema.h"

namespace frazil::format {

class AvroDecoder {
 public:
  explicit AvroDecoder(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return failure_ == nullptr; }
  // kCorrupt with the reason and the offset.
  base::Status status() const;
  size_t position() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }

  bool read_boolean();
  int64_t read_long();
  // kCorrupt outside 32 bits.
  int32_t read_int();
  float read_float();
  double read_double();
  std::string_view read_bytes();
  std::string_view read_fixed(int64_t size);
  // A union's branch: below `count`, or failure (and 0).
  int64_t read_branch(size_t count);
  // The count of an array's or map's next block, 0 at its end and on failure. Items that take no bytes are limited over the
  // decoder's whole life, so a few bytes cannot keep a reader busy for ever.
  int64_t read_block();
  // Reads over a value of that schema.
  void skip(const AvroNode& node) { skip(node, 0); }
  void fail(const char* reason);

 private:
  void skip(const AvroNode& node, int depth);
  void skip_blocks(const AvroNode& node, int depth);
  size_t left() const { return bytes_.size() - at_; }

  std::string_view bytes_;
  size_t at_ = 0;
  const char* failure_ = nullptr;
  size_t failed_at_ = 0;
  int64_t items_ = 0;  // announced by blocks so far
  int64_t steps_ = 0;  // values skipped so far
};

}  // namespace frazil::format
