// Random schemas and rows for the tests of this folder: every type, nested ones included, with the values that hurt.
//
// Everything follows from the seed of a Dice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columnar/column.h"

namespace frazil::format {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Uniform enough in [0, bound).
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

std::shared_ptr<const columnar::Schema> random_schema(Dice& dice);
void append_random_row(Dice& dice, columnar::Batch& batch);
// UTF-8 of one to four bytes a code point, the ends of every range included.
std::string random_text(Dice& dice, size_t max_code_points);

// The same value, bit by bit (NaN equals itself, zeros differ by sign).
bool same_value(const columnar::Column& a, int64_t row_a, const columnar::Column& b, int64_t row_b);
// The first row that differs, or -1. Rows of `parts` follow one another.
int64_t first_difference(const std::vector<columnar::Batch>& parts_a, const std::vector<columnar::Batch>& parts_b);

}  // namespace frazil::format
