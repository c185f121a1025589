// Pattern: a regular expression that comes from a user, matched in time that is linear in the text, whatever both hold.
//
// RE2's syntax: that of Perl without what needs a search back (lookaround, back references). Texts are UTF-8, a `.` takes one
// character. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::base {

class Pattern {
 public:
  // kInvalid: not a regular expression; says why.
  static Result<Pattern> compile(const std::string& expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Whether the text matches as a whole.
  bool matches(std::string_view text) const;

 private:
  class Impl;
  explicit Pattern(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace frazil::base
