// Whether a column is worth a dictionary: judged from the first rows of a file.
//
// Parquet's own fallback tries every value in a hash table until the dictionary is full, which costs more CPU than anything
// else for columns of ids and texts. A few hundred values tell: among n draws of D equally likely values about n²/2D repeat.
// Pure, any thread.
#pragma once

#include <cstdint>

#include "columnar/column.h"

namespace frazil::format {

// Values that are looked at, and how many of them it takes to tell.
inline constexpr int64_t kDictionarySample = 512;
inline constexpr int64_t kMinDictionarySample = 48;

// Whether `sampled` values of which `repeats` had come before are worth a dictionary.
bool repeats_enough(int64_t sampled, int64_t repeats);

// True when the sample holds too few values to tell, or repeats as a column of a few thousand values would.
bool wants_dictionary(const columnar::Column& column);

}  // namespace frazil::format
