#include "tests/simulation/sim_catalog.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "iceberg/catalogs/rest_answer.h"
#include "tests/simulation/sim_file_io.h"

namespace frazil::simulation {
namespace {

void pass_time(int64_t micros) {
  base::Interrupt never;
  never.wait_until(base::deadline_after(micros));
}

constexpr int kManyConflicts = 3;

// As a server, or something in front of it, answers.
base::Error refusal(int status, const std::string& type, const std::string& message) {
  net::HttpResponse response;
  response.status = status;
  response.body = type.empty() ? "<html><body>" + message + "</body></html>"
                               : R"({"error":{"type":")" + type + R"(","message":")" + message + R"("}})";
  return iceberg::refusal(iceberg::RestCall::kCommit, response);
}

// None of them says what became of the request.
base::Error unclear_answer() {
  switch (base::random_below(6)) {
    case 0: return refusal(500, "InternalServerError", "try again");
    case 1: return refusal(502, "", "bad gateway");
    case 2: return refusal(504, "", "gateway timeout");
    case 3: return refusal(408, "", "request timeout");
    case 4: return iceberg::unreadable(iceberg::RestCall::kCommit, "it ends after 812 bytes");
    default: return iceberg::no_answer(iceberg::RestCall::kCommit, base::Error(base::Code::kUnknownOutcome, "connection reset"));
  }
}

Phase phase_of(const iceberg::TableId& id, Phase otherwise) {
  if (id == kAnchor) return otherwise;
  return routed_place(id) ? Phase::kRouted : Phase::kDeadLetters;
}

// What is counted when a late request lands.
const char* late_count(const iceberg::TableId& id) { return routed_place(id) ? "routed:late" : "KI5"; }

}  // namespace

SimCatalog::SimCatalog(Lakehouse& house, std::shared_ptr<Life> life, const Faults& faults, Tally& tally)
    : house_(house),
      life_(std::move(life)),
      faults_(faults),
      tally_(tally),
      file_io_(make_sim_file_io(house.store(), life_, faults, tally)) {}

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

bool SimCatalog::is_out(const iceberg::TableId& id) const {
  const auto place = routed_place(id);
  const bool is_routed_out = place && faults_.refuses_routed == place;
  if (is_routed_out) tally_.add("routed:outage");
  return is_routed_out || (id == kDeadLetters && faults_.refuses_dead_letters);
}

SimCatalog::Fate SimCatalog::draw_fate(const iceberg::TableId& id) const {
  if (is_out(id) || chance(faults_.commit_not_sent)) return Fate::kNotSent;
  if (chance(faults_.commit_throttled)) return Fate::kThrottled;
  if (chance(faults_.commit_rejected)) return Fate::kRejected;
  if (chance(faults_.commit_lost)) return Fate::kLost;
  if (chance(faults_.answer_lost)) return Fate::kAnswerLost;
  if (chance(faults_.commit_delayed)) return Fate::kDelayed;
  if (chance(faults_.commit_doubled)) return Fate::kDoubled;
  return Fate::kArrives;
}

base::Result<iceberg::LoadedTable> SimCatalog::unknown(const iceberg::TableId& id, const iceberg::TableCommit& commit) {
  open_[id] = added_snapshot(commit);
  tally_.add("answer:unknown");
  tally_.add(routed_place(id) ? "routed:unknown" : "KI4");
  return unclear_answer();
}

base::Error SimCatalog::rejected() {
  switch (base::random_below(5)) {
    case 0: tally_.add("answer:400"); return refusal(400, "BadRequestException", "the summary is too long");
    case 1: tally_.add("answer:400"); return refusal(422, "UnprocessableEntityException", "no");
    case 2: tally_.add("answer:400"); return refusal(413, "", "request entity too large");
    case 3: tally_.add("answer:401"); return refusal(401, "NotAuthorizedException", "the token has expired");
    default: tally_.add("answer:403"); return refusal(403, "ForbiddenException", "no permission to write");
  }
}

base::Result<iceberg::LoadedTable> SimCatalog::answered(const iceberg::TableId& id, base::Result<iceberg::LoadedTable> applied) {
  if (applied.ok()) {
    tally_.add("answer:200");
    if (id == kAnchor) conflicts_ = 0;
    return applied;
  }
  if (applied.error().code() != base::Code::kConflict) return applied;
  if (id == kAnchor && ++conflicts_ == kManyConflicts) tally_.add("KM7");
  if (chance(200)) {
    tally_.add("answer:400-order");
    return refusal(400, "BadRequestException", "Cannot add snapshot with sequence number 7 older than last sequence number 7");
  }
  tally_.add("answer:409");
  return refusal(409, "CommitFailedException", applied.error().message());
}

base::Result<iceberg::LoadedTable> SimCatalog::send(const iceberg::TableId& id, const iceberg::TableCommit& commit, Fate fate) {
  switch (fate) {
    case Fate::kNotSent:
      tally_.add("answer:not-sent");
      return iceberg::no_answer(iceberg::RestCall::kCommit, base::unavailable("connection refused"));
    case Fate::kThrottled:
      tally_.add("answer:429-503");
      if (chance(300)) (void)house_.apply(id, commit, "worker").ok();
      open_[id] = added_snapshot(commit);
      return chance(500) ? refusal(429, "TooManyRequestsException", "slow down") : refusal(503, "", "busy");
    case Fate::kRejected:
      return rejected();
    case Fate::kLost:
      tally_.add("requests lost");
      pass_time(between(1'000, 400'000));
      return unknown(id, commit);
    case Fate::kDelayed:
      tally_.add("requests delayed");
      house_.apply_later(id, commit, between(50'000, 3'000'000), late_count(id));
      pass_time(between(1'000, 800'000));
      return unknown(id, commit);
    case Fate::kAnswerLost:
      tally_.add("answers lost");
      (void)house_.apply(id, commit, "worker").ok();
      pass_time(between(1'000, 400'000));
      return unknown(id, commit);
    case Fate::kDoubled: {
      tally_.add(routed_place(id) ? "routed:doubled" : "requests doubled");
      base::Result<iceberg::LoadedTable> first = house_.apply(id, commit, "worker");
      if (chance(500)) return answered(id, house_.apply(id, commit, "worker, again"));
      house_.apply_later(id, commit, between(1'000, 2'000'000));
      return answered(id, std::move(first));
    }
    case Fate::kArrives:
      return answered(id, house_.apply(id, commit, "worker"));
  }
  return base::Error(base::Code::kBug, "no such fate");
}

base::Result<iceberg::LoadedTable> SimCatalog::commit_table(const iceberg::TableId& id, const iceberg::TableCommit& commit) {
  TRY(life_->step(phase_of(id, Phase::kCommitSent)));
  base::io_point();
  if (life_->is_dead()) return life_->step(Phase::kCommitSent).error();
  if (base::Status crashed = life_->step(phase_of(id, Phase::kCommitSent)); !crashed.ok()) {
    if (id == kAnchor) tally_.add("KI3");
    if (chance(600)) house_.apply_later(id, commit, between(0, 2'000'000), late_count(id));  // it was on its way
    return crashed.error();
  }
  base::Result<iceberg::LoadedTable> answer = send(id, commit, draw_fate(id));
  const bool was_dead = life_->is_dead();  // it has crashed elsewhere meanwhile
  if (base::Status crashed = life_->step(phase_of(id, Phase::kCommitAnswered)); !crashed.ok()) {
    if (id == kAnchor && !was_dead) tally_.add("KI3");
    return crashed.error();
  }
  return answer;
}

}  // namespace frazil::simulation
