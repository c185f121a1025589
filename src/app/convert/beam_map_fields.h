// Beam's MapToFields where it only keeps, drops and renames: `table.columns` says the same. Pure; any thread.
#pragma once

#include "app/convert/beam_pipeline.h"
#include "app/convert/conversion.h"

namespace frazil::app {

// Refuses, by name, expressions that are no field of the record, and a field that becomes two columns. `has_columns`: the draft
// names columns already, and one such selection is all there can be.
void translate_map_fields(Conversion& conversion, const BeamTransform& transform, bool has_columns);

}  // namespace frazil::app
