// Bodies of requests to a REST catalog (apache/iceberg, open-api/rest-catalog-open-api.yaml, "schemas"). Pure; any thread.
//
// 64-bit integers keep all their digits, and members stand in one fixed order, so equal requests are equal bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "iceberg/catalog.h"

namespace frazil::iceberg {

// CommitTableRequest: {"identifier", "requirements", "updates"}.
std::string commit_to_json(const TableId& id, const TableCommit& commit);
// CommitTransactionRequest.
std::string transaction_to_json(const std::vector<std::pair<TableId, TableCommit>>& commits);
// CreateTableRequest. "format-version" stays among the properties, where servers look for it. A staged table is not there until a
// commit that asserts its creation.
std::string create_table_to_json(const std::string& name, const CreateTable& request, bool is_staged);
// The commit that makes a staged table, as the server described it, exist: requirement assert-create, then everything.
std::string create_commit_to_json(const TableId& id, const TableMetadata& staged);
std::string create_namespace_to_json(const Namespace& ns);
std::string rename_to_json(const TableId& from, const TableId& to);
std::string register_to_json(const std::string& name, const std::string& metadata_location);
std::string namespace_properties_to_json(const Properties& set, const std::vector<std::string>& remove);

}  // namespace frazil::iceberg
