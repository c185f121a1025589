// CatalogDesk: what people do to a catalog by hand: look, create, rename, drop, change properties, register.
//
// Every answer comes as JSON and as text for people. Nothing here asks questions: the command does, before it calls.
// Properties that begin with "frazil." are positions of pipelines and are never changed by hand. Errors are those of
// the catalog; what a catalog cannot do is kUnsupported, by name. One thread; `catalog` outlives the desk.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"

namespace frazil::app {

struct Answer {
  std::string json;
  std::string text;
};

struct TableRequest {
  columnar::Schema schema;
  std::vector<std::string> partition_by;
  iceberg::Properties properties;
  std::string location;
};

struct PropertyChange {
  iceberg::Properties set;
  std::vector<std::string> remove;
  bool is_empty() const { return set.empty() && remove.empty(); }
};

// "a.b" → {a, b}. kInvalid with an empty part.
base::Result<iceberg::Namespace> parse_namespace(const std::string& text);
// "key=value" entries. kInvalid without '=' or with a key that is empty or given twice.
base::Result<iceberg::Properties> parse_properties(const std::vector<std::string>& entries);

// What is wrong with a request before any catalog is asked, kInvalid; the desk checks it again.
base::Status check_request(const TableRequest& request);
base::Status check_change(const PropertyChange& change);

class CatalogDesk {
 public:
  // `type` names the catalog in messages: "sqlite".
  CatalogDesk(iceberg::Catalog& catalog, std::string type) : catalog_(catalog), type_(std::move(type)) {}

  base::Result<Answer> namespaces();
  // Of one namespace, or of all of them when `ns` is empty.
  base::Result<Answer> tables(const iceberg::Namespace& ns);
  base::Result<Answer> show_table(const iceberg::TableId& id);
  base::Result<Answer> show_namespace(const iceberg::Namespace& ns);

  base::Result<Answer> create_namespace(const iceberg::Namespace& ns, const iceberg::Properties& properties);
  base::Result<Answer> create_table(const iceberg::TableId& id, const TableRequest& request);
  base::Result<Answer> register_table(const iceberg::TableId& id, const std::string& metadata_location);
  base::Result<Answer> rename_table(const iceberg::TableId& from, const iceberg::TableId& to);
  // What is lost with the name, in a sentence for the question: snapshots, and pipelines that keep positions there.
  base::Result<std::string> weigh_drop(const iceberg::TableId& id);
  base::Result<Answer> drop_table(const iceberg::TableId& id);
  base::Result<Answer> drop_namespace(const iceberg::Namespace& ns);

  // The properties after the change, which may be empty. After a lost reply it looks, and says what it found.
  base::Result<Answer> table_properties(const iceberg::TableId& id, const PropertyChange& change);
  base::Result<Answer> namespace_properties(const iceberg::Namespace& ns, const PropertyChange& change);

 private:
  base::Result<iceberg::CatalogAdmin*> admin(const char* deed);

  iceberg::Catalog& catalog_;
  const std::string type_;
};

}  // namespace frazil::app
