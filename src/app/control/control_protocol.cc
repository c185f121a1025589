#include "app/control/control_protocol.h"

#include <pwd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "app/accepted_choice.h"
#include "app/build_version.h"
#include "base/log.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string refusal(const base::Error& error) {
  return line_of({{"ok", false}, {"code", base::code_name(error.code())}, {"error", error.message()}});
}

std::string text_of(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_string() ? found->get<std::string>() : "";
}

Json json_of(const base::Halt& halt) {
  Json choices = Json::array();
  for (const base::HaltChoice& choice : halt.choices) {
    choices.push_back({{"choice", choice.name}, {"meaning", choice.meaning}, {"accept", accept_text(halt, choice)}});
  }
  return {{"code", halt.code}, {"text", halt.text}, {"range", halt.range}, {"token", halt.token}, {"choices", choices}};
}

std::string list(const HaltDesk& desk, const std::vector<const engine::PipelineStatus*>& statuses) {
  const auto waiting = desk.waiting();
  Json pipelines = Json::array();
  for (const engine::PipelineStatus* status : statuses) {
    const engine::StatusView view = status->view();
    Json one = {{"pipeline", view.pipeline}, {"state", view.state}, {"detail", view.detail}};
    if (const auto halt = waiting.find(view.pipeline); halt != waiting.end()) one["halt"] = json_of(halt->second);
    pipelines.push_back(std::move(one));
  }
  return line_of({{"ok", true}, {"version", kVersion}, {"pipelines", pipelines}});
}

std::string accept(const Json& request, const std::string& user, HaltDesk& desk) {
  const std::string pipeline = text_of(request, "pipeline");
  const auto choice = parse_accepted_choice(text_of(request, "answer"));
  if (!choice.ok()) return refusal(choice.error());
  const auto taken = desk.answer(pipeline, *choice, user);
  if (!taken.ok()) return refusal(taken.error());
  base::log_info("halt_answered", {{"pipeline", pipeline}, {"code", choice->code}, {"choice", *taken}, {"user", user}});
  return line_of({{"ok", true}, {"pipeline", pipeline}, {"code", choice->code}, {"choice", *taken}, {"user", user}});
}

}  // namespace

std::string answer_control(std::string_view line, const std::string& user, HaltDesk& desk,
                           const std::vector<const engine::PipelineStatus*>& statuses) {
  const Json request = Json::parse(line, nullptr, false);
  if (!request.is_object()) return refusal(base::invalid("a request is one JSON object on one line"));
  const std::string kind = text_of(request, "request");
  if (kind == "list") return list(desk, statuses);
  if (kind == "accept") return accept(request, user, desk);
  return refusal(base::invalid("unknown request \"" + kind + "\"; there are: list, accept"));
}

std::string halt_to_json(const base::Halt& halt) { return line_of(json_of(halt)); }

std::string list_request() { return line_of({{"request", "list"}}); }

std::string accept_request(const std::string& pipeline, const std::string& answer) {
  return line_of({{"request", "accept"}, {"pipeline", pipeline}, {"answer", answer}});
}

std::string name_of_user(uint32_t uid) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, text.data(), text.size(), &found) == 0 && found != nullptr) return entry.pw_name;
  return "uid " + std::to_string(uid);
}

}  // namespace frazil::app
