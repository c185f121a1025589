#include "app/catalog/catalog_desk.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/table_report.h"
#include "app/terminal.h"
#include "iceberg/table_properties.h"

namespace frazil::app {
namespace {

using base::Code;
using base::Result;
using base::Status;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::Properties;
using iceberg::TableId;
using Json = nlohmann::ordered_json;

constexpr std::string_view kPipelineProperties = "frazil.";

std::string joined(const Namespace& ns) {
  std::string text;
  for (const std::string& part : ns) text += (text.empty() ? "" : ".") + part;
  return text;
}

// For people: what a catalog keeps may hold anything.
std::string shown(const std::string& text) { return printable(text); }
std::string shown(const Namespace& ns) { return shown(joined(ns)); }
std::string shown(const TableId& id) { return shown(id.text()); }

std::string dump(const Json& json) {
  return printable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Json as_json(const Properties& properties) {
  Json json = Json::object();
  for (const auto& [key, value] : properties) json[key] = value;
  return json;
}

std::string lines(const Properties& properties) {
  std::string text;
  for (const auto& [key, value] : properties) text += shown(key) + "=" + shown(value) + "\n";
  return text;
}

Answer done(const char* deed, const std::string& kind, const std::string& name, const std::string& text,
            const Json& more = Json::object()) {
  Json json = {{"done", deed}, {kind, name}};
  json.update(more);
  return {dump(json), shown(text) + "\n"};
}

}  // namespace

base::Status check_change(const PropertyChange& change) {
  for (const auto& [key, value] : change.set) {
    if (key.starts_with(kPipelineProperties))
      return base::invalid("property " + key + " belongs to a pipeline: its positions are there");
    if (std::find(change.remove.begin(), change.remove.end(), key) != change.remove.end())
      return base::invalid("property " + key + " is to be set and to be removed");
  }
  for (const std::string& key : change.remove) {
    if (key.starts_with(kPipelineProperties))
      return base::invalid("property " + key + " belongs to a pipeline: its positions are there");
  }
  return {};
}

base::Status check_request(const TableRequest& request) {
  const columnar::Schema schema = columnar::assign_fresh_ids(request.schema);
  TRY(iceberg::parse_partition_spec(request.partition_by, schema).status().in("--partition-by"));
  return iceberg::read_table_properties(request.properties, "memory://table").status().in("--property");
}

namespace {

bool has_happened(const PropertyChange& change, const Properties& now) {
  const bool is_set = std::all_of(change.set.begin(), change.set.end(), [&](const auto& wanted) {
    const auto found = now.find(wanted.first);
    return found != now.end() && found->second == wanted.second;
  });
  return is_set && std::none_of(change.remove.begin(), change.remove.end(),
                                [&](const std::string& key) { return now.contains(key); });
}

// Pipelines whose positions are in the table: those of properties "frazil.<name>" that nobody closed.
std::vector<std::string> pipelines_in(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> names;
  for (const auto& [key, value] : metadata.properties) {
    if (!key.starts_with(kPipelineProperties)) continue;
    const std::string name = key.substr(kPipelineProperties.size());
    const Json property = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (name.find('.') == std::string::npos && property.is_object() && !property.contains("closed_by"))
      names.push_back(name);
  }
  return names;
}

}  // namespace

Result<Namespace> parse_namespace(const std::string& text) {
  Namespace ns;
  size_t start = 0;
  for (size_t dot; (dot = text.find('.', start)) != std::string::npos; start = dot + 1)
    ns.push_back(text.substr(start, dot - start));
  ns.push_back(text.substr(start));
  for (const std::string& part : ns) {
    if (part.empty()) return base::invalid("'" + text + "' does not name a namespace: write shop, or shop.europe");
  }
  return ns;
}

Result<Properties> parse_properties(const std::vector<std::string>& entries) {
  Properties properties;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) return base::invalid("'" + entry + "' is not key=value");
    const std::string key = entry.substr(0, equals);
    if (!properties.emplace(key, entry.substr(equals + 1)).second)
      return base::invalid("property " + key + " is given twice");
  }
  return properties;
}

Result<iceberg::CatalogAdmin*> CatalogDesk::admin(const char* deed) {
  if (auto* admin = catalog_.admin()) return admin;
  return base::unsupported("a catalog of type " + type_ + " cannot " + deed + " in this version");
}

Result<Answer> CatalogDesk::namespaces() {
  TRY_ASSIGN(const auto found, catalog_.list_namespaces());
  Json json = Json::array();
  std::string text;
  for (const Namespace& ns : found) {
    json.push_back(joined(ns));
    text += shown(ns) + "\n";
  }
  return Answer{dump(json), text};
}

Result<Answer> CatalogDesk::tables(const Namespace& ns) {
  std::vector<Namespace> wanted{ns};
  if (ns.empty()) {
    TRY_ASSIGN(wanted, catalog_.list_namespaces());
  }
  Json json = Json::array();
  std::string text;
  for (const Namespace& one : wanted) {
    TRY_ASSIGN(const auto found, catalog_.list_tables(one));
    for (const TableId& id : found) {
      json.push_back(id.text());
      text += shown(id) + "\n";
    }
  }
  return Answer{dump(json), text};
}

Result<Answer> CatalogDesk::show_table(const TableId& id) {
  auto loaded = catalog_.load_table(id);
  if (!loaded.ok() && loaded.error().code() == Code::kNotFound) {
    Namespace same = id.ns;
    same.push_back(id.name);
    if (catalog_.list_tables(same).ok())
      return base::not_found(id.text() + " is a namespace, not a table: add --namespace to see it");
  }
  TRY_ASSIGN(const LoadedTable table, std::move(loaded));
  TRY_ASSIGN(TableReport report, describe_table(table.metadata, table.metadata_location, id.text()));
  return Answer{std::move(report.json), std::move(report.text)};
}

Result<Answer> CatalogDesk::show_namespace(const Namespace& ns) {
  TRY_ASSIGN(const auto tables, catalog_.list_tables(ns));
  Properties properties;
  const bool has_properties = catalog_.admin() != nullptr;
  if (has_properties) {
    TRY_ASSIGN(properties, catalog_.admin()->namespace_properties(ns));
  }
  Json names = Json::array();
  std::string text = "namespace " + shown(ns) + "\n";
  for (const TableId& id : tables) {
    names.push_back(id.text());
    text += "table " + shown(id) + "\n";
  }
  for (const auto& [key, value] : properties) text += "property " + shown(key) + "=" + shown(value) + "\n";
  const Json json = {{"namespace", joined(ns)},
                     {"tables", names},
                     {"properties", has_properties ? as_json(properties) : Json(nullptr)}};
  return Answer{dump(json), text};
}

Result<Answer> CatalogDesk::create_namespace(const Namespace& ns, const Properties& properties) {
  iceberg::CatalogAdmin* keeper = nullptr;
  if (!properties.empty()) {
    TRY_ASSIGN(keeper, admin("keep properties of namespaces"));
  }
  TRY(catalog_.create_namespace(ns));
  if (keeper != nullptr) {
    TRY(keeper->update_namespace_properties(ns, properties, {}).in("namespace " + joined(ns) + " was created, but"));
  }
  return done("create-namespace", "namespace", joined(ns), "created namespace " + joined(ns));
}

Result<Answer> CatalogDesk::create_table(const TableId& id, const TableRequest& request) {
  iceberg::CreateTable create;
  create.schema = columnar::assign_fresh_ids(request.schema);
  TRY_ASSIGN(create.spec, iceberg::parse_partition_spec(request.partition_by, create.schema).in("--partition-by"));
  TRY(check_request(request));
  create.properties = request.properties;
  create.location = request.location;
  TRY_ASSIGN(const LoadedTable table, catalog_.create_table(id, create));
  return done("create-table", "table", id.text(), "created table " + id.text() + " at " + table.metadata.location,
              {{"location", table.metadata.location}, {"metadata_location", table.metadata_location}});
}

Result<Answer> CatalogDesk::register_table(const TableId& id, const std::string& metadata_location) {
  TRY_ASSIGN(auto* keeper, admin("register tables"));
  TRY_ASSIGN(const LoadedTable table, keeper->register_table(id, metadata_location));
  return done("register", "table", id.text(), "registered table " + id.text() + " from " + table.metadata_location,
              {{"location", table.metadata.location}, {"metadata_location", table.metadata_location}});
}

Result<Answer> CatalogDesk::rename_table(const TableId& from, const TableId& to) {
  TRY_ASSIGN(auto* keeper, admin("rename tables"));
  TRY(keeper->rename_table(from, to));
  return done("rename", "table", to.text(), "renamed table " + from.text() + " to " + to.text(),
              {{"from", from.text()}});
}

Result<std::string> CatalogDesk::weigh_drop(const TableId& id) {
  TRY_ASSIGN(const LoadedTable table, catalog_.load_table(id));
  std::string text = "table " + id.text() + " with " + std::to_string(table.metadata.snapshots.size()) + " snapshots";
  for (const std::string& pipeline : pipelines_in(table.metadata))
    text += ", with the positions of pipeline " + pipeline;
  return text + ". Its files stay at " + table.metadata.location + "; `frazil catalog register` with " +
         table.metadata_location + " brings it back";
}

Result<Answer> CatalogDesk::drop_table(const TableId& id) {
  // Without its metadata the table can be dropped all the same; only the way back is not known then.
  const auto table = catalog_.load_table(id);
  if (!table.ok() && table.error().code() == Code::kNotFound) return table.error();
  TRY(catalog_.drop_table(id));
  const Json location = table.ok() ? Json(table->metadata_location) : Json(nullptr);
  return done("drop", "table", id.text(),
              "dropped table " + id.text() + (table.ok() ? "; its last metadata is " + table->metadata_location : ""),
              {{"metadata_location", location}});
}

Result<Answer> CatalogDesk::drop_namespace(const Namespace& ns) {
  TRY_ASSIGN(auto* keeper, admin("drop namespaces"));
  TRY(keeper->drop_namespace(ns));
  return done("drop", "namespace", joined(ns), "dropped namespace " + joined(ns));
}

Result<Answer> CatalogDesk::table_properties(const TableId& id, const PropertyChange& change) {
  TRY(check_change(change));
  TRY_ASSIGN(LoadedTable table, catalog_.load_table(id));
  constexpr int kTries = 5;
  for (int attempt = 1; !change.is_empty() && !has_happened(change, table.metadata.properties); ++attempt) {
    iceberg::TableCommit commit;
    commit.requirements.push_back(iceberg::AssertTableUuid{table.metadata.table_uuid});
    if (!change.set.empty()) commit.updates.push_back(iceberg::SetProperties{change.set});
    if (!change.remove.empty()) commit.updates.push_back(iceberg::RemoveProperties{change.remove});
    auto committed = catalog_.commit_table(id, commit);
    if (committed.ok()) {
      table = std::move(committed).value();
      break;
    }
    const bool may_look =
        committed.error().code() == Code::kConflict || committed.error().code() == Code::kUnknownOutcome;
    if (!may_look || attempt == kTries) return committed.error();
    TRY_ASSIGN(table, catalog_.load_table(id));
    if (committed.error().code() == Code::kUnknownOutcome && !has_happened(change, table.metadata.properties))
      return committed.error().in(
          "the reply was lost and the change is not to be seen yet: look again before repeating it");
  }
  return Answer{dump(as_json(table.metadata.properties)), lines(table.metadata.properties)};
}

Result<Answer> CatalogDesk::namespace_properties(const Namespace& ns, const PropertyChange& change) {
  TRY(check_change(change));
  TRY_ASSIGN(auto* keeper, admin("keep properties of namespaces"));
  if (!change.is_empty()) {
    TRY(keeper->update_namespace_properties(ns, change.set, change.remove));
  }
  TRY_ASSIGN(const Properties now, keeper->namespace_properties(ns));
  return Answer{dump(as_json(now)), lines(now)};
}

}  // namespace frazil::app
