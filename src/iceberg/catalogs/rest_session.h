// RestSession: a REST catalog that has been greeted: its settings, and a connection that knows who we are.
//
// Shared by the catalog and by what renews its stores' credentials, since a FileIO may outlive its catalog. Immutable once
// opened; any thread.
#pragma once

#include <memory>

#include "base/result.h"
#include "iceberg/catalogs/rest_catalog.h"
#include "iceberg/catalogs/rest_connection.h"
#include "iceberg/catalogs/rest_settings.h"
#include "io/scheme_file_io.h"
#include "net/http_client.h"

namespace frazil::iceberg {

struct RestSession {
  RestSettings settings;
  std::shared_ptr<RestConnection> connection;
  bool wants_credentials = true;
};

// A client for the catalog and its token endpoint alone.
base::Result<std::shared_ptr<net::HttpClient>> rest_http_client(const RestCatalogConfig& config);

// Logs in and asks /v1/config. kInvalid: contradictions in the configuration, refused, or not a catalog; kUnavailable.
base::Result<std::shared_ptr<const RestSession>> open_rest_session(const RestCatalogConfig& config,
                                                                   std::shared_ptr<net::HttpClient> http);

// The stores: properties of the server and ours, and whom a catalog's word may lead us to. Local files only below the allowed
// roots, since their names come from a server.
base::Result<io::SchemeFileIOConfig> files_of(const RestCatalogConfig& config, const RestSettings& settings);

}  // namespace frazil::iceberg
