// RestSettings: how one REST catalog wants to be spoken to, out of our properties and its answer to /v1/config; and the paths of
// its resources. Pure values; any thread.
//
// The server's defaults lie under our properties, its overrides over them. Of both only an allow-list takes effect: prefix,
// namespace-separator, rest-page-size, header.* (never those that carry credentials or frame the message), and the stores'
// properties, without those that would name files of this machine or ask its cloud for credentials. What else a server sends is
// returned for the log.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "io/store_properties.h"
#include "net/http_client.h"

namespace frazil::iceberg {

// "<uri>" without "/v1" and slashes at its end.
std::string rest_base(const std::string& uri);

// Headers that belong to the session and the transport: neither a file nor a server may set them. Any case; the empty name too.
bool is_reserved_header(const std::string& name);

// True when the value of a header that the configuration adds may be a key: by its name. Any case.
bool is_secret_header(const std::string& name);

struct RestSettings {
  std::string base;               // as of rest_base
  std::string prefix;             // "lake", "projects/p/catalogs/c", or empty; encoded
  std::string separator = "%1F";  // between the levels of a namespace, encoded
  int64_t page_size = 0;          // of lists; 0: not asked for
  net::HttpHeaders headers;       // of every request, besides those of the session
  io::StoreProperties store;      // for all tables; a table's own lie over them
  io::StoreProperties sent_store;  // what of it came from the server, endpoints that `store` does not follow included
  io::StoreProperties own_store;   // what of it the configuration says
  std::set<std::string> endpoints;
  bool has_idempotency_keys = false;
  std::vector<std::string> not_followed;  // names that the server sent and that have no effect here

  // Paths below the base, beginning with "/v1".
  std::string namespaces() const;
  std::string of_namespace(const Namespace& ns) const;
  std::string tables(const Namespace& ns) const;
  std::string table(const TableId& id) const;
  std::string rename() const;
  std::string transactions() const;
  // "a%1Fb", for paths and queries.
  std::string joined(const Namespace& ns) const;

  // kUnsupported by name when the server does not offer it. `endpoint` as in the specification: "POST /v1/{prefix}/tables/rename".
  base::Status require(const std::string& endpoint) const;
  bool offers(const std::string& endpoint) const { return endpoints.contains(endpoint); }
};

// `config_json`: the answer to /v1/config. kInvalid: no such answer, or a value that makes no sense.
base::Result<RestSettings> settle(const std::string& uri, const std::map<std::string, std::string>& properties,
                                  const std::string& config_json);

// Without the endpoints to which credentials or data of ours would go although nobody here named them: where the configuration names one it
// holds, and one that a server sends counts only beside credentials that it sent too (those lie over ours).
io::StoreProperties without_foreign_endpoints(io::StoreProperties sent, const io::StoreProperties& own);

// Only those of a table's config that concern its store and that a server may set.
io::StoreProperties store_properties_from_server(const Properties& config);

}  // namespace frazil::iceberg
