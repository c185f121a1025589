// Bounds: values in Iceberg's single-value binary form, and their truncation to safe prefixes.
//
// Source: Iceberg specification, appendix D (binary single-value serialization) and the truncation rules of
// write.metadata.metrics. A lower bound may be cut, an upper bound must be rounded up after the cut, so that every value
// still lies between them. Pure functions, any thread, no failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frazil::format {

// Big-endian two's complement in as few bytes as hold the sign.
std::string decimal_bound(__int128 unscaled);

// Cuts UTF-8 text after `code_points`. Shorter text is returned whole. Bytes that are not UTF-8 count one each.
std::string_view truncate_text(std::string_view text, int code_points);

// The smallest prefix-like text of at most `code_points` that is not below any text with the same beginning: the last code
// point is raised (never into the surrogates), carrying to the one before when it is the highest. Nothing when no code point
// can be raised.
std::optional<std::string> round_up_text(std::string_view text, int code_points);

// The same for bytes.
std::optional<std::string> round_up_bytes(std::string_view bytes, int length);

}  // namespace frazil::format
