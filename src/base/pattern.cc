#include "base/pattern.h"

#include <re2/re2.h>

namespace frazil::base {

class Pattern::Impl {
 public:
  explicit Impl(const std::string& expression) : expression_(expression, RE2::Quiet) {}
  const RE2& expression() const { return expression_; }

 private:
  RE2 expression_;
};

Pattern::Pattern(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

Result<Pattern> Pattern::compile(const std::string& expression) {
  auto impl = std::make_unique<const Impl>(expression);
  if (impl->expression().ok()) return Pattern(std::move(impl));
  return invalid("\"" + expression + "\" is not a regular expression: " + impl->expression().error());
}

bool Pattern::matches(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), impl_->expression());
}

}  // namespace frazil::base
