#include "engine/sink.h"

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

}  // namespace frazil::engine
