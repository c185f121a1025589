// Whether a column is worth a dictionary: judged from the first rows of a file.
//
// Parquet's own fallback tries every value in a hash table until the dictionary is full, which costs more CPU than anything
// else for columns of ids and texts. A few hundred values tell: among n draws of D equally likely values about n²/2D repeat.
// Pure, any thread.
#pragma once

#include "columnar/column.h"

namespace frazil::format {

// True when the sample holds too few values to tell, or repeats as a column of a few thousand values would.
bool wants_dictionary(const columnar::Column& column);

}  // namespace frazil::format
