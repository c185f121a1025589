#include "app/rewind_target.h"

#include <algorithm>

#include "app/config/units.h"

namespace frazil::app {
namespace {

base::Error bad(const std::string& text) {
  return base::invalid("--to \"" + text + "\": write snapshot:ID, time:2026-01-31T00:00:00Z or offsets:TOPIC/PARTITION=OFFSET,...");
}

base::Result<sinks::RewindTarget> parse_offsets(const std::string& text, std::string_view rest) {
  sinks::ToPositions positions;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.rfind('=');
    if (equals == std::string_view::npos || equals == 0) return bad(text);
    const auto offset = parse_integer(one.substr(equals + 1));
    if (!offset.ok() || *offset < 0) return bad(text);
    if (!positions.next.emplace(one.substr(0, equals), std::to_string(*offset)).second) {
      return base::invalid("--to \"" + text + "\" names " + std::string(one.substr(0, equals)) + " twice");
    }
  }
  if (positions.next.empty()) return bad(text);
  return sinks::RewindTarget(std::move(positions));
}

}  // namespace

base::Result<sinks::RewindTarget> parse_rewind_target(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "snapshot") {
    const auto id = parse_integer(rest);
    return id.ok() ? base::Result<sinks::RewindTarget>(sinks::ToSnapshot{*id}) : bad(text);
  }
  if (kind == "time") {
    const auto ms = parse_instant_ms(rest);
    return ms.ok() ? base::Result<sinks::RewindTarget>(sinks::ToTime{*ms}) : bad(text);
  }
  return kind == "offsets" ? parse_offsets(text, rest) : bad(text);
}

}  // namespace frazil::app
