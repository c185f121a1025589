#include "iceberg/catalogs/sqlite_database.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Status;
namespace fs = std::filesystem;
using Rows = std::vector<SqliteDatabase::Row>;

class SqliteDatabaseTest : public testing::Test {
 protected:
  SqliteDatabaseTest() {
    std::string name = (fs::temp_directory_path() / "frazil_sqlite_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/it's a 100% database?.db";
  }
  ~SqliteDatabaseTest() override { fs::remove_all(folder_); }

  std::unique_ptr<SqliteDatabase> open(int busy_timeout_ms = 10) {
    auto database = SqliteDatabase::open(path_, {.busy_timeout_ms = busy_timeout_ms, .vfs = ""});
    EXPECT_TRUE(database.ok()) << database.error().message();
    return std::move(database).value();
  }
  std::unique_ptr<SqliteDatabase> open_with_table() {
    auto database = open();
    EXPECT_TRUE(database->execute("CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)").ok());
    EXPECT_TRUE(database->execute("INSERT INTO t VALUES ('a', '1')").ok());
    return database;
  }
  static Status set(SqliteDatabase& database, const std::string& value) {
    return database.transact([&] { return database.execute("UPDATE t SET v = ? WHERE k = 'a'", {value}).status(); });
  }
  static std::string get(SqliteDatabase& database) {
    return database.query("SELECT v FROM t WHERE k = 'a'")->at(0).at(0).value();
  }

  std::string folder_;
  std::string path_;
};

TEST_F(SqliteDatabaseTest, BindsTextAndNullAsTheyAre) {
  const auto database = open_with_table();
  const std::string nasty = "'; DROP TABLE t; -- \xF0\x9F\xA7\x8A %_";
  ASSERT_TRUE(database->execute("INSERT INTO t VALUES (?, ?)", {nasty, std::nullopt}).ok());
  const auto rows = database->query("SELECT k, v FROM t WHERE k = ?", {nasty});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (Rows{{nasty, std::nullopt}}));
  EXPECT_EQ(*database->execute("UPDATE t SET v = 'x'"), 2);
  EXPECT_EQ(*database->execute("UPDATE t SET v = 'x' WHERE k = 'absent'"), 0);
}

TEST_F(SqliteDatabaseTest, RollsBackWhenTheBodyFails) {
  const auto database = open_with_table();
  const Status done = database->transact([&]() -> Status {
    TRY(database->execute("UPDATE t SET v = '2'"));
    return base::Error(Code::kConflict, "no");
  });
  EXPECT_EQ(done.error().code(), Code::kConflict);
  EXPECT_EQ(get(*database), "1");
  EXPECT_TRUE(set(*database, "3").ok());
  EXPECT_EQ(get(*open()), "3");
}

TEST_F(SqliteDatabaseTest, SaysThatAKeyIsTaken) {
  const auto database = open_with_table();
  const Status done = database->transact([&] { return database->execute("INSERT INTO t VALUES ('a', '2')").status(); });
  EXPECT_EQ(done.error().code(), Code::kExists);
  EXPECT_EQ(get(*database), "1");
}

TEST_F(SqliteDatabaseTest, IsUnavailableWhileAnotherWriterHoldsTheLock) {
  const auto database = open_with_table();
  const auto other = open();
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE").ok());
  const Status done = set(*database, "2");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::kUnavailable);
  EXPECT_NE(done.error().message().find(path_), std::string::npos);
  ASSERT_TRUE(other->execute("ROLLBACK").ok());
  EXPECT_TRUE(set(*database, "2").ok());
}

// A reader keeps COMMIT from taking its last lock: that is known not to have happened.
TEST_F(SqliteDatabaseTest, IsUnavailableWhenAReaderBlocksTheCommit) {
  const auto database = open_with_table();
  const auto reader = open();
  ASSERT_TRUE(reader->execute("BEGIN").ok());
  EXPECT_EQ(get(*reader), "1");
  EXPECT_EQ(set(*database, "2").error().code(), Code::kUnavailable);
  ASSERT_TRUE(reader->execute("COMMIT").ok());
  EXPECT_EQ(get(*reader), "1");
  EXPECT_TRUE(set(*database, "3").ok());
  EXPECT_EQ(get(*reader), "3");
}

TEST_F(SqliteDatabaseTest, LeavesTheJournalModeAsItWas) {
  open_with_table();
  EXPECT_EQ(open()->query("PRAGMA journal_mode")->at(0).at(0), "delete");
  ASSERT_TRUE(open()->query("PRAGMA journal_mode = WAL").ok());
  const auto database = open();
  ASSERT_TRUE(set(*database, "2").ok());
  EXPECT_EQ(database->query("PRAGMA journal_mode")->at(0).at(0), "wal");
}

TEST_F(SqliteDatabaseTest, SaysWhatIsWrongWithTheFile) {
  EXPECT_EQ(SqliteDatabase::open("", {}).error().code(), Code::kInvalid);
  EXPECT_EQ(SqliteDatabase::open(":memory:", {}).error().code(), Code::kInvalid);
  const auto no_folder = SqliteDatabase::open(folder_ + "/absent/catalog.db", {});
  EXPECT_EQ(no_folder.error().code(), Code::kInvalid);
  EXPECT_NE(no_folder.error().message().find("/absent/catalog.db"), std::string::npos);
  EXPECT_EQ(SqliteDatabase::open(folder_, {}).error().code(), Code::kInvalid);
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_EQ(open()->query("SELECT 1 FROM sqlite_master").error().code(), Code::kCorrupt);
}

TEST(NetworkFileSystem, IsToldByItsType) {
  for (uint64_t type : {0x6969u, 0x517Bu, 0xFF534D42u, 0xFE534D42u, 0x01021997u})
    EXPECT_TRUE(is_network_file_system(type)) << type;
  for (uint64_t type : {0xEF53u, 0x58465342u, 0x9123683Eu, 0x01021994u, 0x794C7630u})
    EXPECT_FALSE(is_network_file_system(type)) << type;
}

}  // namespace
}  // namespace frazil::iceberg
