#include "io/stored_files.h"

#include <gtest/gtest.h>

#include "io/memory_file_io.h"

namespace frazil::io {
namespace {

class StoredFiles : public ::testing::Test {
 protected:
  StoredFiles() : io_(make_memory_file_io()) {
    for (int i = 0; i < 40; ++i) {
      const std::string location = "memory://store/" + std::to_string(i);
      EXPECT_TRUE(write_file(*io_, location, std::string(static_cast<size_t>(i), 'x')).ok());
      expected_.push_back({location, i, 0});
    }
  }

  std::shared_ptr<FileIO> io_;
  std::vector<FileStatus> expected_;
};

TEST_F(StoredFiles, AreWellWhenEachHasItsSize) {
  const auto damage = damage_among(*io_, expected_);
  ASSERT_TRUE(damage.ok()) << damage.error().message();
  EXPECT_FALSE(damage->has_value());
}

TEST_F(StoredFiles, AreNamedWhenMissing) {
  ASSERT_TRUE(io_->remove("memory://store/33").ok());
  const auto damage = damage_among(*io_, expected_);
  ASSERT_TRUE(damage.ok() && damage->has_value());
  EXPECT_EQ(**damage, "memory://store/33 was reported as stored and is not there");
}

TEST_F(StoredFiles, AreNamedWithBothSizesWhenShort) {
  expected_[7].bytes = 8;
  const auto damage = damage_among(*io_, expected_);
  ASSERT_TRUE(damage.ok() && damage->has_value());
  EXPECT_EQ(**damage, "memory://store/7 was stored with 8 bytes and has 7");
}

TEST_F(StoredFiles, TellNothingWhenTheStoreCannotBeAsked) {
  expected_.push_back({"s3://another-scheme/1", 1, 0});
  const auto damage = damage_among(*io_, expected_);
  EXPECT_FALSE(damage.ok());
}

}  // namespace
}  // namespace frazil::io
