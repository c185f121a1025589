// The SQLite catalog on a disk that fails: whatever operation fails, the answer says the truth about the table.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "iceberg/catalogs/sqlite.h"
#include "iceberg/catalogs/sqlite_database.h"
#include "io/local_file_io.h"
#include "tests/conformance/faulty_vfs.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/conformance/table_samples.h"

namespace frazil::conformance {
namespace {

using base::Code;
using iceberg::Catalog;
using iceberg::SqliteOptions;
using iceberg::TableId;

class SqliteFaults : public testing::TestWithParam<const char*> {
 protected:
  SqliteFaults() {
    const auto database = iceberg::SqliteDatabase::open(path_, {});
    EXPECT_TRUE(is_ok((*database)->query(std::string("PRAGMA journal_mode = ") + GetParam())));
    const auto catalog = open("");
    EXPECT_TRUE(is_ok(catalog->create_namespace({"db"})));
    EXPECT_TRUE(is_ok(catalog->create_table(orders_, sample_table())));
  }
  ~SqliteFaults() override { FaultyVfs::instance().stop_failing(); }

  std::unique_ptr<Catalog> open(const std::string& vfs) {
    auto catalog = iceberg::open_sqlite_catalog(path_, "lake", folder_.uri(), io::make_local_file_io(),
                                                SqliteOptions{.busy_timeout_ms = 1000, .vfs = vfs});
    EXPECT_TRUE(is_ok(catalog));
    return std::move(catalog).value();
  }
  // What somebody else finds who opens the file now.
  std::string property() {
    const auto table = open("")->load_table(orders_);
    EXPECT_TRUE(is_ok(table));
    return table.ok() ? table->metadata.property("value") : "";
  }

  const TableId orders_{{"db"}, "orders"};
  ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/catalog.db";
};

TEST_P(SqliteFaults, TellTheTruthAtEveryDiskOperationOfACommit) {
  FaultyVfs& vfs = FaultyVfs::instance();
  const auto catalog = open(FaultyVfs::kName);
  ASSERT_TRUE(is_ok(catalog->commit_table(orders_, set_property("value", "start"))));
  std::string before = "start";
  int unknown = 0, refused = 0;
  for (const bool after : {false, true}) {
    for (int operation = 1, failed = 1; failed; ++operation) {
      ASSERT_LT(operation, 100);
      const std::string value = std::to_string(operation) + (after ? " after" : " before");
      vfs.fail_at(operation, after);
      const auto done = catalog->commit_table(orders_, set_property("value", value));
      failed = vfs.has_failed();
      vfs.stop_failing();
      const std::string found = property();
      if (done.ok()) {
        EXPECT_EQ(found, value);
      } else if (done.error().code() == Code::kUnknownOutcome) {
        ++unknown;
        EXPECT_TRUE(found == value || found == before) << found;
      } else {
        ++refused;
        EXPECT_TRUE(fails_with(done, Code::kUnavailable));
        EXPECT_EQ(found, before);
      }
      // The same catalog object goes on, and sees what the others see.
      const auto again = catalog->load_table(orders_);
      ASSERT_TRUE(is_ok(again));
      EXPECT_EQ(again->metadata.property("value"), found);
      before = found;
    }
  }
  EXPECT_GT(unknown, 0);
  EXPECT_GT(unknown + refused, 2);
}

TEST_P(SqliteFaults, TellTheTruthAtEveryDiskOperationOfACreation) {
  FaultyVfs& vfs = FaultyVfs::instance();
  const auto catalog = open(FaultyVfs::kName);
  for (int operation = 1, failed = 1; failed; ++operation) {
    ASSERT_LT(operation, 100);
    const TableId id{{"db"}, "t" + std::to_string(operation)};
    vfs.fail_at(operation, false);
    const auto done = catalog->create_table(id, sample_table());
    failed = vfs.has_failed();
    vfs.stop_failing();
    const auto found = open("")->load_table(id);
    if (done.ok()) {
      EXPECT_TRUE(is_ok(found));
    } else if (done.error().code() != Code::kUnknownOutcome) {
      EXPECT_TRUE(fails_with(found, Code::kNotFound)) << done.error().message();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(JournalModes, SqliteFaults, testing::Values("delete", "truncate", "persist", "wal"),
                         [](const auto& info) { return std::string(info.param); });

// The tables that other writers of the same file expect, and rows that they wrote.
TEST(SqliteLayout, IsThatOfPyIceberg) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/catalog.db";
  {
    const auto catalog = iceberg::open_sqlite_catalog(path, "lake", folder.uri(), io::make_local_file_io());
    ASSERT_TRUE(is_ok((*catalog)->create_namespace({"a", "b"})));
    ASSERT_TRUE(is_ok((*catalog)->create_table({{"a", "b"}, "t"}, sample_table())));
    ASSERT_TRUE(is_ok((*catalog)->commit_table({{"a", "b"}, "t"}, set_property("k", "v"))));
  }
  const auto database = iceberg::SqliteDatabase::open(path, {});
  const auto namespaces = (*database)->query("SELECT * FROM iceberg_namespace_properties");
  ASSERT_EQ(namespaces->size(), 1u);
  EXPECT_EQ((*namespaces)[0], (iceberg::SqliteDatabase::Row{"lake", "a.b", "exists", "true"}));
  const auto tables = (*database)->query("SELECT * FROM iceberg_tables");
  ASSERT_EQ(tables->size(), 1u);
  const auto& row = (*tables)[0];
  ASSERT_EQ(row.size(), 6u);
  EXPECT_EQ(row[0], "lake");
  EXPECT_EQ(row[1], "a.b");
  EXPECT_EQ(row[2], "t");
  EXPECT_TRUE(row[3]->starts_with("file:///")) << *row[3];
  EXPECT_NE(row[3]->find("/a/b/t/metadata/00001-"), std::string::npos) << *row[3];
  EXPECT_NE(row[4]->find("/a/b/t/metadata/00000-"), std::string::npos) << *row[4];
  EXPECT_EQ(row[5], "TABLE");
}

TEST(SqliteLayout, SeesNeitherViewsNorOtherCatalogs) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/catalog.db";
  const auto catalog = iceberg::open_sqlite_catalog(path, "lake", folder.uri(), io::make_local_file_io());
  ASSERT_TRUE(is_ok((*catalog)->create_namespace({"db"})));
  const auto table = (*catalog)->create_table({{"db"}, "t"}, sample_table());
  ASSERT_TRUE(is_ok(table));
  const auto database = iceberg::SqliteDatabase::open(path, {});
  const std::string location = table->metadata_location;
  ASSERT_TRUE(is_ok(
      (*database)->execute("INSERT INTO iceberg_tables VALUES ('lake', 'db', 'v', ?, NULL, 'VIEW')", {location})));
  ASSERT_TRUE(is_ok(
      (*database)->execute("INSERT INTO iceberg_tables VALUES ('lake', 'db', 'old', ?, NULL, NULL)", {location})));
  ASSERT_TRUE(is_ok(
      (*database)->execute("INSERT INTO iceberg_tables VALUES ('pond', 'db', 'other', ?, NULL, 'TABLE')", {location})));
  EXPECT_EQ(*(*catalog)->list_tables({"db"}), (std::vector<TableId>{{{"db"}, "old"}, {{"db"}, "t"}}));
  EXPECT_TRUE(is_ok((*catalog)->load_table({{"db"}, "old"})));
  EXPECT_TRUE(fails_with((*catalog)->load_table({{"db"}, "v"}), Code::kNotFound));
  EXPECT_TRUE(fails_with((*catalog)->load_table({{"db"}, "other"}), Code::kNotFound));
  EXPECT_TRUE(fails_with((*catalog)->create_table({{"db"}, "v"}, sample_table()), Code::kExists));
  EXPECT_TRUE(fails_with((*catalog)->drop_table({{"db"}, "v"}), Code::kNotFound));
}

}  // namespace
}  // namespace frazil::conformance
