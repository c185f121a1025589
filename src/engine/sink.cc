#include "engine/sink.h"

#include "base/log.h"

namespace frazil::engine {

base::Result<std::string> choice_of(const base::Halt& halt, const std::string& wanted) {
  if (wanted.empty() && halt.choices.size() == 1) return halt.choices[0].name;
  std::string names;
  for (const base::HaltChoice& choice : halt.choices) {
    if (choice.name == wanted) return wanted;
    names += (names.empty() ? "" : ", ") + choice.name;
  }
  return base::invalid("halt " + halt.code + " has no choice \"" + wanted + "\"; it has: " + names);
}

base::Result<std::optional<std::string>> accepted_choice(const std::vector<AcceptedChoice>& accepted, const base::Halt& halt,
                                                         const std::string& pipeline) {
  for (const AcceptedChoice& one : accepted) {
    if (one.code != halt.code) continue;
    *one.is_asked_for = true;
    if (one.token != halt.token) {
      base::log_warn("stale_accept_ignored", {{"pipeline", pipeline}, {"code", one.code}, {"token", one.token}});
      continue;
    }
    TRY_ASSIGN(std::string choice, choice_of(halt, one.choice));
    base::log_warn("halt_accepted", {{"pipeline", pipeline}, {"code", halt.code}, {"choice", choice}, {"range", halt.range}});
    return std::optional(std::move(choice));
  }
  return std::optional<std::string>();
}

const char* verdict_name(CommitVerdict::Kind kind) {
  switch (kind) {
    case CommitVerdict::Kind::kDone:
      return "done";
    case CommitVerdict::Kind::kStale:
      return "stale";
    case CommitVerdict::Kind::kGap:
      return "gap";
    case CommitVerdict::Kind::kUnfit:
      return "unfit";
  }
  return "";
}

}  // namespace frazil::engine
