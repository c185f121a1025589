// The decoder of records whose values are JSON documents: engine's Decoder over format's JsonDecoder, with the policies
// for records that give no row and the columns that do not come from the document. One instance belongs to one reader
// lane.
#pragma once

#include <memory>

#include "base/result.h"
#include "decoders/json/json_decoder_config.h"
#include "engine/decoder.h"

namespace frazil::decoders {

// `rows` is the schema of the table's rows, field for field. kInvalid: a required column that no field can fill.
base::Result<std::unique_ptr<engine::Decoder>> make_json_decoder(JsonDecoderConfig config,
                                                                 std::shared_ptr<const columnar::Schema> rows);

}  // namespace frazil::decoders
