// What the suites of catalogs stand on: a place where a catalog lives, and the fixture over it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "iceberg/catalog.h"
#include "io/file_io.h"
#include "tests/conformance/faulty_file_io.h"
#include "tests/conformance/hooked_file_io.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/table_samples.h"

namespace frazil::conformance {

// One catalog, opened as often as a test likes. A catalog that lives in its object alone gives the same object again,
// and then `open` is called with the same FileIO.
struct CatalogPlace {
  std::function<std::shared_ptr<iceberg::Catalog>(std::shared_ptr<io::FileIO>)> open;
  std::shared_ptr<io::FileIO> files;  // null: the catalog brings its own
  std::string warehouse;
  bool survives_its_object = false;
  // Names that namespaces and tables may have here; services allow less than catalogs of ours.
  std::vector<std::string> table_names;
  bool commits_several_tables = false;
  // What a service does otherwise than it should, so that nothing more is expected of it.
  bool keeps_files_of_dropped_tables = true;
  bool creates_atomically = true;
  bool registers_faithfully = true;
};

struct CatalogKind {
  std::string name;
  std::function<CatalogPlace()> make;
};
inline void PrintTo(const CatalogKind& kind, std::ostream* out) {
  *out << kind.name;
}

// Those that write the metadata files themselves, and those that leave it to a service (of which a run has as many as its
// environment names).
std::vector<CatalogKind> metadata_file_catalogs();
std::vector<CatalogKind> catalog_services();

class CatalogConformance : public testing::TestWithParam<CatalogKind> {
 protected:
  CatalogConformance() : place_(GetParam().make()), plan_(std::make_shared<FaultPlan>()) {
    if (place_.files) files_ = std::make_shared<HookedFileIO>(std::make_shared<FaultyFileIO>(place_.files, plan_));
    catalog_ = place_.open(files_);
    EXPECT_TRUE(is_ok(catalog_->create_namespace({"db"})));
  }

  iceberg::Catalog& catalog() { return *catalog_; }
  iceberg::CatalogAdmin& admin() { return *catalog_->admin(); }
  std::shared_ptr<iceberg::Catalog> another() { return place_.survives_its_object ? place_.open(files_) : catalog_; }

  iceberg::LoadedTable create(const iceberg::TableId& id = {{"db"}, "orders"}) {
    auto table = catalog().create_table(id, sample_table());
    EXPECT_TRUE(is_ok(table));
    return table.ok() ? *table : iceberg::LoadedTable{};
  }
  iceberg::TableMetadata load(const iceberg::TableId& id = {{"db"}, "orders"}) {
    auto table = another()->load_table(id);
    EXPECT_TRUE(is_ok(table));
    return table.ok() ? table->metadata : iceberg::TableMetadata{};
  }
  // Commits, and checks that the answer is what the next reader finds.
  iceberg::TableMetadata commit(const iceberg::TableCommit& commit) {
    const auto table = catalog().commit_table(orders_, commit);
    EXPECT_TRUE(is_ok(table));
    if (!table.ok()) return {};
    const auto loaded = another()->load_table(orders_);
    EXPECT_TRUE(is_ok(loaded));
    if (!loaded.ok()) return {};
    EXPECT_EQ(loaded->metadata_location, table->metadata_location);
    EXPECT_EQ(loaded->metadata.last_updated_ms, table->metadata.last_updated_ms);
    EXPECT_EQ(loaded->metadata.properties, table->metadata.properties);
    EXPECT_EQ(loaded->metadata.current_snapshot_id, table->metadata.current_snapshot_id);
    EXPECT_EQ(loaded->metadata.refs, table->metadata.refs);
    return table->metadata;
  }

  const iceberg::TableId orders_{{"db"}, "orders"};
  CatalogPlace place_;
  std::shared_ptr<FaultPlan> plan_;
  std::shared_ptr<HookedFileIO> files_;
  std::shared_ptr<iceberg::Catalog> catalog_;
};

}  // namespace frazil::conformance
