#include "format/json/json_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/json/guarded_text.h"

namespace frazil::format {
namespace {

std::vector<JsonKernel> kernels() {
  std::vector<JsonKernel> all;
  for (const JsonKernel kernel : {JsonKernel::kPlain, JsonKernel::kAvx2, JsonKernel::kAvx512}) {
    if (has_kernel(kernel)) all.push_back(kernel);
  }
  return all;
}

// Every byte in every place of a word, stops rare and dense.
std::string some_bytes(size_t size, uint32_t seed) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    seed = seed * 1664525 + 1013904223;
    const auto byte = static_cast<char>(seed >> 24);
    text += (seed >> 16 & 63) < size % 64 ? byte : 'a';
  }
  return text;
}

bool is_stop(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

void expect_index_of(const JsonIndex& index, std::string_view copy, const std::string& text) {
  ASSERT_EQ(copy, text);
  for (size_t i = 0; i < JsonIndex::kPadding; ++i) ASSERT_EQ(copy.data()[text.size() + i], '\0');
  size_t stop = text.size();
  bool is_ascii = true;
  for (size_t i = text.size() + 1; i-- > 0;) {
    if (i < text.size() && is_stop(text[i])) stop = i;
    if (i < text.size()) is_ascii = is_ascii && static_cast<signed char>(text[i]) >= 0;
    ASSERT_EQ(index.find_stop(copy.data() + i) - copy.data(), stop) << "size " << text.size() << " from " << i;
  }
  EXPECT_EQ(index.has_non_ascii(), !is_ascii) << text.size();
}

TEST(JsonIndex, FindsTheSameStopsWithEverySetOfInstructions) {
  for (const JsonKernel kernel : kernels()) {
    JsonIndex index(kernel);
    for (size_t size = 1; size < 400; ++size) {
      const GuardedText text(some_bytes(size, static_cast<uint32_t>(size)));
      expect_index_of(index, index.load(text.view()), std::string(text.view()));
    }
  }
}

TEST(JsonIndex, FindsNoStopBeforeTheEndOfPlainText) {
  for (const JsonKernel kernel : kernels()) {
    JsonIndex index(kernel);
    for (const size_t size : {1, 57, 58, 63, 64, 65, 128, 1000}) {
      const std::string text(size, 'x');
      expect_index_of(index, index.load(text), text);
    }
  }
}

TEST(JsonIndex, TellsEachByteThatIsAStopOrNotAscii) {
  for (const JsonKernel kernel : kernels()) {
    JsonIndex index(kernel);
    for (int c = 0; c < 256; ++c) {
      std::string text(100, 'x');
      text[70] = static_cast<char>(c);
      expect_index_of(index, index.load(text), text);
    }
  }
}

TEST(JsonIndex, ServesLargeDocumentsAndSmallOnesBehindThem) {
  for (const JsonKernel kernel : kernels()) {
    JsonIndex index(kernel);
    for (const size_t size : {size_t{10}, size_t{3} << 20, size_t{100}, size_t{5000}, size_t{1} << 20, size_t{64}}) {
      std::string text(size, 'x');
      text[size / 2] = '"';
      const std::string_view copy = index.load(text);
      ASSERT_EQ(copy, text);
      EXPECT_EQ(index.find_stop(copy.data()) - copy.data(), static_cast<int64_t>(size / 2));
      EXPECT_EQ(index.find_stop(copy.data() + size / 2 + 1) - copy.data(), static_cast<int64_t>(size));
    }
  }
}

}  // namespace
}  // namespace frazil::format
