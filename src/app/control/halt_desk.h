// HaltDesk: where halted pipelines wait for an operator's answer while others of the process run.
//
// A pipeline is waited for as long as any other one runs: an answer needs a process that lives for a reason of its own. When the last
// pipeline halts or ends, all that wait give up and the process ends, as it does with one pipeline. A halt without choices waits for nothing.
// Owned by the run; each pipeline's lane calls wait() and ended(), the control socket's lane answer() and list(). Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/halt.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/sink.h"

namespace frazil::app {

struct HaltAnswer {
  engine::AcceptedChoice choice;
  std::string user;  // who decided
};

class HaltDesk {
 public:
  explicit HaltDesk(const std::vector<std::string>& pipelines);

  // Whether wait() would wait now.
  bool is_worth_waiting(const std::string& pipeline, const base::Halt& halt) const;
  // Blocks until the halt is answered; nothing when no other pipeline runs any more, or after close().
  std::optional<HaltAnswer> wait(const std::string& pipeline, const base::Halt& halt);
  // The pipeline will not run again; `state` says why ("ended", "failed", "halted").
  void ended(const std::string& pipeline, const std::string& state);
  // The process stops: nobody is waited for.
  void close();

  // kInvalid: no such pipeline, or no such choice (both named); kConflict: it waits for no answer, or for one with another token or code.
  // Returns the choice that was taken.
  base::Result<std::string> answer(const std::string& pipeline, const engine::AcceptedChoice& choice, const std::string& user);
  // The halts that wait, by pipeline.
  std::map<std::string, base::Halt> waiting() const;
  std::vector<std::string> pipelines() const;

 private:
  struct Place {
    std::string state = "running";
    std::optional<base::Halt> halt;  // while it waits
    std::optional<HaltAnswer> answer;
  };
  bool is_any_running(const std::string& but) const;  // with the lock

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, Place> places_;
  bool is_closed_ = false;
};

}  // namespace frazil::app
