// CHECK: guards our own invariants, in release builds too. Never reached by input, configuration or the network.
#pragma once

namespace frazil::base {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}

#define CHECK(expression) \
  (static_cast<bool>(expression) ? void(0) : ::frazil::base::check_failed(#expression, __FILE__, __LINE__))
