// A catalog at the end of a pipe, for tests in other languages: each line of stdin is a command with its words
// separated by tabs, each line of stdout its answer as JSON. The connection lives as long as the process, as it does in
// a pipeline.
//
//   frazil_catalog_tool DATABASE CATALOG_NAME WAREHOUSE_URI
//     create-namespace NS                   {}
//     namespaces | tables NS                {"names": [...]}
//     create-table NS NAME                  the table
//     load NS NAME                          the table; remembered as the base of the next set-on-base and move-on-base
//     set NS NAME KEY VALUE                 the table
//     set-on-base NS NAME KEY VALUE         the table, asserting uuid and head of the base
//     move-on-base NS NAME SNAPSHOT         the table with main at SNAPSHOT, asserting as above
//   A failure answers {"error": code, "message": text}.
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "iceberg/catalog.h"
#include "io/local_file_io.h"
#include "tests/conformance/table_samples.h"

namespace frazil::conformance {
namespace {

using base::Result;
using iceberg::Catalog;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableId;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words words;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1)
    words.push_back(text.substr(start, end - start));
  words.push_back(text.substr(start));
  return words;
}

std::string joined(const Namespace& ns) {
  std::string text;
  for (const std::string& part : ns) text += (text.empty() ? "" : ".") + part;
  return text;
}

Json to_json(const LoadedTable& table) {
  Json columns = Json::array();
  for (const auto& column : table.metadata.current_schema()->fields) {
    columns.push_back(
        {{"id", column.id}, {"name", column.name}, {"type", column.type.name()}, {"required", column.required}});
  }
  Json partition = Json::array();
  for (const auto& part : table.metadata.default_spec().fields) {
    partition.push_back(
        {{"name", part.name}, {"source", part.source_id}, {"transform", iceberg::to_string(part.transform)}});
  }
  Json snapshots = Json::array();
  for (const auto& snapshot : table.metadata.snapshots) snapshots.push_back(snapshot.snapshot_id);
  const auto head = table.metadata.current_snapshot_id;
  return {{"uuid", table.metadata.table_uuid},
          {"metadata_location", table.metadata_location},
          {"location", table.metadata.location},
          {"properties", table.metadata.properties},
          {"columns", columns},
          {"partition", partition},
          {"snapshots", snapshots},
          {"head", head ? Json(*head) : Json(nullptr)}};
}

class CatalogTool {
 public:
  explicit CatalogTool(Catalog& catalog) : catalog_(catalog) {}

  Result<Json> run(const Words& words) {
    const std::string& command = words[0];
    if (command == "create-namespace") {
      TRY(catalog_.create_namespace(split(words.at(1), '.')));
      return Json::object();
    }
    if (command == "namespaces") return namespaces();
    if (command == "tables") return tables(split(words.at(1), '.'));
    const TableId id{split(words.at(1), '.'), words.at(2)};
    if (command == "create-table") return answer(catalog_.create_table(id, sample_table()));
    if (command == "load") return load(id);
    if (command == "set") return answer(catalog_.commit_table(id, set_property(words.at(3), words.at(4))));
    if (command == "set-on-base") return commit_on_base(id, iceberg::SetProperties{{{words.at(3), words.at(4)}}});
    if (command == "move-on-base") return commit_on_base(id, move_branch(std::stoll(words.at(3))));
    return base::invalid("unknown command " + command);
  }

 private:
  static Result<Json> answer(const Result<LoadedTable>& table) {
    TRY(table.status());
    return to_json(*table);
  }
  Result<Json> namespaces() {
    TRY_ASSIGN(const std::vector<Namespace> found, catalog_.list_namespaces());
    Json names = Json::array();
    for (const Namespace& ns : found) names.push_back(joined(ns));
    return Json{{"names", names}};
  }
  Result<Json> tables(const Namespace& ns) {
    TRY_ASSIGN(const std::vector<TableId> found, catalog_.list_tables(ns));
    Json names = Json::array();
    for (const TableId& id : found) names.push_back(id.name);
    return Json{{"names", names}};
  }
  Result<Json> load(const TableId& id) {
    TRY_ASSIGN(base_, catalog_.load_table(id));
    return to_json(base_);
  }
  Result<Json> commit_on_base(const TableId& id, const iceberg::Update& update) {
    const iceberg::TableMetadata& table = base_.metadata;
    return answer(
        catalog_.commit_table(id, {.requirements = {iceberg::AssertTableUuid{table.table_uuid},
                                                    iceberg::AssertRefSnapshotId{"main", table.current_snapshot_id}},
                                   .updates = {update}}));
  }

  Catalog& catalog_;
  LoadedTable base_;
};

int serve(const std::string& database, const std::string& name, const std::string& warehouse) {
  auto catalog = iceberg::open_sqlite_catalog(database, name, warehouse, io::make_local_file_io());
  if (!catalog.ok()) {
    std::cerr << catalog.error().message() << "\n";
    return 1;
  }
  CatalogTool tool(**catalog);
  for (std::string line; std::getline(std::cin, line);) {
    const Result<Json> answer = tool.run(split(line, '\t'));
    const Json json = answer.ok() ? *answer
                                  : Json{{"error", std::string(base::code_name(answer.error().code()))},
                                         {"message", answer.error().message()}};
    std::cout << json.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace frazil::conformance

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: frazil_catalog_tool DATABASE CATALOG_NAME WAREHOUSE_URI\n";
    return 2;
  }
  return frazil::conformance::serve(argv[1], argv[2], argv[3]);
}
