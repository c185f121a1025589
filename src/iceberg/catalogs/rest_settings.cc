#include "iceberg/catalogs/rest_settings.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "iceberg/json_view.h"
#include "net/url.h"

namespace frazil::iceberg {
namespace {

using base::Result;
using base::Status;

constexpr std::string_view kHeader = "header.";

// What a server that lists no endpoints is expected to have (specification, /v1/config).
const char* const kEndpointsByDefault[] = {
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit",
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_for_servers_to_set(const std::string& name) {
  static const std::set<std::string> names = {"prefix", "namespace-separator", "rest-page-size"};
  static const std::set<std::string> local = {"gcs.credentials-file", "gcs.instance-metadata", "s3.instance-metadata", "s3.sts-endpoint"};
  if (name.starts_with(kHeader)) return !is_reserved_header(name.substr(kHeader.size()));
  return names.contains(name) || (io::is_store_property(name) && !local.contains(name));
}

Result<std::string> encoded_prefix(const std::string& text) {
  std::string prefix = text;
  while (prefix.starts_with('/')) prefix.erase(0, 1);
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!is_printable(prefix) || prefix.find("..") != std::string::npos)
    return base::invalid("catalog property prefix makes no path: " + net::percent_encode(text));
  if (prefix.find('%') == std::string::npos) return net::percent_encode_path(prefix);
  // It is encoded already: nothing may stand there that would end the path.
  if (prefix.find_first_of(" ?#\\") != std::string::npos)
    return base::invalid("catalog property prefix is encoded in part only: " + net::percent_encode(text));
  return prefix;
}

Result<std::string> encoded_separator(const std::string& text) {
  const bool is_encoded = text.size() == 3 && text[0] == '%' && std::isxdigit(static_cast<unsigned char>(text[1])) &&
                          std::isxdigit(static_cast<unsigned char>(text[2]));
  if (is_encoded) return text;
  if (text.empty() || text.find('%') != std::string::npos)
    return base::invalid("catalog property namespace-separator is no encoded character: " + net::percent_encode(text));
  return net::percent_encode(text);
}

Result<int64_t> page_size_of(const std::string& text) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1)
    return base::invalid("catalog property rest-page-size must be a number from 1 on");
  return size;
}

Status take(RestSettings& settings, const std::string& name, const std::string& value) {
  if (name == "prefix") {
    TRY_ASSIGN(settings.prefix, encoded_prefix(value));
  } else if (name == "namespace-separator") {
    TRY_ASSIGN(settings.separator, encoded_separator(value));
  } else if (name == "rest-page-size") {
    TRY_ASSIGN(settings.page_size, page_size_of(value));
  } else if (name.starts_with(kHeader)) {
    const std::string header = name.substr(kHeader.size());
    if (!is_printable(value) || !is_printable(header) || header.find(':') != std::string::npos)
      return base::invalid("catalog property " + net::percent_encode(name) + " makes no header");
    settings.headers.emplace_back(header, value);
  } else if (io::is_store_property(name)) {
    settings.store[name] = value;
  }
  return {};
}

// From the server's "defaults" or "overrides".
Result<std::map<std::string, std::string>> allowed(const JsonView& object, RestSettings& settings) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : object.members()) {
    if (!value.is_string()) continue;
    if (is_for_servers_to_set(name)) {
      TRY_ASSIGN(values[name], value.as_text());
    } else {
      settings.not_followed.push_back(name);
    }
  }
  return values;
}

Status read_endpoints(const JsonView& root, RestSettings& settings) {
  TRY_ASSIGN(const auto listed, root.array_member("endpoints"));
  for (const JsonView& entry : listed) {
    TRY_ASSIGN(std::string endpoint, entry.as_text());
    // Some servers leave out the slash.
    const size_t space = endpoint.find(' ');
    if (space != std::string::npos && endpoint.compare(space + 1, 2, "v1") == 0) endpoint.insert(space + 1, "/");
    settings.endpoints.insert(std::move(endpoint));
  }
  if (listed.empty()) settings.endpoints.insert(std::begin(kEndpointsByDefault), std::end(kEndpointsByDefault));
  return {};
}

}  // namespace

bool is_reserved_header(const std::string& name) {
  static const std::set<std::string> reserved = {"authorization", "proxy-authorization", "cookie", "host", "connection",
                                                 "content-length", "content-type", "transfer-encoding", "te", "upgrade",
                                                 "expect", "accept", "idempotency-key", "if-none-match"};
  return name.empty() || reserved.contains(lower(name));
}

bool is_secret_header(const std::string& name) {
  static constexpr std::string_view kWords[] = {"auth", "token", "key", "secret", "cookie", "pass", "pwd", "cred", "api", "sign", "session", "jwt"};
  const std::string header = lower(name);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) { return header.find(word) != header.npos; });
}

std::string rest_base(const std::string& uri) {
  std::string base = uri;
  const auto drop_slashes = [&] {
    while (base.ends_with('/')) base.pop_back();
  };
  drop_slashes();
  if (base.ends_with("/v1")) base.resize(base.size() - 3);
  drop_slashes();
  return base;
}

Result<RestSettings> settle(const std::string& uri, const std::map<std::string, std::string>& properties,
                            const std::string& config_json) {
  const Result<JsonDocument> document = JsonDocument::parse(config_json);
  if (!document.ok() || !document->root().is_object())
    return base::invalid("the answer to /v1/config is no JSON object: is this an Iceberg REST catalog?");
  const JsonView root = document->root();
  RestSettings settings;
  settings.base = rest_base(uri);
  TRY_ASSIGN(auto values, allowed(root.member("defaults"), settings));
  for (const auto& [name, value] : properties) values[name] = value;
  TRY_ASSIGN(const auto overrides, allowed(root.member("overrides"), settings));
  for (const auto& [name, value] : overrides) values[name] = value;
  for (const auto& [name, value] : values) TRY(take(settings, name, value));
  for (const auto& [name, value] : properties) {
    if (io::is_store_property(name)) settings.own_store[name] = value;
  }
  for (const auto& [name, value] : settings.store) {
    const auto own = settings.own_store.find(name);
    if (own == settings.own_store.end() || own->second != value) settings.sent_store[name] = value;
  }
  settings.store = without_foreign_endpoints(settings.sent_store, settings.own_store);
  for (const auto& [name, value] : settings.sent_store) {
    if (!settings.store.contains(name)) settings.not_followed.push_back(name);
  }
  settings.store = io::layered(std::move(settings.store), settings.own_store);
  TRY(read_endpoints(root, settings));
  settings.has_idempotency_keys = root.member("idempotency-key-lifetime").is_string();
  return settings;
}

io::StoreProperties without_foreign_endpoints(io::StoreProperties sent, const io::StoreProperties& own) {
  struct Endpoint {
    const char* name;
    std::vector<const char*> credentials;
  };
  static const std::vector<Endpoint> endpoints = {
      {"s3.endpoint", {"s3.access-key-id"}}, {"gcs.service.host", {"gcs.oauth2.token", "gcs.credentials-file"}}};
  for (const auto& [name, credentials] : endpoints) {
    const auto in = [&credentials = credentials](const io::StoreProperties& store) {
      return std::any_of(credentials.begin(), credentials.end(), [&](const char* credential) { return store.contains(credential); });
    };
    // A server's credentials lie over ours where both are: what goes to its endpoint is then its own.
    if (own.contains(name) || !in(sent)) sent.erase(name);
  }
  return sent;
}

io::StoreProperties store_properties_from_server(const Properties& config) {
  io::StoreProperties store;
  for (const auto& [name, value] : config) {
    if (io::is_store_property(name) && is_for_servers_to_set(name)) store[name] = value;
  }
  return store;
}

std::string RestSettings::joined(const Namespace& ns) const {
  std::string text;
  for (const std::string& level : ns) text += (text.empty() ? "" : separator) + net::percent_encode(level);
  return text;
}

std::string RestSettings::namespaces() const { return "/v1/" + (prefix.empty() ? "" : prefix + "/") + "namespaces"; }
std::string RestSettings::of_namespace(const Namespace& ns) const { return namespaces() + "/" + joined(ns); }
std::string RestSettings::tables(const Namespace& ns) const { return of_namespace(ns) + "/tables"; }
std::string RestSettings::table(const TableId& id) const { return tables(id.ns) + "/" + net::percent_encode(id.name); }
std::string RestSettings::rename() const { return "/v1/" + (prefix.empty() ? "" : prefix + "/") + "tables/rename"; }
std::string RestSettings::transactions() const {
  return "/v1/" + (prefix.empty() ? "" : prefix + "/") + "transactions/commit";
}

Status RestSettings::require(const std::string& endpoint) const {
  if (offers(endpoint)) return {};
  return base::unsupported("the catalog at " + base + " does not offer " + endpoint);
}

}  // namespace frazil::iceberg
