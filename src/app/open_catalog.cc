#include "app/open_catalog.h"

#include <filesystem>

#include "app/config/catalog_properties.h"
#include "iceberg/catalogs/rest_catalog.h"
#include "io/location.h"
#include "io/scheme_file_io.h"

namespace frazil::app {
namespace {

// The stores of a catalog, by the schemes of locations; of a catalog over the network local files only below the allowed roots.
io::SchemeFileIOConfig file_io_config(const CatalogConfig& config) {
  io::SchemeFileIOConfig files;
  for (const auto& [name, value] : config.properties) {
    if (!is_rest_property(name)) files.properties[name] = value;
  }
  files.options.tls.ca_file = config.files.ca_file;
  files.options.allow_plaintext = config.files.allow_plaintext;
  files.allowed_roots = config.files.allowed_roots;
  files.local_is_restricted = config.type == "rest";
  const std::string scheme = io::scheme_of(config.warehouse);
  const bool has_roots = files.local_is_restricted || !files.allowed_roots.empty();
  if (has_roots && (scheme == "file" || config.warehouse.starts_with('/'))) files.allowed_roots.push_back(config.warehouse);
  return files;
}

base::Result<std::unique_ptr<iceberg::Catalog>> open_rest(const CatalogConfig& config, const CatalogUse& use) {
  iceberg::RestCatalogConfig rest;
  rest.uri = config.uri;
  rest.warehouse = config.warehouse;
  rest.credential = config.credential;
  rest.token = config.token;
  rest.properties = config.properties;
  rest.tls = {config.ca_file, config.certificate_file, config.key_file};
  rest.allow_plaintext = config.allow_plaintext;
  rest.given_up = use.given_up;
  rest.asks_store = use.writes;
  rest.files = file_io_config(config);
  return iceberg::open_rest_catalog(std::move(rest));
}

base::Result<std::unique_ptr<iceberg::Catalog>> open_sqlite(const CatalogConfig& config, const CatalogUse& use) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(config.uri).parent_path(), ignored);
  io::SchemeFileIOConfig files = file_io_config(config);
  TRY_ASSIGN(files.options.allowed_hosts, io::named_hosts(config.properties));
  files.options.given_up = use.given_up;
  return iceberg::open_sqlite_catalog(config.uri, config.name, config.warehouse, io::make_scheme_file_io(std::move(files)));
}

}  // namespace

base::Result<std::unique_ptr<iceberg::Catalog>> open_catalog(const CatalogConfig& config, const CatalogUse& use) {
  if (config.type == "rest") {
    auto catalog = open_rest(config, use);
    // What did not reach it names its address already.
    const bool is_named = !catalog.ok() && config.uri.starts_with(catalog.error().message().substr(0, catalog.error().message().find(": ")));
    return std::move(catalog).in(is_named ? "catalog" : "catalog " + config.uri);
  }
  if (config.type == "sqlite") return open_sqlite(config, use).in("catalog " + config.uri);
  if (config.type != "memory") return base::unsupported("catalog type " + config.type);
  TRY_ASSIGN(auto io, io::file_io_for(config.warehouse));
  return iceberg::make_memory_catalog(config.warehouse, std::move(io));
}

}  // namespace frazil::app
