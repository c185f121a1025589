// Assertions on Status and Result that print the error.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"

namespace frazil::conformance {

inline const base::Error* error_of(const base::Status& status) {
  return status.ok() ? nullptr : &status.error();
}
template <typename T>
const base::Error* error_of(const base::Result<T>& result) {
  return result.ok() ? nullptr : &result.error();
}

template <typename T>
testing::AssertionResult is_ok(const T& answer) {
  const base::Error* error = error_of(answer);
  if (error == nullptr) return testing::AssertionSuccess();
  return testing::AssertionFailure() << base::code_name(error->code()) << ": " << error->message();
}

template <typename T>
testing::AssertionResult fails_with(const T& answer, base::Code code) {
  const base::Error* error = error_of(answer);
  if (error == nullptr) return testing::AssertionFailure() << "succeeded, expected " << base::code_name(code);
  if (error->code() == code) return testing::AssertionSuccess();
  return testing::AssertionFailure() << base::code_name(error->code()) << " (" << error->message() << "), expected "
                                     << base::code_name(code);
}

}  // namespace frazil::conformance
