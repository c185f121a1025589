#include "app/config/catalog_properties.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "app/config/nearest_name.h"
#include "iceberg/catalogs/rest_settings.h"
#include "io/store_properties.h"

namespace frazil::app {
namespace {

constexpr std::string_view kRestNames[] = {
    "oauth2-server-uri",   "scope",         "audience",            "resource",          "token-expires-in-ms", "prefix",
    "access-delegation",   "rest-page-size", "namespace-separator", "rest.sigv4-enabled", "rest.signing-region", "rest.signing-name",
    "gcp.auth.credentials-path", "gcp.auth.scopes"};

struct Refused {
  std::string_view name;
  std::string_view reason;
};
constexpr Refused kRefused[] = {
    {"io-impl", "the store is chosen by the scheme of a location"},
    {"py-io-impl", "the store is chosen by the scheme of a location"},
    {"catalog-impl", "set `type` of the catalog"},
    {"type", "set `type` of the catalog"},
    {"uri", "set `uri` of the catalog"},
    {"warehouse", "set `warehouse` of the catalog"},
    {"credential", "set `credential` of the catalog"},
    {"token", "set `token` of the catalog"},
    {"s3.remote-signing-enabled", "requests to stores are signed here"},
    {"cache-enabled", "Frazil keeps no tables between commits"},
    {"cache.expiration-interval-ms", "Frazil keeps no tables between commits"},
    {"encryption.kms-impl", "encrypted tables are unsupported in this version"},
    {"rest.auth.type", "it follows from `credential`, `token`, rest.sigv4-enabled and gcp.auth.credentials-path"},
    {"header.Authorization", "set `credential` or `token` of the catalog"},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names(std::begin(kRestNames), std::end(kRestNames));
  for (const std::string& name : io::store_property_names()) names.push_back(name);
  return names;
}

// A store that is made of this property alone says what is wrong with its value; keys and tokens come in groups and are left to the run.
base::Status check_store_value(const std::string& name, const std::string& value) {
  const bool is_of_a_group = name.find("access-key") != std::string::npos || name.find("token") != std::string::npos;
  if (!name.starts_with("s3.") || is_of_a_group) return {};
  return io::make_file_io("s3", {{name, value}}, {.tls = {}, .allow_plaintext = true, .allowed_hosts = {}, .http = nullptr}).status();
}

// Headers that frame the message or say who asks are made here.
base::Status check_header(const std::string& name, const std::string& value) {
  const std::string header = lower(name.substr(std::string_view("header.").size()));
  if (!header.empty() && iceberg::is_reserved_header(header))
    return base::invalid("property \"" + name + "\" is refused: Frazil sets this header itself");
  const bool is_token = !header.empty() && std::all_of(header.begin(), header.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
  const bool is_line = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!is_token || !is_line) return base::invalid("property \"" + name + "\" makes no HTTP header");
  return {};
}

}  // namespace

bool is_rest_property(const std::string& name) {
  return name.starts_with("header.") || std::find(std::begin(kRestNames), std::end(kRestNames), name) != std::end(kRestNames);
}

bool is_catalog_secret(const std::string& name) {
  if (io::is_secret_store_property(name)) return true;
  if (!name.starts_with("header.")) return false;
  const std::string header = lower(name);
  for (const char* word : {"auth", "token", "key", "secret", "cookie"}) {
    if (header.find(word) != std::string::npos) return true;
  }
  return false;
}

base::Status check_catalog_property(const std::string& name, const std::string& value) {
  for (const Refused& refused : kRefused) {
    if (lower(name) == lower(std::string(refused.name)))
      return base::invalid("property \"" + name + "\" is refused: " + std::string(refused.reason));
  }
  if (name.starts_with("header.")) return check_header(name, value);
  if (io::is_store_property(name)) return check_store_value(name, value);
  if (is_rest_property(name)) return {};
  return base::invalid("unknown property \"" + name + "\", nearest known property \"" + nearest_name(name, known_names()) + "\"");
}

}  // namespace frazil::app
