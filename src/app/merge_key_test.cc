#include "app/merge_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace frazil::app {
namespace {

namespace fs = std::filesystem;

class MergeKeyTest : public testing::Test {
 protected:
  MergeKeyTest() {
    char name[] = "/tmp/frazil_merge_key_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~MergeKeyTest() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ + "/merge.key"; }

  std::string folder_;
};

TEST_F(MergeKeyTest, IsMadeOnceAndReadableByItsUserAlone) {
  const auto first = merge_key_in(folder_), second = merge_key_in(folder_);
  ASSERT_TRUE(first.ok() && second.ok()) << first.error().message();
  EXPECT_EQ(first->size(), 64U);
  EXPECT_EQ(*first, *second);
  struct stat found {};
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  fs::remove(path());
  EXPECT_NE(merge_key_in(folder_).value(), *first);
}

TEST_F(MergeKeyTest, IsRefusedWhenOthersCanReadItOrItIsNone) {
  ASSERT_TRUE(merge_key_in(folder_).ok());
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  EXPECT_EQ(merge_key_in(folder_).error().code(), base::Code::kInvalid);
  ASSERT_EQ(chmod(path().c_str(), 0600), 0);
  std::ofstream(path()) << "short";
  EXPECT_EQ(merge_key_in(folder_).error().code(), base::Code::kInvalid);
  fs::remove(path());
  fs::create_symlink("/etc/passwd", path());
  EXPECT_FALSE(merge_key_in(folder_).ok());
  EXPECT_EQ(merge_key_in(folder_ + "/none").error().code(), base::Code::kNotFound);
}

TEST(MergeProofs, DifferByKeyEpochAndVerdict) {
  const std::string proof = epoch_proof("key", "epoch");
  EXPECT_EQ(proof, epoch_proof("key", "epoch"));
  EXPECT_NE(proof, epoch_proof("other", "epoch"));
  EXPECT_NE(proof, epoch_proof("key", "epoch2"));
  EXPECT_EQ(proof.find("key"), std::string::npos);
  const std::string answer = verdict_proof("key", proof, "done");
  EXPECT_NE(answer, verdict_proof("key", proof, "stale"));
  EXPECT_NE(answer, verdict_proof("key", epoch_proof("key", "epoch2"), "done"));
  EXPECT_NE(answer, verdict_proof("other", proof, "done"));
}

}  // namespace
}  // namespace frazil::app
