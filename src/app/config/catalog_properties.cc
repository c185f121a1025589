#include "app/config/catalog_properties.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "app/config/nearest_name.h"
#include "iceberg/catalogs/rest_settings.h"
#include "io/store_properties.h"
#include "net/url.h"

namespace frazil::app {
namespace {

constexpr std::string_view kRestNames[] = {
    "oauth2-server-uri",   "scope",         "audience",            "resource",          "token-expires-in-ms", "prefix",
    "access-delegation",   "rest-page-size", "namespace-separator", "rest.sigv4-enabled", "rest.signing-region", "rest.signing-name",
    "gcp.auth.credentials-path", "gcp.auth.scopes", "gcp.auth.instance-metadata"};

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

// A store that is made of this property, beside keys that belong to it, says what is wrong with its value. Keys, tokens and files are left
// to the run.
base::Status check_store_value(const std::string& name, const std::string& value) {
  const bool is_of_gcs = name.starts_with("gcs.");
  if (io::is_secret_store_property(name) || name == "s3.access-key-id" || name == "gcs.credentials-file") return {};
  io::StoreProperties properties{{name, value}};
  if (is_of_gcs) properties.emplace("gcs.oauth2.token", "x");
  if (name == "s3.session-token-expires-at-ms") properties.insert({{"s3.access-key-id", "x"}, {"s3.secret-access-key", "x"}});
  const io::StoreOptions options{.tls = {}, .allow_plaintext = true, .allowed_hosts = {}, .given_up = nullptr, .http = nullptr};
  return io::make_file_io(is_of_gcs ? "gs" : "s3", properties, options).status();
}

bool is_positive_number(const std::string& text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && number > 0;
}

// Messages do not hold the value: it may have come by reference.
base::Status check_rest_value(const std::string& name, const std::string& value) {
  const auto must_be = [&](const std::string& what) { return base::invalid("property \"" + name + "\" must be " + what); };
  if (value.empty()) return must_be("something");
  const bool is_flag = name == "rest.sigv4-enabled" || name == "gcp.auth.instance-metadata";
  if (is_flag && value != "true" && value != "false") return must_be("true or false");
  if (name == "access-delegation" && value != "vended-credentials" && value != "none") return must_be("vended-credentials or none");
  if (name == "rest-page-size" && !is_positive_number(value)) return must_be("a whole number from 1 on");
  if (name == "token-expires-in-ms" && !is_positive_number(value)) return must_be("a whole number of milliseconds from 1 on");
  if (name == "oauth2-server-uri") {
    const bool is_whole = value.find("://") != std::string::npos;
    if (!net::parse_url(is_whole ? value : "https://catalog/" + value).ok()) return must_be("a URL, or a path below the catalog's uri");
  }
  if (name == "prefix" || name == "namespace-separator") {
    const base::Status settled = iceberg::settle("https://catalog", {{name, value}}, "{}").status();
    if (!settled.ok()) return must_be(name == "prefix" ? "a path, encoded as a whole or not at all" : "one character, encoded (%1F) or not");
  }
  const bool is_line = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return is_line ? base::Status() : must_be("a line of text");
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
  constexpr std::string_view kHeader = "header.";
  if (io::is_secret_store_property(name)) return true;
  return name.starts_with(kHeader) && iceberg::is_secret_header(name.substr(kHeader.size()));
}

base::Status check_catalog_property(const std::string& name, const std::string& value) {
  for (const Refused& refused : kRefused) {
    if (lower(name) == lower(std::string(refused.name)))
      return base::invalid("property \"" + name + "\" is refused: " + std::string(refused.reason));
  }
  if (name.starts_with("header.")) return check_header(name, value);
  if (io::is_store_property(name)) return check_store_value(name, value);
  if (is_rest_property(name)) return check_rest_value(name, value);
  return base::invalid("unknown property \"" + name + "\", nearest known property \"" + nearest_name(name, known_names()) + "\"");
}

}  // namespace frazil::app
