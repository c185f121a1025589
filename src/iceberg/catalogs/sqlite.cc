// The SQLite catalog, in the tables of PyIceberg's SqlCatalog and Java's JdbcCatalog, shared with both while all run.
//
// A commit: 1. read the name's metadata location and that file; 2. check the requirements on it, apply the updates,
// write the new metadata file; 3. UPDATE the location where it still is the one of step 1. No row updated means that
// somebody was faster, and the new file stays as an orphan. Java's first layout has no iceberg_type column; later ones
// keep views in the same table, told apart by it.
#include "iceberg/catalogs/sqlite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/failpoint.h"
#include "base/sync.h"
#include "iceberg/catalogs/commit_sent.h"
#include "iceberg/catalogs/staged_metadata.h"
#include "io/location.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;
using Rows = std::vector<SqliteDatabase::Row>;

base::Failpoint metadata_remove("metadata.remove", "a commit is done, metadata files that it forgot are about to be removed");

constexpr char kCreateTables[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (\n"
    "\tcatalog_name VARCHAR(255) NOT NULL, \n"
    "\ttable_namespace VARCHAR(255) NOT NULL, \n"
    "\ttable_name VARCHAR(255) NOT NULL, \n"
    "\tmetadata_location VARCHAR(1000), \n"
    "\tprevious_metadata_location VARCHAR(1000), \n"
    "\ticeberg_type VARCHAR(5), \n"
    "\tPRIMARY KEY (catalog_name, table_namespace, table_name)\n"
    ")";
constexpr char kCreateNamespaces[] =
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (\n"
    "\tcatalog_name VARCHAR(255) NOT NULL, \n"
    "\tnamespace VARCHAR(255) NOT NULL, \n"
    "\tproperty_key VARCHAR(255) NOT NULL, \n"
    "\tproperty_value VARCHAR(1000) NOT NULL, \n"
    "\tPRIMARY KEY (catalog_name, namespace, property_key)\n"
    ")";
// The row that makes a namespace exist; it is no property of its users.
constexpr char kExistsKey[] = "exists";
constexpr char kOneTable[] = " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";
constexpr char kNoViews[] = " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";

std::string joined(const Namespace& ns) {
  std::string text;
  for (const std::string& part : ns) text += (text.empty() ? "" : ".") + part;
  return text;
}

Namespace split(const std::string& text) {
  Namespace ns;
  size_t start = 0;
  for (size_t dot; (dot = text.find('.', start)) != std::string::npos; start = dot + 1)
    ns.push_back(text.substr(start, dot - start));
  ns.push_back(text.substr(start));
  return ns;
}

class SqliteCatalog : public Catalog, public CatalogAdmin {
 public:
  SqliteCatalog(std::unique_ptr<SqliteDatabase> database, std::string name, const std::string& warehouse,
                std::shared_ptr<io::FileIO> io)
      : name_(std::move(name)),
        warehouse_(io::canonical_location(warehouse)),
        io_(std::move(io)),
        database_(std::move(database)) {}

  // Makes the tables when they are not there, and finds out which layout they have. Called once, before any other
  // function.
  Status prepare() {
    base::io_point();
    TRY_ASSIGN(const Rows found, database_->query("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN "
                                                  "('iceberg_tables', 'iceberg_namespace_properties')"));
    if (found.size() < 2) {
      TRY(database_->transact([this]() -> Status {
        TRY(database_->execute(kCreateTables));
        return database_->execute(kCreateNamespaces).status();
      }));
    }
    TRY_ASSIGN(const Rows columns,
               database_->query("SELECT name FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'"));
    has_type_ = !columns.empty();
    return {};
  }

  Status create_namespace(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    base::Lock lock(mutex_);
    return database_->transact([&]() -> Status {
      TRY_ASSIGN(const bool exists, namespace_exists(ns));
      if (exists) return Error(Code::kExists, "namespace " + joined(ns) + " exists already");
      return insert_property(ns, kExistsKey, "true");
    });
  }

  Result<std::vector<Namespace>> list_namespaces() override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY_ASSIGN(const std::set<Namespace> found, namespaces());
    return std::vector<Namespace>(found.begin(), found.end());
  }

  Result<std::vector<TableId>> list_tables(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(require_namespace(ns));
    TRY_ASSIGN(const Rows rows,
               database_->query("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?" +
                                    no_views() + " ORDER BY table_name",
                                {name_, joined(ns)}));
    std::vector<TableId> tables;
    for (const auto& row : rows) tables.push_back({ns, row[0].value_or("")});
    return tables;
  }

  Result<LoadedTable> load_table(const TableId& id) override {
    return load_current(*io_, [&] { return find(id); }).in("table " + id.text());
  }

  Result<LoadedTable> create_table(const TableId& id, const CreateTable& request) override {
    const std::string where = "table " + id.text();
    TRY(check_new_table_id(id));
    TRY(check_vacancy(id).in(where));
    TRY_ASSIGN(LoadedTable staged, stage_table(*io_, warehouse_, id, request).in(where));
    TRY(insert(id, staged.metadata_location).in(where));
    return staged;
  }

  Result<LoadedTable> commit_table(const TableId& id, const TableCommit& commit) override {
    const std::string where = "commit to table " + id.text();
    TRY_ASSIGN(const LoadedTable base, load_table(id));
    TRY_ASSIGN(LoadedTable staged, stage_commit(*io_, base, commit).in(where));
    TRY(swap(id, base.metadata_location, staged.metadata_location).in(where));
    metadata_remove.pass_by();
    remove_forgotten_metadata(*io_, base.metadata, staged.metadata);
    return staged;
  }

  Status drop_table(const TableId& id) override {
    base::io_point();
    base::Lock lock(mutex_);
    return database_->transact([&]() -> Status {
      TRY_ASSIGN(const int64_t rows, database_->execute("DELETE FROM iceberg_tables" + one_table(), key(id)));
      if (rows == 0) return base::not_found("table " + id.text() + " does not exist");
      return {};
    });
  }

  std::shared_ptr<io::FileIO> file_io() override { return io_; }
  CatalogAdmin* admin() override { return this; }

  Status rename_table(const TableId& from, const TableId& to) override {
    base::io_point();
    TRY(check_new_table_id(to));
    base::Lock lock(mutex_);
    const std::string where = "rename table " + from.text() + " to " + to.text();
    return database_
        ->transact([&]() -> Status {
          TRY(require_namespace(to.ns));
          auto values = key(to);
          for (const auto& part : key(from)) values.push_back(part);
          // A name that is taken violates the primary key: kExists.
          TRY_ASSIGN(const int64_t rows,
                     database_->execute("UPDATE iceberg_tables SET catalog_name = ?, table_namespace = ?, table_name = ?" + one_table(),
                                        values));
          return rows == 0 ? Status(base::not_found("table " + from.text() + " does not exist")) : Status();
        })
        .in(where);
  }

  Result<LoadedTable> register_table(const TableId& id, const std::string& metadata_location) override {
    const std::string where = "register table " + id.text();
    TRY(check_new_table_id(id));
    TRY(check_vacancy(id).in(where));
    TRY_ASSIGN(LoadedTable table, load_to_register(*io_, metadata_location).in(where));
    TRY(insert(id, metadata_location).in(where));
    return table;
  }

  Status drop_namespace(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    return database_->transact([&]() -> Status {
      TRY(require_namespace(ns));
      TRY_ASSIGN(const std::set<Namespace> all, namespaces());
      for (const Namespace& other : all) {
        if (other != ns && is_at_or_below(other, ns)) return base::invalid("namespace " + joined(ns) + " holds namespaces");
      }
      TRY_ASSIGN(const Rows tables,
                 database_->query("SELECT 1 FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? LIMIT 1",
                                  {name_, joined(ns)}));
      if (!tables.empty()) return base::invalid("namespace " + joined(ns) + " holds tables");
      TRY(database_->execute("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?", {name_, joined(ns)}));
      // The level above may have existed only by this one: it stays.
      const Namespace above(ns.begin(), ns.end() - 1);
      if (above.empty()) return {};
      TRY(erase_property(above, kExistsKey));
      return insert_property(above, kExistsKey, "true");
    });
  }

  Result<Properties> namespace_properties(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(require_namespace(ns));
    TRY_ASSIGN(const Rows rows, database_->query("SELECT property_key, property_value FROM iceberg_namespace_properties "
                                                 "WHERE catalog_name = ? AND namespace = ?",
                                                 {name_, joined(ns)}));
    Properties properties;
    for (const auto& row : rows) properties[row[0].value_or("")] = row[1].value_or("");
    properties.erase(kExistsKey);
    return properties;
  }

  Status update_namespace_properties(const Namespace& ns, const Properties& set, const std::vector<std::string>& remove) override {
    base::io_point();
    TRY(check_property_change(set, remove));
    if (set.contains(kExistsKey) || std::find(remove.begin(), remove.end(), kExistsKey) != remove.end())
      return base::invalid("\"exists\" is how the catalog's file marks a namespace; it cannot be changed");
    base::Lock lock(mutex_);
    return database_->transact([&]() -> Status {
      TRY(require_namespace(ns));
      for (const std::string& name : remove) TRY(erase_property(ns, name));
      for (const auto& [name, value] : set) {
        TRY(erase_property(ns, name));
        TRY(insert_property(ns, name, value));
      }
      // A namespace that only its tables made exist gets a row of its own.
      TRY(erase_property(ns, kExistsKey));
      return insert_property(ns, kExistsKey, "true");
    });
  }

 private:
  std::string no_views() const { return has_type_ ? kNoViews : ""; }
  std::string one_table() const { return kOneTable + no_views(); }
  std::vector<SqliteDatabase::Text> key(const TableId& id) const { return {name_, joined(id.ns), id.name}; }

  Result<std::string> find(const TableId& id) {
    base::io_point();
    base::Lock lock(mutex_);
    TRY_ASSIGN(const Rows rows,
               database_->query("SELECT metadata_location FROM iceberg_tables" + one_table(), key(id)));
    if (rows.empty()) return base::not_found("it does not exist in catalog " + name_);
    if (!rows[0][0]) return base::corrupt("the catalog has no metadata location for it");
    return *rows[0][0];
  }

  // With every level above those that stand in the file: "a.b" exists, so "a" does. Called with the lock held.
  Result<std::set<Namespace>> namespaces() {
    TRY_ASSIGN(const Rows rows,
               database_->query("SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? "
                                "UNION SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?",
                                {name_, name_}));
    std::set<Namespace> found;
    for (const auto& row : rows) {
      for (Namespace level = split(row[0].value_or("")); !level.empty(); level.pop_back()) found.insert(level);
    }
    return found;
  }

  Result<bool> namespace_exists(const Namespace& ns) {
    TRY_ASSIGN(const std::set<Namespace> found, namespaces());
    return found.contains(ns);
  }

  Status require_namespace(const Namespace& ns) {
    TRY_ASSIGN(const bool exists, namespace_exists(ns));
    return exists ? Status() : Status(base::not_found("namespace " + joined(ns) + " does not exist"));
  }

  Status insert_property(const Namespace& ns, const std::string& name, const std::string& value) {
    return database_
        ->execute(
            "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
            "VALUES (?, ?, ?, ?)",
            {name_, joined(ns), name, value})
        .status();
  }

  Status erase_property(const Namespace& ns, const std::string& name) {
    return database_
        ->execute("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND property_key = ?",
                  {name_, joined(ns), name})
        .status();
  }

  // kExists when the name is taken, by a view too; kNotFound without the namespace. Only spares files: insert()
  // decides.
  Status check_vacancy(const TableId& id) {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(require_namespace(id.ns));
    TRY_ASSIGN(const Rows rows, database_->query(std::string("SELECT 1 FROM iceberg_tables") + kOneTable, key(id)));
    return rows.empty() ? Status() : Error(Code::kExists, "it exists already");
  }

  Status insert(const TableId& id, const std::string& metadata_location) {
    base::io_point();
    base::Lock lock(mutex_);
    const std::string columns =
        has_type_ ? ", iceberg_type) VALUES (?, ?, ?, ?, NULL, 'TABLE')" : ") VALUES (?, ?, ?, ?, NULL)";
    std::vector<SqliteDatabase::Text> values = key(id);
    values.push_back(metadata_location);
    return database_->transact([&] {
      return database_
          ->execute(
              "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
              "previous_metadata_location" +
                  columns,
              values)
          .status();
    });
  }

  Status swap(const TableId& id, const std::string& from, const std::string& to) {
    base::io_point();
    base::Lock lock(mutex_);
    return database_->transact([&]() -> Status {
      TRY_ASSIGN(const int64_t rows,
                 database_->execute("UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?" +
                                        one_table() + " AND metadata_location = ?",
                                    {to, from, name_, joined(id.ns), id.name, from}));
      if (rows == 0) return Error(Code::kConflict, "somebody else committed after " + from);
      return commit_sent.pass();
    });
  }

  const std::string name_;
  const std::string warehouse_;
  const std::shared_ptr<io::FileIO> io_;
  bool has_type_ = true;
  base::Mutex mutex_;  // guards the connection
  const std::unique_ptr<SqliteDatabase> database_;
};

}  // namespace

Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::string& path, const std::string& catalog_name,
                                                     const std::string& warehouse, std::shared_ptr<io::FileIO> io,
                                                     const SqliteOptions& options) {
  TRY_ASSIGN(std::unique_ptr<SqliteDatabase> database, SqliteDatabase::open(path, options));
  auto catalog = std::make_unique<SqliteCatalog>(std::move(database), catalog_name, warehouse, std::move(io));
  TRY(catalog->prepare());
  return std::unique_ptr<Catalog>(std::move(catalog));
}

Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::string& path, const std::string& catalog_name,
                                                     const std::string& warehouse, std::shared_ptr<io::FileIO> io) {
  return open_sqlite_catalog(path, catalog_name, warehouse, std::move(io), SqliteOptions{});
}

}  // namespace frazil::iceberg
