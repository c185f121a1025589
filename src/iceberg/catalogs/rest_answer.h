// What the answers of a REST catalog mean: bodies that are read, and refusals that become errors by what the caller can do.
// Pure; any thread. Messages carry the server's own words, shortened, without its stack and without secrets that it repeats; never
// headers or request bodies.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "net/http_client.h"

namespace frazil::iceberg {

// What was asked for decides what a refusal means.
enum class RestCall {
  kRead,    // changes nothing: whatever may have happened on the way, it can be asked again
  kCreate,  // 409 means that the name is taken
  kChange,  // drop, rename, properties: 409 means that it is not possible as things stand
  kCommit,  // 409 means that somebody was faster
};

// The error of an answer that is not a success (2xx). For all calls: 404 kNotFound, when a catalog says so and not some
// server in between; 401, 403, 413, 419, 422, other 4xx and redirects kInvalid; 405, 406, 501 kUnsupported.
//   409                                  kConflict (commit), kExists (create), kInvalid (change)
//   400                                  kConflict when a commit is told of its sequence number or first row id, else kInvalid
//   408, 429, 5xx, a foreign 404         kUnavailable (read); kUnknownOutcome (all that change something)
// `secrets`: what the request proved itself with; left out of the message as net/foreign_answer.h says.
base::Error refusal(RestCall call, const net::HttpResponse& response, const std::vector<std::string>& secrets = {});
// The error of a request without an answer, as net::HttpClient gave it: for a read kUnknownOutcome is kUnavailable.
base::Error no_answer(RestCall call, const base::Error& error);
// The error of an answer that says success and cannot be read.
base::Error unreadable(RestCall call, const std::string& why);

// Milliseconds that the server asks to wait (Retry-After in seconds; dates are not followed), at most 5 minutes; 0 without one.
int64_t retry_after_ms(const net::HttpResponse& response);

// A table with what came along.
struct RestTable {
  LoadedTable table;
  Properties config;                                            // for this table's files, store properties among it
  std::vector<std::pair<std::string, Properties>> credentials;  // by prefix of locations ("storage-credentials")
};
// kCorrupt: JSON, but no table; kUnsupported: a later format version; kInvalid: no JSON at all.
base::Result<RestTable> table_of(const std::string& body);
// The "storage-credentials" of an answer to .../credentials.
base::Result<std::vector<std::pair<std::string, Properties>>> credentials_of(const std::string& body);

// One page of a list.
template <typename T>
struct RestPage {
  std::vector<T> entries;
  std::string next_token;  // empty: the last page
};
base::Result<RestPage<Namespace>> namespaces_of(const std::string& body);
base::Result<RestPage<TableId>> tables_of(const std::string& body);
base::Result<Properties> namespace_properties_of(const std::string& body);

// True when `table` holds every snapshot that `commit` adds, under the refs that it sets: some servers have answered 200 to a
// commit that they then lost.
bool holds(const TableMetadata& table, const TableCommit& commit);

}  // namespace frazil::iceberg
