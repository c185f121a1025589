#include "app/config/json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace frazil::app {

base::Status check_json_text(std::string_view text) {
  using Json = nlohmann::ordered_json;
  std::vector<std::set<std::string>> open;  // the keys so far of every object around
  std::string twice;
  const Json::parser_callback_t watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second && twice.empty()) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  const Json document = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (document.is_discarded()) return base::invalid("not JSON");
  if (!twice.empty()) return base::invalid("the key \"" + twice + "\" is there twice in one object");
  return {};
}

}  // namespace frazil::app
