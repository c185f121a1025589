#include "app/open_catalog.h"

#include <filesystem>

#include "app/config/catalog_properties.h"
#include "iceberg/catalogs/rest_catalog.h"
#include "io/location.h"
#include "net/url.h"

namespace frazil::app {
namespace {

// Endpoints that the user wrote down: these may be loopback, others not.
std::vector<std::string> hosts_of(const CatalogConfig& config) {
  std::vector<std::string> hosts;
  for (const char* name : {"s3.endpoint", "s3.sts-endpoint", "gcs.service.host"}) {
    const auto found = config.properties.find(name);
    if (found == config.properties.end()) continue;
    const auto url = net::parse_url(found->second);
    if (url.ok()) hosts.push_back(url->host);
  }
  return hosts;
}

base::Result<std::unique_ptr<iceberg::Catalog>> open_rest(const CatalogConfig& config) {
  iceberg::RestCatalogConfig rest;
  rest.uri = config.uri;
  rest.warehouse = config.warehouse;
  rest.credential = config.credential;
  rest.token = config.token;
  rest.properties = config.properties;
  rest.tls = {config.ca_file, config.certificate_file, config.key_file};
  rest.allow_plaintext = config.allow_plaintext;
  rest.files = file_io_config(config);
  return iceberg::open_rest_catalog(std::move(rest));
}

base::Result<std::unique_ptr<iceberg::Catalog>> open_sqlite(const CatalogConfig& config) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(config.uri).parent_path(), ignored);
  return iceberg::open_sqlite_catalog(config.uri, config.name, config.warehouse, io::make_scheme_file_io(file_io_config(config)));
}

}  // namespace

io::SchemeFileIOConfig file_io_config(const CatalogConfig& config) {
  io::SchemeFileIOConfig files;
  for (const auto& [name, value] : config.properties) {
    if (!is_rest_property(name)) files.properties[name] = value;
  }
  files.options.tls.ca_file = config.files.ca_file;
  files.options.allow_plaintext = config.files.allow_plaintext;
  files.options.allowed_hosts = hosts_of(config);
  files.allowed_roots = config.files.allowed_roots;
  files.local_is_restricted = config.type == "rest";
  const std::string scheme = io::scheme_of(config.warehouse);
  const bool has_roots = files.local_is_restricted || !files.allowed_roots.empty();
  if (has_roots && (scheme == "file" || config.warehouse.starts_with('/'))) files.allowed_roots.push_back(config.warehouse);
  return files;
}

base::Result<std::unique_ptr<iceberg::Catalog>> open_catalog(const CatalogConfig& config) {
  if (config.type == "rest") return open_rest(config).in("catalog " + config.uri);
  if (config.type == "sqlite") return open_sqlite(config).in("catalog " + config.uri);
  if (config.type != "memory") return base::unsupported("catalog type " + config.type);
  TRY_ASSIGN(auto io, io::file_io_for(config.warehouse));
  return iceberg::make_memory_catalog(config.warehouse, std::move(io));
}

}  // namespace frazil::app
