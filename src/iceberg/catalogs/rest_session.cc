#include "iceberg/catalogs/rest_session.h"

#include <charconv>
#include <utility>

#include "base/log.h"
#include "net/url.h"

namespace frazil::iceberg {
namespace {

using base::Result;

constexpr char kGoogleKeyFile[] = "gcp.auth.credentials-path";
constexpr char kGoogleInstance[] = "gcp.auth.instance-metadata";
constexpr char kGoogleScope[] = "https://www.googleapis.com/auth/cloud-platform";

using PropertyMap = std::map<std::string, std::string>;

std::string value_of(const PropertyMap& properties, const std::string& name, const std::string& otherwise = "") {
  const auto found = properties.find(name);
  return found == properties.end() ? otherwise : found->second;
}

Result<bool> boolean_of(const PropertyMap& properties, const std::string& name, bool otherwise) {
  const std::string text = value_of(properties, name, otherwise ? "true" : "false");
  if (text != "true" && text != "false") return base::invalid("catalog property " + name + " must be true or false");
  return text == "true";
}

Result<int64_t> millis_of(const PropertyMap& properties, const std::string& name, int64_t otherwise) {
  const std::string text = value_of(properties, name);
  if (text.empty()) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return base::invalid("catalog property " + name + " must be a number of milliseconds");
  return value;
}

std::string token_endpoint(const RestCatalogConfig& config) {
  std::string endpoint = value_of(config.properties, "oauth2-server-uri", "v1/oauth/tokens");
  if (endpoint.find("://") != std::string::npos) return endpoint;
  while (endpoint.starts_with('/')) endpoint.erase(0, 1);
  return rest_base(config.uri) + "/" + endpoint;
}

Result<std::shared_ptr<net::BearerTokens>> tokens_of(const RestCatalogConfig& config, std::shared_ptr<net::HttpClient> http) {
  if (!config.token.empty()) return net::make_fixed_token(config.token);
  net::ClientCredentials client;
  client.token_endpoint = token_endpoint(config);
  const size_t colon = config.credential.find(':');
  if (colon != std::string::npos) client.client_id = config.credential.substr(0, colon);
  client.client_secret = colon == std::string::npos ? config.credential : config.credential.substr(colon + 1);
  client.scope = value_of(config.properties, "scope", client.scope);
  for (const char* name : {"audience", "resource"}) {
    if (const std::string value = value_of(config.properties, name); !value.empty()) client.extra[name] = value;
  }
  TRY_ASSIGN(client.default_life_ms, millis_of(config.properties, "token-expires-in-ms", client.default_life_ms));
  return net::make_client_credentials(std::move(http), std::move(client));
}

// Keys of the configuration, else those that AWS's tools would find.
std::shared_ptr<net::AwsCredentialsProvider> signer_of(const PropertyMap& properties, const std::string& region,
                                                       std::shared_ptr<net::HttpClient> http) {
  const std::string key = value_of(properties, "s3.access-key-id");
  if (!key.empty()) {
    return net::make_fixed_aws_credentials(
        {key, value_of(properties, "s3.secret-access-key"), value_of(properties, "s3.session-token"), 0});
  }
  net::AwsChainConfig chain;
  chain.environment = net::aws_environment();
  chain.region = region;
  return net::make_aws_chain(std::move(chain), std::move(http));
}

Result<RestIdentity> identity_of(const RestCatalogConfig& config, const std::shared_ptr<net::HttpClient>& http) {
  RestIdentity identity;
  TRY_ASSIGN(const bool is_signed, boolean_of(config.properties, "rest.sigv4-enabled", false));
  TRY_ASSIGN(const bool asks_instance, boolean_of(config.properties, kGoogleInstance, false));
  const std::string google_key_file = value_of(config.properties, kGoogleKeyFile);
  const int ways = int{!config.credential.empty()} + int{!config.token.empty()} + int{is_signed} + int{!google_key_file.empty()} + int{asks_instance};
  if (ways > 1) {
    return base::invalid(std::string("the catalog's credential, token, rest.sigv4-enabled, ") + kGoogleKeyFile + " and " + kGoogleInstance +
                         " exclude each other");
  }
  if (asks_instance) {
    io::StoreOptions options;
    options.given_up = config.given_up;
    TRY_ASSIGN(identity.tokens, io::instance_tokens(options));
  } else if (!google_key_file.empty()) {
    TRY_ASSIGN(identity.tokens, net::make_google_service_account(http, google_key_file,
                                                                 value_of(config.properties, "gcp.auth.scopes", kGoogleScope)));
  } else if (!config.credential.empty() || !config.token.empty()) {
    TRY_ASSIGN(identity.tokens, tokens_of(config, http));
  }
  if (!is_signed) return identity;
  identity.scope.region = value_of(config.properties, "rest.signing-region", value_of(config.properties, "s3.region",
                                   value_of(config.properties, "client.region", "us-east-1")));
  identity.scope.service = value_of(config.properties, "rest.signing-name", "execute-api");
  identity.scope.encodes_path_twice = true;
  identity.aws = signer_of(config.properties, identity.scope.region, http);
  return identity;
}

Result<bool> credentials_wanted(const PropertyMap& properties) {
  const std::string how = value_of(properties, "access-delegation", "vended-credentials");
  if (how == "vended-credentials" || how == "none") return how != "none";
  return base::unsupported("catalog property access-delegation: " + how + " (known: vended-credentials, none)");
}

// What would lead us elsewhere if it were followed is worth a line of the log.
void tell_what_is_not_followed(const RestSettings& settings) {
  for (const std::string& name : settings.not_followed) {
    const bool leads_elsewhere = name == "uri" || name == "oauth2-server-uri" || name.starts_with("header.") || name == "token" ||
                                 name == "credential" || name == "s3.sts-endpoint";
    base::log(leads_elsewhere ? base::LogLevel::kWarn : base::LogLevel::kDebug, "catalog_property_not_followed",
              {{"catalog", settings.base}, {"property", name}});
  }
}

}  // namespace

Result<std::shared_ptr<net::HttpClient>> rest_http_client(const RestCatalogConfig& config) {
  net::HttpClientConfig http;
  http.tls = config.tls;
  http.allow_plaintext = config.allow_plaintext;
  for (const std::string& uri : {config.uri, token_endpoint(config)}) {
    const Result<net::Url> url = net::parse_url(uri);
    if (!url.ok()) return url.error().in("catalog");
    http.allowed_hosts.push_back(url->authority());
  }
  http.given_up = config.given_up;
  return net::make_http_client(std::move(http));
}

Result<std::shared_ptr<const RestSession>> open_rest_session(const RestCatalogConfig& config,
                                                             std::shared_ptr<net::HttpClient> http) {
  const std::string base = rest_base(config.uri);
  auto session = std::make_shared<RestSession>();
  TRY_ASSIGN(session->wants_credentials, credentials_wanted(config.properties));
  TRY_ASSIGN(const RestSettings ours, settle(config.uri, config.properties, "{}"));
  TRY_ASSIGN(RestIdentity identity, identity_of(config, http));
  session->connection = std::make_shared<RestConnection>(base, std::move(http), std::move(identity), config.request_timeout_ms,
                                                         config.read_retry_ms);
  session->connection->use_headers(ours.headers);
  RestRequest question{.path = "/v1/config", .is_tried_again = false};
  if (!config.warehouse.empty()) question.path += "?warehouse=" + net::percent_encode(config.warehouse);
  const auto answer = session->connection->send(question);
  if (!answer.ok()) return answer.error();
  TRY_ASSIGN(session->settings, settle(config.uri, config.properties, answer->body));
  session->connection->use_headers(session->settings.headers);
  tell_what_is_not_followed(session->settings);
  return std::shared_ptr<const RestSession>(std::move(session));
}

Result<io::SchemeFileIOConfig> files_of(const RestCatalogConfig& config, const RestSettings& settings) {
  io::SchemeFileIOConfig files = config.files;
  for (const auto& [name, value] : settings.store) files.properties[name] = value;
  files.local_is_restricted = true;
  TRY_ASSIGN(files.options.allowed_hosts, io::named_hosts(config.properties));
  files.options.given_up = config.given_up;
  // A catalog on this machine leads nowhere that it could not reach itself.
  TRY_ASSIGN(const net::Url url, net::parse_url(config.uri));
  if (net::is_loopback_host(url.host)) {
    for (const char* host : {"127.0.0.1", "localhost", "::1"}) files.options.allowed_hosts.emplace_back(host);
  }
  return files;
}

}  // namespace frazil::iceberg
