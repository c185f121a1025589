#include "clients/kafka/log_thinner.h"

#include "base/clock.h"

namespace frazil::clients {

namespace {

constexpr int64_t kEveryMicros = 60'000'000;
constexpr size_t kMostKinds = 1000;

}  // namespace

std::string repeated_part(std::string_view line) {
  line = line.substr(0, line.rfind(" (after "));
  std::string part;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool is_digit = line[i] >= '0' && line[i] <= '9';
    // Ports and addresses tell brokers apart: "host:9092" keeps its number, "after 17 ms" does not.
    const bool is_of_name = !part.empty() && part.back() != ' ' && part.back() != '#';
    if (!is_digit || is_of_name) {
      part += line[i];
    } else {
      while (i + 1 < line.size() && line[i + 1] >= '0' && line[i + 1] <= '9') ++i;
      part += '#';
    }
  }
  return part;
}

LogThinner::Verdict LogThinner::look_at(std::string_view facility, std::string_view line, base::MonoMicros now) {
  std::string kind = std::string(facility) + " " + repeated_part(line);
  base::Lock lock(mutex_);
  if (seen_.size() >= kMostKinds) forget_old(now);
  const auto [entry, is_new] = seen_.try_emplace(std::move(kind));
  Seen& seen = entry->second;
  if (!is_new && now - seen.written_at < kEveryMicros) {
    ++seen.kept_back;
    return {};
  }
  const Verdict verdict{true, seen.kept_back};
  seen = {now, 0};
  return verdict;
}

// Lines of endless variety must not fill the memory.
void LogThinner::forget_old(base::MonoMicros now) {
  std::erase_if(seen_, [&](const auto& entry) { return now - entry.second.written_at >= kEveryMicros; });
  if (seen_.size() >= kMostKinds) seen_.clear();
}

bool tells_of_a_lost_topic(std::string_view facility, std::string_view line) {
  return facility == "PARTCNT" && line.ends_with(" to 0");
}

void log_thinned(base::LogLevel level, std::string_view event, std::string_view facility, std::string_view text) {
  static LogThinner thinner;
  const LogThinner::Verdict verdict = thinner.look_at(facility, text, base::mono_micros());
  if (!verdict.is_written) return;
  if (verdict.kept_back == 0) {
    base::log(level, event, {{"facility", facility}, {"text", text}});
  } else {
    base::log(level, event, {{"facility", facility}, {"text", text}, {"kept_back", verdict.kept_back}});
  }
}

}  // namespace frazil::clients
