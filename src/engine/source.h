// Source: splits, records and positions; what every source must offer to a worker.
//
// Order of calls: connect → (resolve_start | check) → start → read/poll_control … → stop, then start again after a reset.
// Between start and stop, splits may come and go while the others are read: poll_control tells, add and release answer.
// read(lane) is called by reader lane `lane` alone; poll_control, add and release by the control lane; confirm and acknowledge by the
// committer lane. A source never decides what is committed: it only says where it reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "engine/position.h"

namespace frazil::engine {

struct RawHeader {
  std::string_view key;
  std::string_view value;
  bool has_value = false;
};

struct RawRecord {
  std::string_view key;
  std::string_view value;
  bool has_key = false;
  bool has_value = false;
  int64_t offset = 0;             // ordinal in its split
  int64_t timestamp_micros = -1;  // of the record, -1: none
  std::vector<RawHeader> headers;
};

// Records of one split in order, and the range they cover (which may be longer than they are: control records).
struct RawBatch {
  Range range;
  std::string stream;     // topic
  std::string stream_id;  // topic id, empty if unknown
  int32_t partition = 0;
  std::vector<RawRecord> records;
  int64_t bytes = 0;             // of values
  std::shared_ptr<void> memory;  // keeps the views alive
};

struct SplitLag {
  SplitId split;
  std::string position;
  int64_t lag = 0;  // records up to the last stable end, -1 unknown
};

// A split whose records wait at the source for something that does not end by itself.
struct StuckSplit {
  SplitId split;
  std::string position;        // where it stands
  int64_t waiting = 0;         // records behind it
  base::MonoMicros since = 0;
  std::string reason;          // and what to do
};

// How the source itself is doing, for status and metrics.
struct SourceHealth {
  base::MonoMicros disconnected_since = 0;  // 0: it answers
  std::string problem;                      // the last error while it does not
  std::vector<StuckSplit> stuck;
};

// What the control lane hears of a source.
struct SourceEvent {
  enum class Kind {
    kNone,
    kSplitsAdded,    // `splits` are ours from now on: load the table's positions, then add()
    kSplitsLeaving,  // `splits` go to others. read() gives nothing of them any more: commit what it gave, by `deadline`, then release()
    kSplitsLost,     // others may read `splits` already: drop what is open, look at the table, start again with the rest
    kStartAgain,     // reading cannot go on as it is: commit what is open, look at the table, start again
  } kind = Kind::kNone;
  std::vector<SplitId> splits;
  base::MonoMicros deadline = base::kForever;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const PositionFormat& format() const = 0;
  virtual base::Status connect(base::MonoMicros deadline) = 0;
  // The configured start of every split there is now. Only asked when the table knows no positions.
  virtual base::Result<SourcePositions> resolve_start() = 0;
  // Compares the table's positions with the source: a Halt error for what may not be continued.
  virtual base::Status check(const SourcePositions& positions) = 0;
  // The positions after an operator's choice for a halt of check() or of reading.
  virtual base::Result<SourcePositions> apply_choice(const base::Halt& halt, const std::string& choice,
                                                     const SourcePositions& positions) = 0;
  // Begins to read at `positions` with `lanes` reader lanes. Splits that the table does not know begin at their own start.
  virtual base::Status start(const SourcePositions& positions, int lanes) = 0;
  // The next records, or nullptr when there are none: at the deadline, and now and then before it.
  virtual base::Result<std::unique_ptr<RawBatch>> read(int lane, base::MonoMicros deadline) = 0;
  // Makes waiting read() and poll_control() calls return now. Any thread.
  virtual void wake() = 0;
  virtual void stop() = 0;
  virtual base::Result<SourceEvent> poll_control(base::MonoMicros deadline) = 0;
  // Begins to read the splits of a kSplitsAdded too, at positions loaded since; those that have gone again are left out.
  // kUnavailable: nothing was begun, ask again. A Halt as in check(). Only for sources that tell of such splits.
  virtual base::Status add(const std::vector<SplitId>&, const SourcePositions&) { return {}; }
  // Lets the splits of a kSplitsLeaving go: from now on another worker may read them.
  virtual base::Status release(const std::vector<SplitId>&) { return {}; }
  // Asked after the last record of `ranges` was received and before they are committed: identities still hold.
  virtual base::Status confirm(const SourcePositions& positions, const std::vector<Range>& ranges) = 0;
  // The identity to write with the next positions (topics found since included).
  virtual std::map<std::string, std::string> identity() const = 0;
  // Advisory copy of committed positions for tools, with a mark that says into which table. Failures are logged, never returned.
  virtual void acknowledge(const SourcePositions& positions, const std::string& mark) = 0;
  // The mark of the last acknowledge(), by whatever process, as far as the source remembers it; else empty.
  virtual std::string last_mark() = 0;
  // True when committed positions have reached the ends noted at the first start() (for runs until caught up).
  virtual bool is_caught_up(const SourcePositions& positions) = 0;
  virtual std::vector<SplitLag> lag(const SourcePositions& positions) = 0;
  // As the last lag() found it; asks nobody.
  virtual SourceHealth health() { return {}; }
  // Client id of the group's member that reads the first of all splits, or empty: no group, or nobody reads yet. Any thread.
  virtual base::Result<std::string> first_reader() { return std::string(); }
  // Leaves its group and ends connections.
  virtual void close() = 0;
};

}  // namespace frazil::engine
