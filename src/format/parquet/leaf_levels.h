// Leaves: what Parquet stores of a schema, and the levels that tell a leaf's nulls and lists apart.
//
// A Parquet file has one column for each primitive field of the schema, in depth-first order. Of a nested column it stores
// the values and, for each entry, a definition level (how many of the optional and repeated ancestors are there) and a
// repetition level (which list goes on). An empty or null list is one entry without a value. A Shredder belongs to one writer
// and keeps its memory between batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"

namespace frazil::format {

// A primitive field of a schema and its place in the file.
struct Leaf {
  int32_t field_id = 0;
  std::string path;  // dotted, for messages
  columnar::Type type = columnar::Type::primitive(columnar::TypeId::kBoolean);
  bool required = false;
  bool in_list_or_map = false;
  int16_t max_definition = 0;
  int16_t max_repetition = 0;
};

// The leaves in the order of the file's columns.
std::vector<Leaf> leaves_of(const columnar::Schema& schema);

// One leaf of one batch. Definition levels are absent when max_definition is 0 or the column's own validity tells them,
// repetition levels when max_repetition is 0.
// The column holds a slot for each entry but those that end at an empty or absent list. Valid inside the visit only.
struct LeafEntries {
  const columnar::Column* column = nullptr;
  int64_t count = 0;
  const int16_t* definition = nullptr;
  const int16_t* repetition = nullptr;
};

// Whether the levels of flat columns are written out or left to the column's validity.
enum class FlatLevels { kWritten, kLeftToColumn };

class Shredder {
 public:
  explicit Shredder(std::shared_ptr<const columnar::Schema> schema, FlatLevels flat_levels = FlatLevels::kWritten);

  using Visit = std::function<base::Status(size_t leaf, const LeafEntries& entries)>;
  // Visits every leaf in order. kInvalid names a required field that holds a null; the error of `visit` ends the walk.
  base::Status shred(const columnar::Batch& batch, const Visit& visit);

 private:
  // Entries on the way down. A row of kEnded marks an entry that met a null or an empty list.
  struct Stream {
    std::vector<int32_t> rows;
    std::vector<int16_t> definition;
    std::vector<int16_t> repetition;
  };
  static constexpr int32_t kEnded = -1;

  base::Status visit_flat(const columnar::Field& field, const columnar::Column& column, const Visit& visit);
  base::Status visit_field(const columnar::Field& field, const columnar::Column& column, Stream stream,
                           int16_t repetition, const Visit& visit);
  base::Status visit_children(const columnar::Field& field, const columnar::Column& column, Stream stream,
                              int16_t repetition, const Visit& visit);
  base::Status visit_leaf(const columnar::Column& column, const Stream& stream, const Visit& visit);
  static base::Status enter_optional(const columnar::Field& field, const columnar::Column& column, Stream& stream);
  static base::Result<Stream> enter_list(const columnar::Field& field, const columnar::Column& column,
                                         const Stream& stream, int16_t repetition);

  std::shared_ptr<const columnar::Schema> schema_;
  std::vector<Leaf> leaves_;
  FlatLevels flat_;
  size_t next_leaf_ = 0;
  std::vector<int16_t> validity_levels_;
  std::vector<int16_t> ones_;
};

}  // namespace frazil::format
