#include "app/config/problems.h"

#include <algorithm>
#include <tuple>

namespace frazil::app {

void Problems::error(const Mark& mark, std::string text) {
  problems_.push_back({mark, std::move(text), false});
}

void Problems::warning(const Mark& mark, std::string text) {
  problems_.push_back({mark, std::move(text), true});
}

bool Problems::has_errors() const {
  return std::any_of(problems_.begin(), problems_.end(), [](const Problem& problem) { return !problem.is_warning; });
}

std::string Problems::render() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tuple(!a.mark.origin.empty(), a.mark.line, a.mark.column) <
           std::tuple(!b.mark.origin.empty(), b.mark.line, b.mark.column);
  });
  std::string text;
  for (const Problem& problem : sorted) {
    text += problem.mark.origin.empty() ? file_ : problem.mark.origin;
    if (problem.mark.origin.empty() && problem.mark.line > 0) {
      text += ":" + std::to_string(problem.mark.line) + ":" + std::to_string(problem.mark.column);
    }
    text += problem.is_warning ? ": warning: " : ": ";
    text += problem.text + "\n";
  }
  return text;
}

}  // namespace frazil::app
