// JsonCursor: walks over a JSON document once, from left to right, and checks its grammar (RFC 8259) as it goes.
//
// It knows values and tokens, not columns; its reader asks for what it expects to come next. Every byte that it passes
// has been checked, so what a reader skips is as valid as what it takes. The document must be valid UTF-8 and outlive
// the cursor. A member function that returns false has found a fault; `fault()` tells which, and the cursor is of no
// more use then. One thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "format/json/json_index.h"

namespace frazil::format {

static_assert(std::endian::native == std::endian::little, "the search in strings takes the first byte for the lowest");

// A field's name as it stands in a document, quotes included, ready to be compared in two words if it is short.
class QuotedName {
 public:
  QuotedName() = default;
  // `name` must hold no character that JSON escapes.
  explicit QuotedName(std::string_view name) : text_('"' + std::string(name) + '"') {
    const size_t size = text_.size() < kWords ? text_.size() : kWords;
    std::memcpy(words_, text_.data(), size);
    for (size_t i = 0; i < size; ++i) reinterpret_cast<unsigned char*>(masks_)[i] = 0xff;
  }

  // Bytes of the name at `at`, where at least one byte is left; 0 when it is not there.
  size_t match(const char* at, const char* end) const {
    const auto left = static_cast<size_t>(end - at);
    const size_t size = text_.size();
    if (left < kWords || size > kWords) {
      return left >= size && std::memcmp(at, text_.data(), size) == 0 ? size : 0;
    }
    uint64_t word[2];
    std::memcpy(word, at, kWords);
    return ((word[0] ^ words_[0]) & masks_[0]) == 0 && ((word[1] ^ words_[1]) & masks_[1]) == 0 ? size : 0;
  }

 private:
  static constexpr size_t kWords = 16;
  std::string text_;
  uint64_t words_[2] = {};
  uint64_t masks_[2] = {};
};

// What stands between the quotes of a string.
struct RawString {
  std::string_view text;
  bool has_escapes = false;
};

// Appends the text that a checked raw string stands for.
void append_unescaped(std::string_view raw, std::string& out);

class JsonCursor {
 public:
  enum class Fault { kNone, kNotJson, kTooDeep };

  // `index`, if there is one, holds the document.
  void start(std::string_view document, int max_depth, const JsonIndex* index) {
    index_ = index;
    begin_ = at_ = document.data();
    end_ = begin_ + document.size();
    depth_ = 0;
    max_depth_ = max_depth;
    fault_ = Fault::kNone;
  }

  // Where the cursor is. `seek` goes back to a place of the same depth.
  const char* position() const { return at_; }
  void seek(const char* position) { at_ = position; }

  bool has_index() const { return index_ != nullptr; }
  // Of the index, where there is one.
  const char* find_stop(const char* at) const { return index_->find_stop(at); }
  char* scratch() const { return index_->scratch(); }

  // The next character that is not white space, where the cursor then stands; 0 at the end.
  char peek() {
    while (at_ != end_) {
      const char c = *at_;
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
      ++at_;
    }
    return '\0';
  }

  // Passes that character if it comes next.
  bool take(char c) {
    if (peek() != c || at_ == end_) return false;
    ++at_;
    return true;
  }

  // Passes an object's or array's first and last character, and keeps count of the depth.
  bool enter() {
    ++at_;
    return ++depth_ <= max_depth_ || fail(Fault::kTooDeep, "nested too deep");
  }
  bool leave(char closing) {
    --depth_;
    return take(closing) || fail(Fault::kNotJson, closing == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
  }

  // Passes the name if it is written just so at the cursor, which stands at a quote.
  bool take_name(const QuotedName& name) {
    const size_t size = name.match(at_, end_);
    at_ += size;
    return size != 0;
  }
  bool take_colon() { return take(':') || fail(Fault::kNotJson, "expected ':'"); }
  bool expect_name() { return peek() == '"' || fail(Fault::kNotJson, "expected a field name in quotes"); }

  // Each passes the value that begins at the cursor.
  bool scan_string(RawString* string);
  bool scan_number(std::string_view* token);
  bool scan_literal(std::string_view word);
  bool skip_value();

  // Nothing but white space may follow.
  bool expect_end() {
    return (peek() == '\0' && at_ == end_) || fail(Fault::kNotJson, "expected the end of the document");
  }
  bool fail_value() { return fail(Fault::kNotJson, "expected a value"); }

  Fault fault() const { return fault_; }
  // "expected ',' or '}' at byte 17".
  std::string describe_fault() const;

 private:
  bool fail(Fault fault, const char* text) {
    fault_ = fault;
    fault_text_ = text;
    return false;
  }
  bool scan_escape();
  bool scan_hex(uint32_t* unit);
  bool skip_object();
  bool skip_array();

  const JsonIndex* index_ = nullptr;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  int depth_ = 0;
  int max_depth_ = 0;
  Fault fault_ = Fault::kNone;
  const char* fault_text_ = "";
};

}  // namespace frazil::format
