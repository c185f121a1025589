// The words of the control socket: one JSON object a line, the request and its answer. Pure.
//
//   {"request":"list"}                                            → {"ok":true,"version":"…","pipelines":[{"pipeline":"orders","state":"halted",…}]}
//   {"request":"accept","pipeline":"orders","answer":"CODE=choice@TOKEN"} → {"ok":true,"pipeline":"orders","code":"CODE","choice":"choice","user":"anna"}
//   anything that cannot be done                                   → {"ok":false,"code":"conflict","error":"…"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/control/halt_desk.h"
#include "engine/pipeline_status.h"

namespace frazil::app {

// Answers one line of a client whose name is `user`. `statuses` are those of /status.
std::string answer_control(std::string_view line, const std::string& user, HaltDesk& desk,
                           const std::vector<const engine::PipelineStatus*>& statuses);

// A halt as people and programs are told of it, with what to write for each choice: a JSON object on one line.
std::string halt_to_json(const base::Halt& halt);

std::string list_request();
std::string accept_request(const std::string& pipeline, const std::string& answer);

// The name of a user of this machine, or "uid 1000" where it has none.
std::string name_of_user(uint32_t uid);

}  // namespace frazil::app
