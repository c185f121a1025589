// What `decode` says about JSON documents: the parser's options and what happens to records that give no row. Plain
// values.
#pragma once

#include <string>

#include "decoders/columns_config.h"
#include "format/json/json_decoder.h"

namespace frazil::decoders {

// A record that cannot be decoded: kept as a dead letter, the end of the pipeline, or counted and left out.
enum class RejectPolicy { kDeadLetter, kHalt, kSkip };

struct JsonDecoderConfig {
  std::string pipeline;  // for messages
  format::JsonOptions json;
  RejectPolicy on_reject = RejectPolicy::kDeadLetter;
  RejectPolicy tombstone = RejectPolicy::kSkip;
  ColumnsConfig columns;
};

}  // namespace frazil::decoders
