// JsonSteps: the names that objects of one kind have, in the order in which the last ones had them.
//
// A step is a name together with the child of the schema that it stands for, or none: names that no column asks for are learned too,
// up to a limit. From each step leads one to the name that is expected next, which is compared with the document in whole words,
// quotes and colon included. A name that was not expected is looked up in a table by hash. Belongs to one
// reader; documents lie in memory with room behind (JsonIndex).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace frazil::format {

// `"name":` as it stands in a document.
class QuotedKey {
 public:
  QuotedKey() = default;
  // `name` must hold no character that JSON escapes.
  explicit QuotedKey(std::string_view name);

  // Bytes of the key at `at`, where kWords bytes are readable; 0 when it is not there.
  size_t match(const char* at) const {
    uint64_t word[2];
    std::memcpy(word, at, kWords);
    if ((((word[0] ^ words_[0]) & masks_[0]) | ((word[1] ^ words_[1]) & masks_[1])) != 0) return 0;
    return size_ <= kWords || has_rest(at) ? size_ : 0;
  }
  std::string_view name() const { return {text_.get() + 1, size_ - size_t{3}}; }

 private:
  static constexpr size_t kWords = 16;
  bool has_rest(const char* at) const;

  uint64_t words_[2] = {};
  uint64_t masks_[2] = {};
  std::unique_ptr<char[]> text_;
  uint32_t size_ = 0;
};

// Fills a line of the cache.
struct alignas(64) JsonStep {
  QuotedKey key;
  int32_t child = -1;       // of the schema, -1: none
  int32_t next = -1;        // the step expected behind this one, -1: none
  bool is_other_case = false;  // no child, but one whose name differs only by case
};

class JsonSteps {
 public:
  JsonSteps() = default;  // of values that are no objects: not to be asked
  // For the children's names in their order, which is expected first; a name that JSON escapes is left out.
  explicit JsonSteps(const std::vector<std::string_view>& names);

  // The step before the first name of an object.
  static constexpr int32_t kStart = 0;
  JsonStep& at(int32_t step) { return steps_[static_cast<size_t>(step)]; }

  // The step of that name, -1 when there is none. kReadAhead bytes from its first on must be readable.
  static constexpr size_t kReadAhead = 16;
  int32_t find(std::string_view name) const;
  // Learns a name that `find` did not find, and returns its step; -1 when there are too many, or the name is too long.
  int32_t learn(std::string_view name, int32_t child, bool is_other_case);

 private:
  static uint64_t hash(std::string_view name);
  void insert(int32_t step);

  std::vector<JsonStep> steps_;
  std::vector<int32_t> table_;  // steps by hash, -1: free; a power of two, at most half full
  size_t learned_ = 0;
};

}  // namespace frazil::format
