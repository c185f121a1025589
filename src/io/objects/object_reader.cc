#include "io/objects/object_reader.h"

#include <algorithm>
#include <utility>

namespace frazil::io {
namespace {

// Small enough to be repeated when it is cut, large enough that the store's first byte costs little.
constexpr int64_t kPieceBytes = 16LL << 20;
constexpr int kShortReads = 5;  // in a row, without a byte

}  // namespace

base::Result<std::string> read_object(ObjectStore& store, const ObjectAddress& at, int64_t offset, int64_t length,
                                      base::Interrupt& interrupt) {
  if (length == 0 || offset > INT64_MAX - kPieceBytes) {  // nothing to send, but a name to look for
    TRY(store.look(at, Errand::kWork, interrupt));
    return std::string();
  }
  std::string bytes, version;
  int short_reads = 0;
  while (true) {
    const int64_t from = offset + static_cast<int64_t>(bytes.size());
    const int64_t wanted = std::min(length - static_cast<int64_t>(bytes.size()), kPieceBytes);
    TRY_ASSIGN(ObjectPiece piece, store.read_piece(at, from, wanted, version, interrupt));
    const auto got = static_cast<int64_t>(piece.bytes.size());
    bytes = bytes.empty() ? std::move(piece.bytes) : std::move(bytes) + piece.bytes;
    if (from + got >= piece.total || static_cast<int64_t>(bytes.size()) >= length) return bytes;
    // Fewer bytes than the answer announced: the rest is asked for.
    short_reads = got == 0 ? short_reads + 1 : 0;
    if (short_reads >= kShortReads) {
      return base::unavailable(at.location + ": the store sends no bytes of the range at " + std::to_string(from));
    }
    version = std::move(piece.version);
  }
}

}  // namespace frazil::io
