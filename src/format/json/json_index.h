// JsonIndex: a document in memory of our own, and a bitmap of the characters that end the plain part of a string.
//
// Why a copy: its readers compare and copy in whole words without looking where the document ends. What lies behind a record that
// a source hands over is not ours to read, so the room behind the end is made here: kPadding bytes of zeros. The zeros end every
// search too, since a control character ends the plain part of a string.
//
// The copy, the bitmap and the look for non-ASCII bytes are one pass, written once for each set of instructions and chosen when the
// index is made. Belongs to one decoder.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace frazil::format {

// Sets of instructions; kPlain is any processor's.
enum class JsonKernel { kPlain, kAvx2, kAvx512 };

// Whether this processor has it.
bool has_kernel(JsonKernel kernel);
JsonKernel best_kernel();

class JsonIndex {
 public:
  static constexpr size_t kPadding = 64;

  // `kernel` must be one that this processor has.
  explicit JsonIndex(JsonKernel kernel);

  // Returns the copy, which holds until the next call.
  std::string_view load(std::string_view document);

  // Room for a text that is no longer than the document, and kPadding more.
  char* scratch() const { return scratch_.get(); }

  bool has_non_ascii() const { return has_non_ascii_; }

  // The first quote, backslash, control character or end of the document at or behind `at`, which is not behind the end.
  const char* find_stop(const char* at) const {
    const auto offset = static_cast<size_t>(at - text_.get());
    const uint64_t bits = stops_from(offset);
    return bits != 0 ? at + std::countr_zero(bits) : find_far_stop(offset);
  }

  // Copies `size` bytes to `to`, fills the last 64 and 64 more up with zeros, and sets a bit of `stops` for each quote, backslash and
  // byte below 0x20 among the copied and filled ones. Returns whether a byte is not ASCII.
  using Load = bool (*)(const char* from, size_t size, char* to, uint64_t* stops);

 private:
  // The bits of 57 characters and some more: those of one read that need not begin at a word.
  uint64_t stops_from(size_t offset) const {
    uint64_t bits;
    std::memcpy(&bits, reinterpret_cast<const char*>(stops_.get()) + offset / 8, sizeof(bits));
    return bits >> (offset % 8);
  }
  const char* find_far_stop(size_t offset) const;

  const Load load_;
  bool has_non_ascii_ = false;
  size_t capacity_ = 0;
  std::unique_ptr<char[]> text_;
  std::unique_ptr<uint64_t[]> stops_;
  std::unique_ptr<char[]> scratch_;
};

}  // namespace frazil::format
