// Positions, ranges, and what "begins at" means: the words in which a table remembers its source.
//
// A split is an ordered part of a source ("orders/0"); a position in it is opaque text whose meaning belongs to the source
// kind's PositionFormat. Pure values; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace frazil::engine {

using SplitId = std::string;

// Begin ≤ rows < end in one split.
struct Range {
  SplitId split;
  std::string begin;
  std::string end;
  // The table knew no position of this split when reading began: begin is the split's own start.
  bool is_first = false;
  bool operator==(const Range&) const = default;
};

// What a table says about its source: whose positions (identity: cluster and topic ids), and where each split goes on.
struct SourcePositions {
  std::string kind;                             // "kafka", "generator"
  std::map<std::string, std::string> identity;  // "cluster" → id, "topic/orders" → topic id ("" unknown)
  std::map<SplitId, std::string> next;          // first position not yet in the table
  bool operator==(const SourcePositions&) const = default;
};

enum class Relation { kAt, kBehind, kBeyond, kIncomparable };

// One for each source kind. Stateless; any thread.
class PositionFormat {
 public:
  virtual ~PositionFormat() = default;
  // One-line JSON of `frazil.positions` and `frazil.ranges`, versioned ("v":1).
  virtual std::string encode(const SourcePositions& positions) const = 0;
  // kUnsupported for a newer version, kCorrupt for nonsense.
  virtual base::Result<SourcePositions> decode(const std::string& json) const = 0;
  virtual std::string encode_ranges(const std::vector<Range>& ranges) const = 0;
  virtual base::Result<std::vector<Range>> decode_ranges(const std::string& json) const = 0;
  // One position, for people.
  virtual std::string in_words(const std::string& position) const { return position; }
  // Where `begin` lies as seen from the frontier.
  virtual Relation relate(const std::string& begin, const std::string& frontier) const = 0;
};

}  // namespace frazil::engine
