#include "base/result.h"

#include <cstdio>
#include <cstdlib>

#include "base/hash.h"

namespace frazil::base {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalid: return "invalid";
    case Code::kNotFound: return "not_found";
    case Code::kExists: return "exists";
    case Code::kConflict: return "conflict";
    case Code::kUnknownOutcome: return "unknown_outcome";
    case Code::kUnavailable: return "unavailable";
    case Code::kExhausted: return "exhausted";
    case Code::kCorrupt: return "corrupt";
    case Code::kUnsupported: return "unsupported";
    case Code::kCancelled: return "cancelled";
    case Code::kHalted: return "halted";
    case Code::kBug: return "bug";
  }
  return "bug";
}

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "frazil: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

std::string halt_token(const std::string& code, const std::string& range, long long snapshot_id) {
  const uint64_t digest = xxh64(code + "\n" + range + "\n" + std::to_string(snapshot_id));
  char text[17];
  std::snprintf(text, sizeof text, "%012llx", static_cast<unsigned long long>(digest & 0xffffffffffffULL));
  return text;
}

}  // namespace frazil::base
