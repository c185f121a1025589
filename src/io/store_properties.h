// Stores from properties: which FileIO serves a scheme, under the property names that Iceberg's catalogs and clients use.
//
// The same names come from a pipeline's `catalog.properties`, from a catalog's /v1/config, and with a loaded table (vended). Unknown names are
// left to the caller; a known name with a wrong value is kInvalid.
//   s3.endpoint  s3.access-key-id  s3.secret-access-key  s3.session-token  s3.session-token-expires-at-ms  s3.region (client.region)
//   s3.path-style-access (default true with an endpoint of one's own, else false)  s3.force-virtual-addressing  s3.anonymous
//   s3.instance-metadata (false)  s3.sts-endpoint  s3.connect-timeout-ms  s3.request-timeout-ms  s3.retry-total-ms
//   s3.upload-threads (8)  s3.multipart.size (16 MiB)
//   gcs.service.host  gcs.project-id  gcs.user-project  gcs.credentials-file  gcs.oauth2.token  gcs.oauth2.token-expires-at  gcs.no-auth
//   gcs.instance-metadata (false)
// Pure but for make_file_io; any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/file_io.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"
#include "net/tls_options.h"

namespace frazil::io {

using StoreProperties = std::map<std::string, std::string>;

// What belongs to this process rather than to a store.
struct StoreOptions {
  net::TlsOptions tls;
  bool allow_plaintext = false;  // http:// endpoints outside of loopback
  // Endpoints that the configuration names; others, which a catalog may send, are held to net::HttpClientConfig::allowed_hosts.
  std::vector<std::string> allowed_hosts;
  std::shared_ptr<base::Interrupt> given_up;  // net::HttpClientConfig::given_up
  // Stores that share it share its connections; null: a client of the store's own, made from the above.
  std::shared_ptr<net::HttpClient> http;
};

// New properties for those that expire (vended by a catalog); called by any thread when two thirds of their life are over or the store refused
// them.
using RenewProperties = std::function<base::Result<StoreProperties>()>;

// The FileIO for `scheme` ("file" and "" local, "memory", "s3", "s3a", "s3n", "gs"). kUnsupported names the scheme; kInvalid names
// the property. `renew` may be empty.
base::Result<std::shared_ptr<FileIO>> make_file_io(const std::string& scheme, const StoreProperties& properties,
                                                   const StoreOptions& options, RenewProperties renew = {});

// Tokens of the service account of this machine, from Google's metadata server (gcs.instance-metadata).
base::Result<std::shared_ptr<net::BearerTokens>> instance_tokens(const StoreOptions& options);

// The endpoints that the configuration names in its properties, as "host:port", for allowed_hosts. kInvalid: one is no URL.
base::Result<std::vector<std::string>> named_hosts(const StoreProperties& properties);

// `upper` over `lower`. Credentials are one thing: where `upper` brings those of a store, none of `lower`'s for that store come along.
StoreProperties layered(StoreProperties upper, const StoreProperties& lower);

// The names above, sorted.
std::vector<std::string> store_property_names();
// True for the names above: others in a catalog's `properties` belong to the catalog or are mistakes.
bool is_store_property(const std::string& name);
// True for those whose value is a secret.
bool is_secret_store_property(const std::string& name);

}  // namespace frazil::io
