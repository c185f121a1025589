// For tests: a text whose last byte is the last of a page, where the page behind cannot be read.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/check.h"

namespace frazil::format {

class GuardedText {
 public:
  explicit GuardedText(std::string_view text) : size_(text.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t pages = (size_ + page - 1) / page + 1;
    bytes_ = pages * page;
    memory_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(memory_ != MAP_FAILED);
    begin_ = memory_ + bytes_ - page - size_;
    if (size_ != 0) std::memcpy(begin_, text.data(), size_);
    CHECK(mprotect(memory_ + bytes_ - page, page, PROT_NONE) == 0);
  }
  GuardedText(const GuardedText&) = delete;
  GuardedText& operator=(const GuardedText&) = delete;
  ~GuardedText() { munmap(memory_, bytes_); }

  std::string_view view() const { return {begin_, size_}; }

 private:
  size_t size_ = 0;
  size_t bytes_ = 0;
  char* memory_ = nullptr;
  char* begin_ = nullptr;
};

}  // namespace frazil::format
