#include "app/control/halt_desk.h"

#include <algorithm>
#include <utility>

namespace frazil::app {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

HaltDesk::HaltDesk(const std::vector<std::string>& pipelines) {
  for (const std::string& name : pipelines) places_[name];
}

bool HaltDesk::is_any_running(const std::string& but) const {
  return std::any_of(places_.begin(), places_.end(), [&but](const auto& place) { return place.first != but && place.second.state == "running"; });
}

bool HaltDesk::is_worth_waiting(const std::string& pipeline, const base::Halt& halt) const {
  base::Lock lock(mutex_);
  return !halt.choices.empty() && !is_closed_ && is_any_running(pipeline);
}

std::optional<HaltAnswer> HaltDesk::wait(const std::string& pipeline, const base::Halt& halt) {
  if (halt.choices.empty()) return std::nullopt;
  base::Lock lock(mutex_);
  Place& place = places_.at(pipeline);
  place.state = "waiting";
  place.halt = halt;
  place.answer.reset();
  changed_.notify_all();
  while (!place.answer && !is_closed_ && is_any_running(pipeline)) changed_.wait(lock);
  place.halt.reset();
  // An answer counts even when the last other pipeline ended in the same moment.
  place.state = place.answer ? "running" : "halted";
  return std::exchange(place.answer, std::nullopt);
}

void HaltDesk::ended(const std::string& pipeline, const std::string& state) {
  base::Lock lock(mutex_);
  places_.at(pipeline).state = state;
  changed_.notify_all();
}

void HaltDesk::close() {
  base::Lock lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

base::Result<std::string> HaltDesk::answer(const std::string& pipeline, const engine::AcceptedChoice& choice, const std::string& user) {
  base::Lock lock(mutex_);
  const auto found = places_.find(pipeline);
  if (found == places_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_) names.push_back(name);
    return base::invalid("this process has no pipeline " + pipeline + "; it has: " + joined(names));
  }
  Place& place = found->second;
  if (!place.halt || place.answer) {
    return base::Error(base::Code::kConflict, "pipeline " + pipeline + " waits for no answer: it is " +
                                                  (place.answer ? "answered already, and starts again" : place.state));
  }
  const base::Halt& halt = *place.halt;
  if (choice.code != halt.code || choice.token != halt.token) {
    return base::Error(base::Code::kConflict, choice.code + "@" + choice.token + " answers another halt: pipeline " + pipeline +
                                                  " waits at " + halt.code + "@" + halt.token + (halt.range.empty() ? "" : ", " + halt.range));
  }
  TRY_ASSIGN(std::string taken, engine::choice_of(halt, choice.choice));
  place.answer = HaltAnswer{{choice.code, taken, choice.token}, user};
  changed_.notify_all();
  return taken;
}

std::map<std::string, base::Halt> HaltDesk::waiting() const {
  base::Lock lock(mutex_);
  std::map<std::string, base::Halt> halts;
  for (const auto& [name, place] : places_) {
    if (place.halt && !place.answer) halts[name] = *place.halt;
  }
  return halts;
}

std::vector<std::string> HaltDesk::pipelines() const {
  base::Lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, place] : places_) names.push_back(name);
  return names;
}

}  // namespace frazil::app
