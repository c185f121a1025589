#include "app/accepted_choice.h"

#include <algorithm>

namespace frazil::app {

base::Result<engine::AcceptedChoice> parse_accepted_choice(std::string_view text) {
  const size_t at = text.rfind('@');
  const size_t equals = text.substr(0, at).find('=');
  engine::AcceptedChoice accepted;
  if (at != std::string_view::npos) {
    accepted.token = text.substr(at + 1);
    accepted.code = text.substr(0, std::min(equals, at));
    if (equals != std::string_view::npos) accepted.choice = text.substr(equals + 1, at - equals - 1);
  }
  const bool has_empty_choice = equals != std::string_view::npos && accepted.choice.empty();
  if (accepted.code.empty() || accepted.token.empty() || has_empty_choice) {
    return base::invalid("--accept \"" + std::string(text) +
                         "\": write CODE@TOKEN or CODE=choice@TOKEN, as the halt printed it");
  }
  return accepted;
}

std::string accept_text(const base::Halt& halt, const base::HaltChoice& choice) {
  return halt.code + "=" + choice.name + "@" + halt.token;
}

std::string describe_halt(const std::string& pipeline, const base::Halt& halt, const std::string& file,
                          const std::string& socket) {
  std::string text = "pipeline " + pipeline + " halted: " + halt.code + "\n  " + halt.text + "\n";
  if (!halt.range.empty()) text += "  affected: " + halt.range + "\n";
  for (const base::HaltChoice& choice : halt.choices) {
    text += "  choice " + choice.name + ": " + choice.meaning + "\n    frazil run " + file + " --accept " +
            accept_text(halt, choice) + "\n";
    if (!socket.empty()) {
      text += "    or now, while the other pipelines run:\n    frazil accept " + pipeline + " " + accept_text(halt, choice) +
              " --socket " + socket + "\n";
    }
  }
  text += "  Nothing was written that skips or repeats rows. Without a choice the pipeline stays where it is.";
  return text;
}

}  // namespace frazil::app
