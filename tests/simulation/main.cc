// frazil_simulation: runs whole pipelines from seeds and judges every state of their tables.
//
//   frazil_simulation --seeds N [--first S]    many seeds; some of them twice, which must give the same event hash
//   frazil_simulation --slice N [--first S]    the same, as a part of a run: counts of zero are for its whole to judge
//   frazil_simulation --names                  the version of the scenarios, and the counts that no run may miss
//   frazil_simulation --seed S [--echo]        one seed, its events on stderr
//   frazil_simulation --until-caught N         seeds until one finds a problem: for mutations; exit 0 when one does
//
// Exit 0: well; 1: a problem, another hash for the same seed, or a mandatory count of zero; 2: wrong usage.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/simulation/scenario.h"
#include "tests/simulation/world.h"

namespace {

using frazil::simulation::mandatory_counts;
using frazil::simulation::Outcome;
using frazil::simulation::run_world;
using frazil::simulation::Tally;

constexpr uint64_t kTwiceEvery = 50;  // seeds whose hash is checked

// The seed that runs, for the last words of a failed CHECK or a deadlock.
volatile uint64_t running_seed = 0;

void tell_seed(int) {
  std::fprintf(stderr, "simulation: aborted in seed %llu\n", static_cast<unsigned long long>(running_seed));
  std::_Exit(1);
}

struct Arguments {
  uint64_t first = 1;
  uint64_t seeds = 0;
  uint64_t until_caught = 0;
  bool is_single = false;
  bool is_slice = false;
  bool echo = false;
};

int usage() {
  std::fprintf(stderr, "usage: frazil_simulation --seeds N [--first S] | --slice N [--first S] | --names | --seed S [--echo] | --until-caught N [--first S]\n");
  return 2;
}

bool parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--echo") {
      arguments.echo = true;
      continue;
    }
    if (i + 1 == count) return false;
    const uint64_t value = std::strtoull(words[++i], nullptr, 10);
    if (word == "--seeds") {
      arguments.seeds = value;
    } else if (word == "--slice") {
      arguments.seeds = value;
      arguments.is_slice = true;
    } else if (word == "--first") arguments.first = value;
    else if (word == "--until-caught") arguments.until_caught = value;
    else if (word == "--seed") {
      arguments.first = value;
      arguments.seeds = 1;
      arguments.is_single = true;
    } else {
      return false;
    }
  }
  return arguments.seeds > 0 || arguments.until_caught > 0;
}

Outcome run(uint64_t seed, bool echo) {
  running_seed = seed;
  return run_world(seed, echo);
}

bool tell_problems(uint64_t seed, const Outcome& outcome) {
  for (const std::string& problem : outcome.problems) {
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), problem.c_str());
  }
  std::fflush(stdout);
  return !outcome.problems.empty();
}

int run_until_caught(const Arguments& arguments) {
  for (uint64_t i = 0; i < arguments.until_caught; ++i) {
    const Outcome outcome = run(arguments.first + i, false);
    if (!tell_problems(arguments.first + i, outcome)) continue;
    std::printf("caught after %llu seeds\n", static_cast<unsigned long long>(i + 1));
    return 0;
  }
  std::printf("not caught in %llu seeds\n", static_cast<unsigned long long>(arguments.until_caught));
  return 1;
}

bool tell_counts(const Tally& tally, bool has_mandatory) {
  bool is_complete = true;
  for (const auto& [name, count] : tally.counts()) std::printf("%10lld  %s\n", static_cast<long long>(count), name.c_str());
  if (!has_mandatory) return true;
  for (const std::string& name : mandatory_counts()) {
    if (tally.count(name) > 0) continue;
    std::printf("%10d  %s: it never happened, so the seeds prove nothing about it\n", 0, name.c_str());
    is_complete = false;
  }
  return is_complete;
}

int run_seeds(const Arguments& arguments) {
  Tally tally;
  uint64_t failed = 0;
  uint64_t checked_twice = 0;
  int64_t virtual_micros = 0;
  for (uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    const Outcome outcome = run(seed, arguments.echo);
    tally.merge(outcome.tally);
    virtual_micros += outcome.virtual_micros;
    bool is_bad = tell_problems(seed, outcome);
    if (!arguments.is_single && (seed - arguments.first) % kTwiceEvery == 0) {
      ++checked_twice;
      // Some warnings are told once in a process, so the first run of a seed is no yardstick.
      if (run(seed, false).event_hash != run(seed, false).event_hash) {
        std::printf("seed %llu: a second run gave another event hash\n", static_cast<unsigned long long>(seed));
        is_bad = true;
      }
    }
    failed += is_bad ? 1 : 0;
    if (arguments.is_single) std::printf("event hash %016llx\n", static_cast<unsigned long long>(outcome.event_hash));
  }
  const bool is_complete = tell_counts(tally, !arguments.is_single && !arguments.is_slice);
  std::printf("%llu seeds, %.0f virtual seconds, %llu run twice with the same hash, %llu failed\n",
              static_cast<unsigned long long>(arguments.seeds), static_cast<double>(virtual_micros) / 1e6,
              static_cast<unsigned long long>(checked_twice), static_cast<unsigned long long>(failed));
  return failed == 0 && is_complete ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string(words[1]) == "--names") {
    std::printf("version %d\n", frazil::simulation::kScenarioVersion);
    for (const std::string& name : mandatory_counts()) std::printf("%s\n", name.c_str());
    return 0;
  }
  Arguments arguments;
  if (!parse(count, words, arguments)) return usage();
  std::signal(SIGABRT, tell_seed);
  return arguments.until_caught > 0 ? run_until_caught(arguments) : run_seeds(arguments);
}
