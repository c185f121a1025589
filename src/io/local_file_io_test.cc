// What only the local FileIO has: the order of its steps, and its failures. The rest is in tests/conformance.
#include "io/local_file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace frazil::io {
namespace {

using base::Code;
using base::Status;
namespace fs = std::filesystem;

std::string name_of(int descriptor) {
  return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string();
}

class LocalFileIoTest : public testing::Test {
 protected:
  LocalFileIoTest() {
    std::string name = (fs::temp_directory_path() / "frazil_local_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    calls_ = system_calls();
  }
  ~LocalFileIoTest() override { fs::remove_all(root_); }

  // Everything below the root, hidden files included.
  size_t entries() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) count += entry.is_regular_file();
    return count;
  }
  Status write_with_calls(const std::string& name, const std::string& bytes) {
    return write_file(*make_local_file_io(calls_), root_ + "/" + name, bytes);
  }
  // Lets the sync of files (or of folders) fail with `error`.
  void fail_sync(bool of_folders, int error) {
    calls_.sync = [of_folders, error](int descriptor) {
      if (fs::is_directory(name_of(descriptor)) != of_folders) return ::fsync(descriptor);
      errno = error;
      return -1;
    };
  }
  void fail_write(int error) {
    calls_.write = [error](int, const void*, size_t) -> ssize_t {
      errno = error;
      return -1;
    };
  }

  std::string root_;
  LocalCalls calls_;
};

// Nothing may be named before its bytes are durable, and nothing reported before its name is: a power cut after any
// step leaves either no file or a whole one.
TEST_F(LocalFileIoTest, MakesBytesDurableThenTheNameThenTheFolder) {
  std::vector<std::string> steps;
  calls_.write = [&](int descriptor, const void* bytes, size_t count) {
    steps.push_back("write");
    return ::write(descriptor, bytes, count);
  };
  calls_.sync = [&](int descriptor) {
    const std::string name = name_of(descriptor);
    steps.push_back(fs::is_directory(name) ? "sync " + name.substr(std::min(root_.size(), name.size())) : "sync file");
    return ::fsync(descriptor);
  };
  calls_.publish = [&, publish = calls_.publish](const std::string& from, const std::string& to) {
    steps.push_back("publish");
    return publish(from, to);
  };
  const auto io = make_local_file_io(calls_);
  ASSERT_TRUE(write_file(*io, root_ + "/t/data/f", "x").ok());
  const std::vector<std::string> tail(steps.end() - 6, steps.end());
  EXPECT_EQ(tail, (std::vector<std::string>{"sync ", "sync /t", "write", "sync file", "publish", "sync /t/data"}));

  steps.clear();
  ASSERT_TRUE(write_file(*io, root_ + "/t/data/g", "x").ok());
  EXPECT_EQ(steps, (std::vector<std::string>{"write", "sync file", "publish", "sync /t/data"}));
}

TEST_F(LocalFileIoTest, MakesFoldersAgainThatSomebodyRemoved) {
  const auto io = make_local_file_io();
  ASSERT_TRUE(write_file(*io, root_ + "/t/data/f", "x").ok());
  fs::remove_all(root_ + "/t");
  ASSERT_TRUE(write_file(*io, root_ + "/t/data/f", "y").ok());
  EXPECT_EQ(*io->read(root_ + "/t/data/f"), "y");
}

TEST_F(LocalFileIoTest, NamesEachCauseOfAFailedWrite) {
  const std::vector<std::pair<int, Code>> causes = {{ENOSPC, Code::kExhausted}, {EDQUOT, Code::kExhausted},
                                                    {EACCES, Code::kInvalid},   {EROFS, Code::kUnavailable},
                                                    {EIO, Code::kUnavailable},  {EFBIG, Code::kInvalid}};
  for (const auto& [error, code] : causes) {
    fail_write(error);
    const Status done = write_with_calls("f", "x");
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code(), code) << done.error().message();
    EXPECT_NE(done.error().message().find(root_ + "/f"), std::string::npos) << done.error().message();
    EXPECT_NE(done.error().message().find(std::strerror(error)), std::string::npos) << done.error().message();
    EXPECT_EQ(entries(), 0u);
  }
}

TEST_F(LocalFileIoTest, StaysFailedAfterAFailedWrite) {
  fail_write(ENOSPC);
  auto file = make_local_file_io(calls_)->create(root_ + "/f");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->write(std::string(1'000'000, 'x')).error().code(), Code::kExhausted);
  EXPECT_EQ((*file)->write("y").error().code(), Code::kExhausted);
  EXPECT_EQ((*file)->close().error().code(), Code::kExhausted);
  file = base::invalid("dropped");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(LocalFileIoTest, WritesOnAfterShortWritesAndInterruptions) {
  int calls = 0;
  calls_.write = [&](int descriptor, const void* bytes, size_t count) -> ssize_t {
    if (++calls % 3 == 0) {
      errno = EINTR;
      return -1;
    }
    return ::write(descriptor, bytes, std::min<size_t>(count, 7));
  };
  const std::string bytes = "a long line that takes several short writes to be written";
  ASSERT_TRUE(write_with_calls("f", bytes).ok());
  EXPECT_EQ(*make_local_file_io()->read(root_ + "/f"), bytes);
}

TEST_F(LocalFileIoTest, DoesNotNameAFileWhoseBytesMayBeLost) {
  fail_sync(false, EIO);
  EXPECT_EQ(write_with_calls("f", "x").error().code(), Code::kUnknownOutcome);
  EXPECT_EQ(entries(), 0u);
  fail_sync(false, ENOSPC);
  EXPECT_EQ(write_with_calls("f", "x").error().code(), Code::kExhausted);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(LocalFileIoTest, ReportsANameThatMayBeLostAsUnknown) {
  ASSERT_TRUE(write_with_calls("warm", "").ok());
  calls_.sync = [published = false](int descriptor) mutable {
    if (!fs::is_directory(name_of(descriptor)))
      published = true;
    else if (published)
      return errno = EIO, -1;
    return ::fsync(descriptor);
  };
  EXPECT_EQ(write_with_calls("f", "x").error().code(), Code::kUnknownOutcome);
  // Nothing is deleted after an unknown outcome.
  EXPECT_EQ(*make_local_file_io()->read(root_ + "/f"), "x");
}

TEST_F(LocalFileIoTest, AcceptsFileSystemsThatCannotSyncFolders) {
  fail_sync(true, EINVAL);
  EXPECT_TRUE(write_with_calls("new/f", "x").ok());
}

TEST_F(LocalFileIoTest, ReportsARefusedName) {
  calls_.publish = [](const std::string&, const std::string&) { return errno = ENOSPC, -1; };
  EXPECT_EQ(write_with_calls("f", "x").error().code(), Code::kExhausted);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(LocalFileIoTest, RefusesNamesThatTheSystemCannotHold) {
  const auto io = make_local_file_io();
  EXPECT_EQ(write_file(*io, root_ + "/" + std::string(300, 'x'), "x").error().code(), Code::kInvalid);
  ASSERT_TRUE(write_file(*io, root_ + "/f", "x").ok());
  EXPECT_EQ(write_file(*io, root_ + "/f/below", "x").error().code(), Code::kInvalid);
  EXPECT_EQ(io->create("relative/f").error().code(), Code::kInvalid);
}

TEST_F(LocalFileIoTest, ReadsEveryFormOfALocation) {
  const auto io = make_local_file_io();
  ASSERT_TRUE(write_file(*io, "file://" + root_ + "/f", "x").ok());
  for (const std::string& form : {"file:" + root_ + "/f", root_ + "/f", "file://localhost" + root_ + "/f"}) {
    EXPECT_EQ(*io->read(form), "x") << form;
  }
  EXPECT_EQ((*io->list("file:" + root_ + "/"))[0].location, "file:" + root_ + "/f");
}

TEST_F(LocalFileIoTest, ListsNeitherLeftoversNorLinks) {
  const auto io = make_local_file_io();
  ASSERT_TRUE(write_file(*io, root_ + "/d/f", "x").ok());
  const int leftover = ::open((root_ + "/d/.frazil-0b1c").c_str(), O_CREAT | O_WRONLY, 0666);
  ASSERT_GE(leftover, 0);
  ::close(leftover);
  fs::create_directory_symlink(root_, root_ + "/d/circle");
  const auto files = io->list(root_ + "/");
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].location, root_ + "/d/f");
}

TEST_F(LocalFileIoTest, DoesNotWaitForANamedPipe) {
  ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0666), 0);
  EXPECT_EQ(make_local_file_io()->read(root_ + "/pipe").error().code(), Code::kNotFound);
}

TEST_F(LocalFileIoTest, DoesNotReplaceALinkThatLeadsNowhere) {
  fs::create_symlink(root_ + "/nowhere", root_ + "/link");
  EXPECT_EQ(write_file(*make_local_file_io(), root_ + "/link", "x").error().code(), Code::kExists);
}

TEST_F(LocalFileIoTest, RefusesToRemoveAFolder) {
  fs::create_directory(root_ + "/d");
  EXPECT_FALSE(make_local_file_io()->remove(root_ + "/d").ok());
  EXPECT_TRUE(fs::exists(root_ + "/d"));
}

TEST(FileIoFor, PicksByScheme) {
  EXPECT_TRUE(file_io_for("file:///a").ok());
  EXPECT_TRUE(file_io_for("/a").ok());
  EXPECT_EQ(file_io_for("a").error().code(), Code::kInvalid);
  const auto unknown = file_io_for("gopher://host/a");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), Code::kUnsupported);
  EXPECT_NE(unknown.error().message().find("gopher"), std::string::npos);
}

TEST(FileIoFor, GivesOneMemoryStoreToAll) {
  ASSERT_TRUE(write_file(**file_io_for("memory://shared/a"), "memory://shared/a", "x").ok());
  EXPECT_EQ(*(*file_io_for("memory://shared/b"))->read("memory://shared/a"), "x");
}

}  // namespace
}  // namespace frazil::io
