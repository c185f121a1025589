// Catalog over the Iceberg REST protocol (apache/iceberg, open-api/rest-catalog-open-api.yaml).
//
// open() asks /v1/config once: its defaults lie under our properties, its overrides over them, but only those of an allow-list take effect (prefix, namespace-separator,
// page size, header.* never Authorization, store properties); a uri or token endpoint that the server sends is told in the log and not followed. The list of
// endpoints, when sent, says what may be called; what is missing there is kUnsupported by name.
//
// Every call is one request, except: lists follow next-page-token; a refused token (401, 419) is renewed once and the request sent again, since the server did
// nothing with the first; reads (GET, HEAD) are tried again within `read_retry_ms`. A commit is sent once, and its answer is judged so:
//   200 with a table in it                              done
//   409; 400 that speaks of a sequence number           kConflict
//   400 otherwise, 413, 422, 403, 401 after renewal     kInvalid, with the server's words
//   404                                                 kNotFound
//   no connection, no TLS, nothing sent                 kUnavailable
//   429, 503, 408, 500, 502, 504, reset, time-out, an answer that is cut or cannot be read, a 200 whose table lacks what was committed
//                                                       kUnknownOutcome (after Retry-After nothing is sent for so long, at most 5 min: kUnavailable)
// Idempotency-Key (UUIDv7, a new one for each commit request) goes along where /v1/config offers it.
//
// docs/protocol/rest-catalog.md has the whole table, with reasons.
//
// load_table() sends If-None-Match with the ETag of what it has and takes a 304 as "the same". Credentials that come with a table (config and
// storage-credentials) are put into file_io() for the table's location and renewed by /credentials, or by loading again.
// Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/interrupt.h"
#include "base/result.h"
#include "iceberg/catalog.h"
#include "io/scheme_file_io.h"
#include "net/http_client.h"
#include "net/tls_options.h"

namespace frazil::iceberg {

struct RestCatalogConfig {
  std::string uri;  // with or without "/v1" at its end
  std::string warehouse;
  std::string credential;  // "id:secret" or "secret"
  std::string token;
  // Names of Iceberg's REST clients: oauth2-server-uri, scope, audience, resource, token-expires-in-ms, header.*, prefix, rest.sigv4-enabled,
  // gcp.auth.credentials-path (a service account's key file), gcp.auth.scopes, gcp.auth.instance-metadata, rest.signing-region, rest.signing-name, rest-page-size, namespace-separator, access-delegation (vended-credentials by default; none), and the stores' (io/store_properties.h).
  std::map<std::string, std::string> properties;
  net::TlsOptions tls;
  bool allow_plaintext = false;
  int64_t request_timeout_ms = 30'000;
  int64_t read_retry_ms = 10'000;
  // Before a table is made, the store that will hold it is asked for a file, so that a wrong key leaves no empty table. Where the catalog
  // cannot lay a table out before, or hands out keys of its own, nothing is asked.
  bool asks_store = false;
  std::shared_ptr<base::Interrupt> given_up;  // net::HttpClientConfig::given_up, for the stores too; may be null
  io::SchemeFileIOConfig files;  // properties of the stores are added from above and from the server
};

// kUnavailable: not reached now. kInvalid: refused (credential, configuration), or not a catalog.
base::Result<std::unique_ptr<Catalog>> open_rest_catalog(RestCatalogConfig config);

// The same with other parts, for tests.
using MakeFiles = std::function<std::shared_ptr<io::SchemeFileIO>(io::SchemeFileIOConfig)>;
base::Result<std::unique_ptr<Catalog>> open_rest_catalog(const RestCatalogConfig& config, std::shared_ptr<net::HttpClient> http,
                                                         const MakeFiles& make_files);

}  // namespace frazil::iceberg
