#include "base/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/log.h"
#include "base/sync.h"

namespace frazil::base {
namespace {

constinit Failpoint* first_point = nullptr;

const char* action_name(Failpoint::Action action) {
  switch (action) {
    case Failpoint::Action::kKill: return "kill";
    case Failpoint::Action::kError: return "error";
    case Failpoint::Action::kHang: return "hang";
    case Failpoint::Action::kDelay: return "delay";
  }
  return "";
}

void wait_until(MonoMicros deadline) {
  Mutex mutex;
  CondVar never;
  Lock lock(mutex);
  while (never.wait_until(lock, deadline) || mono_micros() < deadline) {
  }
}

// What one part of the text asks for.
struct Wish {
  std::string_view name;
  Failpoint::Action action = Failpoint::Action::kKill;
  int64_t delay_ms = 0;
  uint64_t hit = 1;
  bool stays = false;
};

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_action(std::string_view text, Wish& wish) {
  constexpr std::string_view kDelay = "delay:";
  if (text.starts_with(kDelay)) {
    wish.action = Failpoint::Action::kDelay;
    return read_number(text.substr(kDelay.size()), wish.delay_ms) && wish.delay_ms >= 0;
  }
  for (const auto action : {Failpoint::Action::kKill, Failpoint::Action::kError, Failpoint::Action::kHang}) {
    if (text != action_name(action)) continue;
    wish.action = action;
    return true;
  }
  return false;
}

Result<Wish> read_wish(std::string_view text) {
  const Error wrong = invalid("failpoint \"" + std::string(text) + "\": expected NAME=kill|error|hang|delay:MS[@HIT[+]]");
  Wish wish;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong;
  wish.name = text.substr(0, equals);
  std::string_view action = text.substr(equals + 1);
  if (const size_t at = action.find('@'); at != std::string_view::npos) {
    std::string_view hit = action.substr(at + 1);
    wish.stays = hit.ends_with('+');
    if (wish.stays) hit.remove_suffix(1);
    if (!read_number(hit, wish.hit) || wish.hit == 0) return wrong;
    action = action.substr(0, at);
  }
  if (!read_action(action, wish)) return wrong;
  return wish;
}

Result<std::vector<Wish>> read_wishes(std::string_view text) {
  std::vector<Wish> wishes;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    TRY_ASSIGN(Wish wish, read_wish(text.substr(0, comma)));
    wishes.push_back(wish);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return wishes;
}

}  // namespace

Failpoint::Failpoint(const char* name, const char* meaning, std::optional<Code> code)
    : name_(name), meaning_(meaning), code_(code), next_(std::exchange(first_point, this)) {}

Status Failpoint::meet() {
  const uint64_t hit = passes_.fetch_add(1) + 1;
  if (hit < hit_ || (hit > hit_ && !stays_)) return {};
  log_warn("failpoint_met", {{"name", name_}, {"action", action_name(action_)}, {"hit", hit}});
  return act(hit);
}

Status Failpoint::act(uint64_t hit) {
  switch (action_) {
    case Action::kKill:
      kill(getpid(), SIGKILL);
      wait_until(kForever);
      return {};
    case Action::kHang:
      wait_until(kForever);
      return {};
    case Action::kDelay:
      wait_until(deadline_after(delay_ms_ * 1000));
      return {};
    case Action::kError:
      return Error(code_.value_or(Code::kUnavailable), "failpoint " + std::string(name_) + " was met, hit " + std::to_string(hit));
  }
  return {};
}

std::vector<FailpointDoc> all_failpoints() {
  std::vector<FailpointDoc> docs;
  for (const Failpoint* point = first_point; point != nullptr; point = point->next_) {
    docs.push_back({point->name_, point->meaning_, point->code_.has_value()});
  }
  std::sort(docs.begin(), docs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return docs;
}

Status arm_failpoints(std::string_view text) {
  TRY_ASSIGN(const std::vector<Wish> wishes, read_wishes(text));
  std::vector<Failpoint*> points;
  for (const Wish& wish : wishes) {
    Failpoint* point = first_point;
    while (point != nullptr && point->name_ != wish.name) point = point->next_;
    const std::string named = "failpoint \"" + std::string(wish.name) + "\"";
    if (point == nullptr) return invalid(named + " does not exist; `frazil run --failpoints` lists all");
    if (wish.action == Failpoint::Action::kError && !point->code_) return invalid(named + " is at a place that cannot fail");
    if (std::find(points.begin(), points.end(), point) != points.end()) return invalid(named + " is armed twice");
    points.push_back(point);
  }
  for (size_t i = 0; i < points.size(); ++i) {
    Failpoint& point = *points[i];
    const Wish& wish = wishes[i];
    point.action_ = wish.action;
    point.delay_ms_ = wish.delay_ms;
    point.hit_ = wish.hit;
    point.stays_ = wish.stays;
    point.passes_ = 0;
    point.is_armed_.store(true, std::memory_order_release);
    log_warn("failpoint_armed", {{"name", point.name_}, {"action", action_name(point.action_)}, {"hit", wish.hit}});
  }
  return {};
}

void disarm_failpoints() {
  for (Failpoint* point = first_point; point != nullptr; point = point->next_) point->is_armed_ = false;
}

}  // namespace frazil::base
