#include "io/rooted_file_io.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "io/local_file_io.h"
#include "io/memory_file_io.h"

namespace frazil::io {
namespace {

using base::Code;
namespace fs = std::filesystem;

class RootedFileIoTest : public testing::Test {
 protected:
  RootedFileIoTest() {
    std::string name = (fs::temp_directory_path() / "frazil_rooted_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ + "/lake");
    EXPECT_TRUE(write_file(*local_, folder_ + "/secret", "secret").ok());
    EXPECT_TRUE(write_file(*local_, folder_ + "/lakeside/f", "f").ok());
    io_ = make_rooted_file_io(local_, {"file://" + folder_ + "/lake/"});
  }
  ~RootedFileIoTest() override { fs::remove_all(folder_); }

  void expect_refused(const std::string& location) {
    EXPECT_EQ(io_->read(location).error().code(), Code::kInvalid) << location;
    EXPECT_EQ(io_->read_range(location, 0, 1).error().code(), Code::kInvalid) << location;
    EXPECT_EQ(io_->stat(location).error().code(), Code::kInvalid) << location;
    EXPECT_EQ(io_->create(location).error().code(), Code::kInvalid) << location;
    EXPECT_EQ(io_->remove(location).error().code(), Code::kInvalid) << location;
    EXPECT_EQ(io_->list(location + "/").error().code(), Code::kInvalid) << location;
  }

  std::string folder_;
  std::shared_ptr<FileIO> local_ = make_local_file_io();
  std::shared_ptr<FileIO> io_;
};

TEST_F(RootedFileIoTest, AdmitsEveryFormBelowTheRoot) {
  for (const std::string& form :
       {folder_ + "/lake/a/f", "file:" + folder_ + "/lake/b/f", "file://" + folder_ + "/lake/c/f"}) {
    EXPECT_TRUE(write_file(*io_, form, "x").ok()) << form;
    EXPECT_EQ(*io_->read(form), "x") << form;
  }
  EXPECT_EQ(io_->list(folder_ + "/lake/")->size(), 3u);
}

TEST_F(RootedFileIoTest, RefusesWhatLiesOutside) {
  expect_refused(folder_ + "/secret");
  expect_refused("file://" + folder_ + "/secret");
  expect_refused(folder_ + "/lakeside/f");
  expect_refused("/etc/passwd");
  expect_refused("memory://lake/f");
  EXPECT_EQ(*local_->read(folder_ + "/secret"), "secret");
}

TEST_F(RootedFileIoTest, SaysWhichRootsThereAreAndWhatToDo) {
  const std::string message = io_->read("/etc/passwd").error().message();
  EXPECT_NE(message.find("/etc/passwd"), std::string::npos) << message;
  EXPECT_NE(message.find(folder_ + "/lake"), std::string::npos) << message;
  EXPECT_NE(message.find("files.allowed_roots"), std::string::npos) << message;
}

TEST_F(RootedFileIoTest, RefusesDotParts) {
  expect_refused(folder_ + "/lake/../secret");
  expect_refused(folder_ + "/lake/a/../../secret");
  expect_refused(folder_ + "/lake/./f");
}

TEST_F(RootedFileIoTest, RefusesLinksThatLeadOut) {
  fs::create_symlink(folder_ + "/secret", folder_ + "/lake/link");
  fs::create_directory_symlink(folder_ + "/lakeside", folder_ + "/lake/side");
  expect_refused(folder_ + "/lake/link");
  expect_refused(folder_ + "/lake/side/f");
  expect_refused(folder_ + "/lake/side/new/f");
}

TEST_F(RootedFileIoTest, FollowsLinksThatStayInside) {
  ASSERT_TRUE(write_file(*io_, folder_ + "/lake/real/f", "x").ok());
  fs::create_directory_symlink(folder_ + "/lake/real", folder_ + "/lake/alias");
  EXPECT_EQ(*io_->read(folder_ + "/lake/alias/f"), "x");
}

TEST_F(RootedFileIoTest, TakesARootThatIsALinkOrAppearsLater) {
  fs::create_directory_symlink(folder_ + "/lake", folder_ + "/alias");
  const auto linked = make_rooted_file_io(local_, {folder_ + "/alias"});
  EXPECT_TRUE(write_file(*linked, folder_ + "/lake/f", "x").ok());
  EXPECT_EQ(*linked->read(folder_ + "/alias/f"), "x");
  const auto later = make_rooted_file_io(local_, {folder_ + "/later"});
  EXPECT_TRUE(write_file(*later, folder_ + "/later/a/f", "x").ok());
  EXPECT_FALSE(later->read(folder_ + "/lake/f").ok());
}

TEST_F(RootedFileIoTest, AdmitsAllBelowTheRootOfTheDiskAndNothingWithoutRoots) {
  EXPECT_TRUE(make_rooted_file_io(local_, {"/"})->read(folder_ + "/secret").ok());
  EXPECT_FALSE(make_rooted_file_io(local_, {})->read(folder_ + "/secret").ok());
}

TEST(RootedFileIo, ComparesOtherSchemesByText) {
  const auto io = make_rooted_file_io(make_memory_file_io(), {"memory://lake/w"});
  EXPECT_TRUE(write_file(*io, "memory://lake/w/f", "x").ok());
  EXPECT_EQ(io->read("memory://lake/ww/f").error().code(), Code::kInvalid);
  EXPECT_EQ(io->read("memory://lake/w/../x").error().code(), Code::kInvalid);
}

}  // namespace
}  // namespace frazil::io
