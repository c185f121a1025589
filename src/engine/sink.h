// Sink: rows → durable outputs → one atomic commit. What every sink must offer to a worker.
//
// A Router belongs to a reader lane, a SinkWriter to a writer lane and one epoch, the Committer to the committer lane.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "columnar/column.h"
#include "engine/position.h"

namespace frazil::engine {

// Rows of one batch that belong together: same writer lane, same bucket (the sink's own key).
struct RoutedRows {
  int lane = 0;
  std::string bucket;
  std::vector<int32_t> rows;
};

// A row that no table takes, and what becomes of the record that it came from.
struct UnwantedRow {
  enum class Fate {
    kDeadLetter,  // the record as a whole: other rows of it go nowhere either
    kSkip,        // this row alone
    kHalt,
  } fate = Fate::kDeadLetter;
  int64_t row = 0;
  std::string code;
  std::string message;
  std::string field;
};

class Router {
 public:
  virtual ~Router() = default;
  // Looks at the rows from `first` on, which were just appended; each row of a batch is looked at once, in order, while the
  // records are still there. Routers that take every row have nothing to say.
  virtual base::Result<std::vector<UnwantedRow>> look(const columnar::Batch&, int64_t /*first*/) {
    return std::vector<UnwantedRow>{};
  }
  // Rows first..last-1 of the batch in hand go nowhere, whatever look() found. Only asked of routers that name unwanted rows.
  virtual void leave_out(int64_t /*first*/, int64_t /*last*/) {}
  // The whole batch. Ends it: the next look() is at another one.
  virtual base::Result<std::vector<RoutedRows>> route(const columnar::Batch& batch) = 0;
};

// Durable, not yet visible. Opaque to the engine.
class Output {
 public:
  virtual ~Output() = default;
  virtual int64_t rows() const = 0;
  virtual int64_t bytes() const = 0;
};

class SinkWriter {
 public:
  virtual ~SinkWriter() = default;
  virtual base::Status write(const columnar::Batch& batch, const RoutedRows& routed) = 0;
  // Memory held for open files.
  virtual int64_t buffered_bytes() const = 0;
  // Closes what is open, durably. Called once; a writer destroyed without it leaves nothing visible.
  virtual base::Result<std::vector<std::unique_ptr<Output>>> seal() = 0;
};

// Record times of up to 16 k rows, in microseconds: minimum, mean and maximum stand for all of them.
struct RecordTimes {
  int64_t min = 0, mean = 0, max = 0;
  int64_t rows = 0;
};

// One epoch of a worker: everything between two barriers.
struct StagedEpoch {
  int64_t number = 0;  // counts within this run of the worker, not the table's epoch
  std::vector<Range> ranges;
  std::vector<std::unique_ptr<Output>> outputs;
  std::optional<columnar::Batch> dead_letters;  // schema of engine/dead_letters.h, epoch column not yet filled
  std::map<std::string, std::string> identity;  // of the source when read
  int64_t rows = 0;
  std::vector<RecordTimes> record_times;
};

struct CommitVerdict {
  enum class Kind {
    kDone,   // in the table
    kStale,  // a range begins before the table's positions: somebody else was there; the epoch was dropped
    kGap,    // a range begins beyond them: they were moved back; dropped
    kUnfit,  // the ranges fit, but not what was written: the table or a file has changed meanwhile; dropped
  } kind = Kind::kDone;
  SourcePositions positions;  // what the table says now
  std::string reason;
  bool is_merged = false;  // decided by another worker, together with epochs of others
};
// "done", "stale", "gap", "unfit".
const char* verdict_name(CommitVerdict::Kind kind);

// An operator's answer to a halt, from the command line: CODE[=choice]@TOKEN.
struct AcceptedChoice {
  std::string code;
  std::string choice;  // empty: the halt's only choice
  std::string token;
  // Set once a halt of this code was met: an answer to none is told. Shared by all copies.
  std::shared_ptr<std::atomic<bool>> is_asked_for = std::make_shared<std::atomic<bool>>(false);
};

// What an operator decided about a halt; recorded in the table.
struct Decision {
  std::string code;
  std::string choice;
  std::string range;
  std::string user;
};

// The choice that an answer means: the named one, or the only one. kInvalid lists them.
base::Result<std::string> choice_of(const base::Halt& halt, const std::string& wanted);
// What the operator has answered to this very halt (code and token agree), if anything. Answers with other tokens are logged.
base::Result<std::optional<std::string>> accepted_choice(const std::vector<AcceptedChoice>& accepted, const base::Halt& halt,
                                                         const std::string& pipeline);

class Committer {
 public:
  virtual ~Committer() = default;
  // True when open() would make the table: the source is looked at first, so that a misspelt topic leaves no table behind.
  virtual base::Result<bool> must_create() { return false; }
  // Makes or loads the table, detects halts, applies what is owed. The table's positions, or nothing if it knows none.
  virtual base::Result<std::optional<SourcePositions>> open() = 0;
  // First commit of the pipeline: an empty snapshot with the start of every split. Returns the table's positions, which are
  // another worker's if that one was faster.
  virtual base::Result<SourcePositions> begin(const SourcePositions& start) = 0;
  // One routine for all answers (docs/protocol): done, dropped, or a Halt; kUnavailable when the deadline passed undecided.
  // `abandon`: ends the waiting between attempts with kCancelled, the outcome then being open.
  virtual base::Result<CommitVerdict> commit(StagedEpoch& epoch, base::Interrupt& abandon) = 0;
  // Moves the positions by an operator's decision, in an empty snapshot that records it.
  virtual base::Result<SourcePositions> decide(const SourcePositions& expected, const SourcePositions& moved,
                                               const Decision& decision) = 0;
  // The positions the table holds now, from a fresh load.
  virtual base::Result<SourcePositions> reload() = 0;
  // Names the table for Source::acknowledge().
  virtual std::string mark() const = 0;
  // Asked when the table knows no positions, and before open() would make it: `mark` is what the source remembers. A Halt when it speaks of another table.
  virtual base::Status recognise(const std::string& mark) = 0;
  // The anchor's head when it was last looked at, 0 if it has none: part of halt tokens.
  virtual int64_t head_snapshot_id() const = 0;
  // How long epochs must last at least for the table's sake (its metadata grows with every commit), 0: no wish. Asked after
  // open() and after each commit; memory pressure and the end of a run still cut earlier.
  virtual int64_t least_cut_interval_ms() const = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Streams whose records share a decoder, a schema of rows and a router are one intake; intakes count from 0. Valid after the
  // committer's open().
  virtual int intakes() const { return 1; }
  virtual int intake_of(const std::string& /*stream*/) const { return 0; }
  virtual base::Result<std::unique_ptr<Router>> make_router(int intake, int reader_lane, int writer_lanes) = 0;
  virtual base::Result<std::unique_ptr<SinkWriter>> make_writer(int writer_lane, int64_t epoch_number) = 0;
  // Valid after its open().
  virtual Committer& committer() = 0;
};

}  // namespace frazil::engine
