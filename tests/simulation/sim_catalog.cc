#include "tests/simulation/sim_catalog.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "tests/simulation/sim_file_io.h"

namespace frazil::simulation {
namespace {

void pass_time(int64_t micros) {
  base::Interrupt never;
  never.wait_until(base::deadline_after(micros));
}

Phase phase_of(const iceberg::TableId& id, Phase otherwise) { return id == kAnchor ? otherwise : Phase::kDeadLetters; }

}  // namespace

SimCatalog::SimCatalog(Lakehouse& house, std::shared_ptr<Life> life, const Faults& faults, Tally& tally)
    : house_(house),
      life_(std::move(life)),
      faults_(faults),
      tally_(tally),
      file_io_(make_sim_file_io(house.store(), life_, faults)) {}

base::Status SimCatalog::create_namespace(const iceberg::Namespace& ns) {
  TRY(life_->step(Phase::kLoading));
  return house_.catalog().create_namespace(ns);
}

base::Result<std::vector<iceberg::Namespace>> SimCatalog::list_namespaces() {
  TRY(life_->step(Phase::kLoading));
  return house_.catalog().list_namespaces();
}

base::Result<std::vector<iceberg::TableId>> SimCatalog::list_tables(const iceberg::Namespace& ns) {
  TRY(life_->step(Phase::kLoading));
  return house_.catalog().list_tables(ns);
}

base::Result<iceberg::LoadedTable> SimCatalog::load_table(const iceberg::TableId& id) {
  TRY(life_->step(phase_of(id, Phase::kLoading)));
  if (chance(faults_.load_failed)) return base::unavailable("the catalog did not answer");
  TRY_ASSIGN(iceberg::LoadedTable loaded, house_.catalog().load_table(id));
  if (const auto open = open_.find(id); open != open_.end()) {
    tally_.add(loaded.metadata.snapshot(open->second) != nullptr ? "commits unknown, done" : "commits unknown, not done");
    open_.erase(open);
  }
  TRY(life_->step(phase_of(id, Phase::kLoading)));
  return loaded;
}

base::Result<iceberg::LoadedTable> SimCatalog::create_table(const iceberg::TableId& id, const iceberg::CreateTable& request) {
  TRY(life_->step(phase_of(id, Phase::kLoading)));
  TRY_ASSIGN(iceberg::LoadedTable made, house_.create(id, request));
  TRY(life_->step(phase_of(id, Phase::kLoading)));
  return made;
}

base::Status SimCatalog::drop_table(const iceberg::TableId&) { return base::unsupported("nobody drops tables here"); }

SimCatalog::Fate SimCatalog::draw_fate(const iceberg::TableId& id) const {
  if (chance(faults_.commit_refused) || (id == kDeadLetters && faults_.refuses_dead_letters)) return Fate::kRefused;
  if (chance(faults_.commit_lost)) return Fate::kLost;
  if (chance(faults_.answer_lost)) return Fate::kAnswerLost;
  if (chance(faults_.commit_delayed)) return Fate::kDelayed;
  if (chance(faults_.commit_doubled)) return Fate::kDoubled;
  return Fate::kArrives;
}

base::Result<iceberg::LoadedTable> SimCatalog::unknown(const iceberg::TableId& id, const iceberg::TableCommit& commit) {
  open_[id] = added_snapshot(commit);
  return base::Error(base::Code::kUnknownOutcome, "no answer to a commit to " + id.text());
}

base::Result<iceberg::LoadedTable> SimCatalog::send(const iceberg::TableId& id, const iceberg::TableCommit& commit, Fate fate) {
  switch (fate) {
    case Fate::kRefused:
      return base::unavailable("connection refused");
    case Fate::kLost:
      tally_.add("requests lost");
      pass_time(between(1'000, 400'000));
      return unknown(id, commit);
    case Fate::kDelayed:
      tally_.add("requests delayed");
      house_.apply_later(id, commit, between(50'000, 3'000'000));
      pass_time(between(1'000, 800'000));
      return unknown(id, commit);
    case Fate::kAnswerLost:
      tally_.add("answers lost");
      (void)house_.apply(id, commit, "worker").ok();
      pass_time(between(1'000, 400'000));
      return unknown(id, commit);
    case Fate::kDoubled: {
      tally_.add("requests doubled");
      base::Result<iceberg::LoadedTable> first = house_.apply(id, commit, "worker");
      if (chance(500)) return house_.apply(id, commit, "worker, again");
      house_.apply_later(id, commit, between(1'000, 2'000'000));
      return first;
    }
    case Fate::kArrives:
      return house_.apply(id, commit, "worker");
  }
  return base::Error(base::Code::kBug, "no such fate");
}

base::Result<iceberg::LoadedTable> SimCatalog::commit_table(const iceberg::TableId& id, const iceberg::TableCommit& commit) {
  TRY(life_->step(phase_of(id, Phase::kCommitSent)));
  base::io_point();
  if (life_->is_dead()) return life_->step(Phase::kCommitSent).error();
  if (base::Status crashed = life_->step(phase_of(id, Phase::kCommitSent)); !crashed.ok()) {
    if (chance(600)) house_.apply_later(id, commit, between(0, 2'000'000));  // it was on its way
    return crashed.error();
  }
  base::Result<iceberg::LoadedTable> answer = send(id, commit, draw_fate(id));
  TRY(life_->step(phase_of(id, Phase::kCommitAnswered)));
  return answer;
}

}  // namespace frazil::simulation
