// JSON number tokens into exact values. Nothing but the floating types passes through floating point, and the size of
// an exponent costs nothing: 1e400000 is refused without being written out.
//
// Pure; no allocation; any thread. Tokens must match the grammar of JSON numbers (`is_json_number`).
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil::format {

enum class NumberFault { kNone, kOutOfRange, kNotIntegral, kExcessScale };

// Bytes of the JSON number (RFC 8259, section 6) at the start of the text; 0 when there is none.
int64_t json_number_size(const char* begin, const char* end);
inline bool is_json_number(std::string_view text) {
  return !text.empty() && json_number_size(text.data(), text.data() + text.size()) == static_cast<int64_t>(text.size());
}

// 42, 42.0 and 4.2e1 are integral, 42.5 is kNotIntegral.
NumberFault number_to_integer(std::string_view token, int64_t lowest, int64_t highest, int64_t* value);

// The unscaled value. Digits beyond `scale` are rounded half to even with `round`; else they are kExcessScale, unless
// zeros.
NumberFault number_to_decimal(std::string_view token, int precision, int scale, bool round, __int128* unscaled);

// The nearest value; a number that would become infinite is kOutOfRange, one that is too small becomes zero.
NumberFault number_to_double(std::string_view token, double* value);
NumberFault number_to_float(std::string_view token, float* value);

// floor(number * 10^power).
NumberFault number_to_scaled_floor(std::string_view token, int power, int64_t* value);

}  // namespace frazil::format
