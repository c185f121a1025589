// The memory catalog: names in a map, metadata files through the FileIO. The swap is one comparison under a lock, after
// everything else has been done without it, so racers meet exactly where they do in a real catalog.
#include <map>
#include <utility>

#include "base/sync.h"
#include "iceberg/catalog.h"
#include "iceberg/catalogs/staged_metadata.h"
#include "io/location.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

class MemoryCatalog : public Catalog, public CatalogAdmin {
 public:
  MemoryCatalog(const std::string& warehouse, std::shared_ptr<io::FileIO> io)
      : warehouse_(io::canonical_location(warehouse)), io_(std::move(io)) {}

  Status create_namespace(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    base::Lock lock(mutex_);
    if (namespaces_.contains(ns))
      return Error(Code::kExists, "namespace " + TableId{ns, ""}.text() + " exists already");
    for (Namespace level = ns; !level.empty(); level.pop_back()) namespaces_.try_emplace(level);
    return {};
  }

  Result<std::vector<Namespace>> list_namespaces() override {
    base::io_point();
    base::Lock lock(mutex_);
    std::vector<Namespace> found;
    for (const auto& [ns, properties] : namespaces_) found.push_back(ns);
    return found;
  }

  Result<std::vector<TableId>> list_tables(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(find_namespace(ns));
    std::vector<TableId> tables;
    for (const auto& [id, location] : tables_) {
      if (id.ns == ns) tables.push_back(id);
    }
    return tables;
  }

  Result<LoadedTable> load_table(const TableId& id) override {
    return load_current(*io_, [&] { return find(id); }).in("table " + id.text());
  }

  Result<LoadedTable> create_table(const TableId& id, const CreateTable& request) override {
    const std::string where = "table " + id.text();
    TRY(check_new_table_id(id));
    if (find(id).ok()) return Error(Code::kExists, where + " exists already");
    {
      base::Lock lock(mutex_);
      TRY(find_namespace(id.ns).in(where));
    }
    TRY_ASSIGN(LoadedTable staged, stage_table(*io_, warehouse_, id, request).in(where));
    base::io_point();
    base::Lock lock(mutex_);
    if (!tables_.emplace(id, staged.metadata_location).second) return Error(Code::kExists, where + " exists already");
    return staged;
  }

  Result<LoadedTable> commit_table(const TableId& id, const TableCommit& commit) override {
    const std::string where = "commit to table " + id.text();
    TRY_ASSIGN(const LoadedTable base, load_table(id));
    TRY_ASSIGN(LoadedTable staged, stage_commit(*io_, base, commit).in(where));
    base::io_point();
    TRY(swap(id, base.metadata_location, staged.metadata_location).in(where));
    remove_forgotten_metadata(*io_, base.metadata, staged.metadata);
    return staged;
  }

  Status drop_table(const TableId& id) override {
    base::io_point();
    base::Lock lock(mutex_);
    if (tables_.erase(id) == 0) return base::not_found("table " + id.text() + " does not exist");
    return {};
  }

  std::shared_ptr<io::FileIO> file_io() override { return io_; }
  CatalogAdmin* admin() override { return this; }

  Status rename_table(const TableId& from, const TableId& to) override {
    base::io_point();
    TRY(check_new_table_id(to));
    base::Lock lock(mutex_);
    const auto found = tables_.find(from);
    if (found == tables_.end()) return base::not_found("table " + from.text() + " does not exist");
    TRY(find_namespace(to.ns).in("table " + to.text()));
    if (tables_.contains(to)) return Error(Code::kExists, "table " + to.text() + " exists already");
    tables_.emplace(to, found->second);
    tables_.erase(from);
    return {};
  }

  Result<LoadedTable> register_table(const TableId& id, const std::string& metadata_location) override {
    const std::string where = "register table " + id.text();
    TRY(check_new_table_id(id));
    {
      base::Lock lock(mutex_);
      TRY(find_namespace(id.ns).in(where));
      if (tables_.contains(id)) return Error(Code::kExists, where + ": it exists already");
    }
    TRY_ASSIGN(LoadedTable table, load_to_register(*io_, metadata_location).in(where));
    base::io_point();
    base::Lock lock(mutex_);
    if (!tables_.emplace(id, metadata_location).second) return Error(Code::kExists, where + ": it exists already");
    return table;
  }

  Status drop_namespace(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(find_namespace(ns));
    for (const auto& [id, location] : tables_) {
      if (is_at_or_below(id.ns, ns)) return base::invalid("namespace " + TableId{ns, ""}.text() + " holds tables");
    }
    for (const auto& [other, properties] : namespaces_) {
      if (other != ns && is_at_or_below(other, ns)) return base::invalid("namespace " + TableId{ns, ""}.text() + " holds namespaces");
    }
    namespaces_.erase(ns);
    return {};
  }

  Result<Properties> namespace_properties(const Namespace& ns) override {
    base::io_point();
    base::Lock lock(mutex_);
    TRY(find_namespace(ns));
    return namespaces_.at(ns);
  }

  Status update_namespace_properties(const Namespace& ns, const Properties& set, const std::vector<std::string>& remove) override {
    base::io_point();
    TRY(check_property_change(set, remove));
    base::Lock lock(mutex_);
    TRY(find_namespace(ns));
    Properties& properties = namespaces_.at(ns);
    for (const auto& [key, value] : set) properties[key] = value;
    for (const std::string& key : remove) properties.erase(key);
    return {};
  }

 private:
  Status swap(const TableId& id, const std::string& from, const std::string& to) {
    base::Lock lock(mutex_);
    const auto found = tables_.find(id);
    if (found == tables_.end() || found->second != from) {
      return Error(Code::kConflict, "somebody else committed after " + from);
    }
    found->second = to;
    return {};
  }

  Result<std::string> find(const TableId& id) {
    base::io_point();
    base::Lock lock(mutex_);
    const auto found = tables_.find(id);
    if (found == tables_.end()) return base::not_found("it does not exist");
    return found->second;
  }

  // Called with the lock held.
  Status find_namespace(const Namespace& ns) const {
    if (namespaces_.contains(ns)) return {};
    return base::not_found("namespace " + TableId{ns, ""}.text() + " does not exist");
  }

  const std::string warehouse_;
  const std::shared_ptr<io::FileIO> io_;
  base::Mutex mutex_;
  std::map<Namespace, Properties> namespaces_;
  std::map<TableId, std::string> tables_;  // metadata locations
};

}  // namespace

std::unique_ptr<Catalog> make_memory_catalog(const std::string& warehouse, std::shared_ptr<io::FileIO> io) {
  return std::make_unique<MemoryCatalog>(warehouse, std::move(io));
}

}  // namespace frazil::iceberg
