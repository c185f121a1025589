#include "iceberg/catalog.h"

namespace frazil::iceberg {

std::string TableId::text() const {
  std::string joined;
  for (const std::string& part : ns) joined += part + ".";
  return joined + name;
}

base::Result<TableId> parse_table_id(const std::string& text) {
  TableId id;
  size_t start = 0;
  for (size_t dot; (dot = text.find('.', start)) != std::string::npos; start = dot + 1) {
    id.ns.push_back(text.substr(start, dot - start));
  }
  id.name = text.substr(start);
  bool has_empty_part = id.name.empty();
  for (const std::string& part : id.ns) has_empty_part |= part.empty();
  if (id.ns.empty() || has_empty_part) {
    return base::invalid("'" + text + "' does not name a table: write namespace.table, for example shop.orders");
  }
  return id;
}

base::Status Catalog::commit_tables(const std::vector<std::pair<TableId, TableCommit>>&) {
  return base::unsupported("this catalog does not commit several tables by one request");
}

}  // namespace frazil::iceberg
