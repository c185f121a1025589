// Catalog: names → tables, and the atomic swap of a table's metadata.
//
// Errors decide what callers do: kNotFound; kExists; kConflict (a requirement failed or somebody swapped first: reload);
// kUnknownOutcome (the commit may have happened: reload and look); kUnavailable (it has not happened; retry later);
// kInvalid and kUnsupported (permanent). commit_table and commit_tables send at most one request and never retry by themselves. All functions
// may be called from any thread. Every implementation passes tests/conformance/catalog_*.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_io.h"
#include "iceberg/table_update.h"

namespace frazil::iceberg {

using Namespace = std::vector<std::string>;

struct TableId {
  Namespace ns;
  std::string name;
  std::string text() const;  // "db.orders"
  bool operator==(const TableId&) const = default;
  auto operator<=>(const TableId&) const = default;
};
// "a.b.orders" → {{a, b}, orders}. kInvalid without a namespace or with an empty part.
base::Result<TableId> parse_table_id(const std::string& text);

struct LoadedTable {
  TableMetadata metadata;
  std::string metadata_location;
};

struct CreateTable {
  columnar::Schema schema;  // ids are assigned freshly
  PartitionSpec spec;       // source ids refer to `schema` as given; ids are mapped to the fresh ones
  SortOrder sort_order;
  Properties properties;    // "format-version" is taken out and honoured (2; others kUnsupported)
  std::string location;     // empty: <warehouse>/<namespace>/<name>, as the catalog lays out
};

class CatalogAdmin {
 public:
  virtual ~CatalogAdmin() = default;
  // kNotFound for `from` or the target's namespace, kExists for `to`.
  virtual base::Status rename_table(const TableId& from, const TableId& to) = 0;
  // Gives a name to a table whose metadata file is there. kExists, kNotFound (namespace or file).
  virtual base::Result<LoadedTable> register_table(const TableId& id, const std::string& metadata_location) = 0;
  // kInvalid when it holds tables or namespaces.
  virtual base::Status drop_namespace(const Namespace& ns) = 0;
  virtual base::Result<Properties> namespace_properties(const Namespace& ns) = 0;
  virtual base::Status update_namespace_properties(const Namespace& ns, const Properties& set,
                                                   const std::vector<std::string>& remove) = 0;
};

class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual base::Status create_namespace(const Namespace& ns) = 0;  // kExists
  virtual base::Result<std::vector<Namespace>> list_namespaces() = 0;
  virtual base::Result<std::vector<TableId>> list_tables(const Namespace& ns) = 0;
  virtual base::Result<LoadedTable> load_table(const TableId& id) = 0;
  virtual base::Result<LoadedTable> create_table(const TableId& id, const CreateTable& request) = 0;
  virtual base::Result<LoadedTable> commit_table(const TableId& id, const TableCommit& commit) = 0;
  // Takes the name away; files stay.
  virtual base::Status drop_table(const TableId& id) = 0;
  // Commits several tables by one request, where the catalog has such: kUnsupported otherwise, and nothing was sent. Not to be taken for atomic:
  // after any answer but ok each table is loaded and judged by itself. Errors as of commit_table.
  virtual base::Status commit_tables(const std::vector<std::pair<TableId, TableCommit>>& commits);
  // The store that holds the tables' files.
  virtual std::shared_ptr<io::FileIO> file_io() = 0;
  // What people do to a catalog and pipelines never; nullptr where there is none.
  virtual CatalogAdmin* admin() { return nullptr; }
};

// catalogs/sqlite.cc: the table layout of PyIceberg's SqlCatalog, shared live with it. `path`: database file;
// `catalog_name`: its catalog_name column; `warehouse`: URI for new tables.
base::Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::string& path, const std::string& catalog_name,
                                                           const std::string& warehouse, std::shared_ptr<io::FileIO> io);
// catalogs/memory.cc: for tests and simulations; writes metadata files through `io`, keeps names in memory.
std::unique_ptr<Catalog> make_memory_catalog(const std::string& warehouse, std::shared_ptr<io::FileIO> io);

}  // namespace frazil::iceberg
