// `--accept CODE[=choice]@TOKEN`, and how a halt tells the operator what may be written there. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/halt.h"
#include "base/result.h"
#include "engine/sink.h"

namespace frazil::app {

base::Result<engine::AcceptedChoice> parse_accepted_choice(std::string_view text);
// What is written to take this choice: CODE=choice@TOKEN.
std::string accept_text(const base::Halt& halt, const base::HaltChoice& choice);
// What happened and each choice with the command that takes it; several lines. `socket`: where the process waits for the answer while others of its
// pipelines run; empty: it does not.
std::string describe_halt(const std::string& pipeline, const base::Halt& halt, const std::string& file, const std::string& socket = "");

}  // namespace frazil::app
