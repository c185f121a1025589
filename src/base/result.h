// Result and Status: how every fallible function of Frazil answers.
//
// A code says what the caller can do, not where the failure arose; the message says what failed, where, and what to do.
// Context is added outwards with `.in("table db.orders")`. Nothing in Frazil throws; libraries that throw are wrapped
// where they are called. Values are immutable after construction and may cross threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/halt.h"

namespace frazil::base {

enum class Code {
  kInvalid,         // the input or configuration is wrong: fix it
  kNotFound,        // the named thing does not exist
  kExists,          // the named thing exists already
  kConflict,        // somebody was faster: reload and rebase
  kUnknownOutcome,  // it may have happened: look, never repeat blindly
  kUnavailable,     // retry later
  kExhausted,       // slow down
  kCorrupt,         // stop, keep the evidence
  kUnsupported,     // Frazil does not do this
  kCancelled,       // an interrupt was raised
  kHalted,          // an operator has to decide; carries a Halt
  kBug,             // an invariant of ours was broken
};

// Stable lower-case name of a code, for logs and JSON ("unknown_outcome").
std::string_view code_name(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  explicit Error(Halt halt)
      : code_(Code::kHalted), message_(halt.code + ": " + halt.text), halt_(std::make_shared<const Halt>(std::move(halt))) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // Set exactly when code() is kHalted.
  const Halt* halt() const { return halt_.get(); }

  // The same error, told from further outside: "table db.orders: <message>".
  Error in(std::string_view where) && {
    message_ = std::string(where) + ": " + message_;
    return std::move(*this);
  }
  Error in(std::string_view where) const& { return Error(*this).in(where); }

 private:
  Code code_;
  std::string message_;
  std::shared_ptr<const Halt> halt_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  const Error& error() const {
    CHECK(error_.has_value());
    return *error_;
  }
  Status in(std::string_view where) && {
    if (error_) error_ = std::move(*error_).in(where);
    return std::move(*this);
  }

 private:
  std::optional<Error> error_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  const T& value() const& {
    CHECK(ok());
    return std::get<0>(state_);
  }
  T& value() & {
    CHECK(ok());
    return std::get<0>(state_);
  }
  T value() && {
    CHECK(ok());
    return std::get<0>(std::move(state_));
  }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const Error& error() const {
    CHECK(!ok());
    return std::get<1>(state_);
  }
  Status status() const { return ok() ? Status() : Status(error()); }
  Result in(std::string_view where) && {
    if (!ok()) return Result(std::get<1>(std::move(state_)).in(where));
    return std::move(*this);
  }

 private:
  std::variant<T, Error> state_;
};

inline Error invalid(std::string message) { return Error(Code::kInvalid, std::move(message)); }
inline Error not_found(std::string message) { return Error(Code::kNotFound, std::move(message)); }
inline Error corrupt(std::string message) { return Error(Code::kCorrupt, std::move(message)); }
inline Error unsupported(std::string message) { return Error(Code::kUnsupported, std::move(message)); }
inline Error unavailable(std::string message) { return Error(Code::kUnavailable, std::move(message)); }
inline Error cancelled(std::string message) { return Error(Code::kCancelled, std::move(message)); }

}  // namespace frazil::base

// TRY(expression): return the error of a Status or Result from the enclosing function, drop the value.
// TRY_ASSIGN(declaration, expression): declare or assign the value of a Result, or return its error.
#define FRAZIL_JOIN_INNER(a, b) a##b
#define FRAZIL_JOIN(a, b) FRAZIL_JOIN_INNER(a, b)
#define TRY(expression)                              \
  do {                                               \
    auto&& frazil_try_ = (expression);               \
    if (!frazil_try_.ok()) return frazil_try_.error(); \
  } while (false)
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_INNER(FRAZIL_JOIN(frazil_try_, __COUNTER__), declaration, expression)
#define TRY_ASSIGN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                             \
  if (!temporary.ok()) return temporary.error();             \
  declaration = std::move(temporary).value()
