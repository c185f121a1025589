// The places where the suites find their catalogs.
#include <cstdlib>
#include <optional>

#include "iceberg/catalogs/rest_catalog.h"
#include "iceberg/catalogs/sqlite_database.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "tests/conformance/catalog_suite.h"
#include "tests/conformance/scratch_folder.h"

namespace frazil::conformance {
namespace {

using iceberg::Catalog;
using iceberg::Namespace;

// Names that no file system and no URL takes easily.
const std::vector<std::string> kNastyNames = {"with space",
                                              "per%20cent",
                                              "what?",
                                              "a#b",
                                              "quote'\"",
                                              "emoji \xF0\x9F\xA7\x8A",
                                              "\xC3\xA4\xC3\xB6",
                                              "sl/ash",
                                              "under_score",
                                              "underXscore",
                                              std::string(200, 'n'),
                                              "..",
                                              "Case",
                                              "case",
                                              "'; DROP TABLE iceberg_tables; --"};

CatalogPlace memory_place() {
  CatalogPlace place{.open = nullptr, .files = io::make_memory_file_io(), .warehouse = "memory://lake", .table_names = kNastyNames};
  place.open = [](std::shared_ptr<io::FileIO> files) -> std::shared_ptr<Catalog> {
    return iceberg::make_memory_catalog("memory://lake/", std::move(files));
  };
  return place;
}

// `prepare` runs on the new database file before the catalog sees it.
CatalogPlace sqlite_place(const std::vector<std::string>& prepare) {
  auto folder = std::make_shared<ScratchFolder>();
  const std::string path = folder->path() + "/catalog.db";
  if (!prepare.empty()) {
    const auto database = iceberg::SqliteDatabase::open(path, {});
    EXPECT_TRUE(is_ok(database));
    for (const std::string& sql : prepare) EXPECT_TRUE(is_ok((*database)->query(sql)));
  }
  const std::string warehouse = folder->uri() + "/ware house";
  CatalogPlace place{
      .open = nullptr, .files = io::make_local_file_io(), .warehouse = warehouse, .survives_its_object = true,
      .table_names = kNastyNames};
  place.open = [folder, path, warehouse](std::shared_ptr<io::FileIO> files) -> std::shared_ptr<Catalog> {
    auto catalog = iceberg::open_sqlite_catalog(path, "lake", warehouse, std::move(files));
    EXPECT_TRUE(is_ok(catalog));
    return catalog.ok() ? std::move(catalog).value() : nullptr;
  };
  return place;
}

// The first layout of Java's JdbcCatalog.
const char kJavaTables[] =
    "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) NOT NULL,table_name "
    "VARCHAR(255) "
    "NOT NULL,metadata_location VARCHAR(1000),previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, "
    "table_namespace, "
    "table_name))";

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// A service keeps what the test before has left.
void clear(Catalog& catalog) {
  const auto found = catalog.list_namespaces();
  ASSERT_TRUE(is_ok(found));
  for (auto ns = found->rbegin(); ns != found->rend(); ++ns) {
    const auto tables = catalog.list_tables(*ns);
    if (!tables.ok()) continue;
    for (const auto& id : *tables) EXPECT_TRUE(is_ok(catalog.drop_table(id)));
    EXPECT_TRUE(is_ok(catalog.admin()->drop_namespace(*ns)));
  }
}

CatalogPlace service_place(const iceberg::RestCatalogConfig& config, const std::string& warehouse) {
  CatalogPlace place{.open = nullptr, .files = nullptr, .warehouse = warehouse, .survives_its_object = true,
                     .table_names = {"under_score", "plain"}, .commits_several_tables = true};
  place.open = [config](const std::shared_ptr<io::FileIO>&) -> std::shared_ptr<Catalog> {
    auto catalog = iceberg::open_rest_catalog(config);
    EXPECT_TRUE(is_ok(catalog));
    return catalog.ok() ? std::move(catalog).value() : nullptr;
  };
  const auto catalog = place.open(nullptr);
  if (catalog) clear(*catalog);
  return place;
}

// Apache's reference server on local files, with OAuth2. It joins the levels of a namespace by an encoded dot.
CatalogPlace apache_place() {
  iceberg::RestCatalogConfig config;
  config.uri = environment("FRAZIL_REST_URI");
  config.credential = environment("FRAZIL_REST_CREDENTIAL");
  config.files.allowed_roots = {environment("FRAZIL_REST_ROOT")};
  CatalogPlace place = service_place(config, "file://" + environment("FRAZIL_REST_ROOT"));
  // Its container refuses paths with an encoded slash, per cent sign or backslash.
  std::vector<std::string> names;
  for (const std::string& name : kNastyNames) {
    if (name.find_first_of("/%") == std::string::npos && name != "..") names.push_back(name);
  }
  place.table_names = names;
  return place;
}

// SeaweedFS: its own S3, credentials of each table's own, a prefix, no list of endpoints.
CatalogPlace seaweedfs_place() {
  iceberg::RestCatalogConfig config;
  config.uri = environment("FRAZIL_S3_CATALOG_URI");
  config.warehouse = "s3://" + environment("FRAZIL_S3_TABLE_BUCKET");
  config.credential = environment("FRAZIL_S3_ACCESS_KEY") + ":" + environment("FRAZIL_S3_SECRET_KEY");
  CatalogPlace place = service_place(config, config.warehouse);
  place.keeps_files_of_dropped_tables = false;  // as S3 Tables, though the request says purgeRequested=false
  place.creates_atomically = false;             // two commits with assert-create at the same moment both succeed
  place.registers_faithfully = false;           // a registered table gets a new uuid with each load
  return place;
}

}  // namespace

std::vector<CatalogKind> metadata_file_catalogs() {
  return {{"Memory", memory_place},
          {"Sqlite", [] { return sqlite_place({}); }},
          {"SqliteWithoutTypes", [] { return sqlite_place({kJavaTables}); }},
          {"SqliteWriteAheadLog", [] { return sqlite_place({"PRAGMA journal_mode = WAL"}); }}};
}

std::vector<CatalogKind> catalog_services() {
  std::vector<CatalogKind> kinds;
  if (!environment("FRAZIL_REST_URI").empty()) kinds.push_back({"RestApache", apache_place});
  if (!environment("FRAZIL_S3_CATALOG_URI").empty()) kinds.push_back({"RestSeaweedFS", seaweedfs_place});
  return kinds;
}

}  // namespace frazil::conformance
