#include "io/store_properties.h"

#include <cstdlib>
#include <utility>

#include "base/sync.h"
#include "io/gcs/gcs_file_io.h"
#include "io/local_file_io.h"
#include "io/property_reader.h"
#include "io/s3/s3_file_io.h"
#include "io/vended_token.h"
#include "net/aws_credentials.h"
#include "net/bearer_tokens.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kMinPartBytes = 5LL << 20;
constexpr int64_t kMaxPartBytes = 5LL << 30;
constexpr char kGoogleStorageScope[] = "https://www.googleapis.com/auth/devstorage.read_write";
constexpr char kInstanceMetadataHost[] = "169.254.169.254";

// Google's libraries take another host from this variable, as its emulators do.
std::string google_metadata_host() {
  const char* host = std::getenv("GCE_METADATA_HOST");
  return host == nullptr || *host == '\0' ? "metadata.google.internal" : host;
}

Result<std::shared_ptr<net::HttpClient>> client_for(const StoreOptions& options, int64_t connect_timeout_ms) {
  if (options.http != nullptr) return options.http;
  net::HttpClientConfig config;
  config.tls = options.tls;
  config.allow_plaintext = options.allow_plaintext;
  config.allowed_hosts = options.allowed_hosts;
  config.given_up = options.given_up;
  config.connect_timeout_ms = connect_timeout_ms;
  return net::make_http_client(std::move(config));
}

// For the credentials of the instance itself: the one address that nobody else may be sent to, in plain text by design.
Result<std::shared_ptr<net::HttpClient>> client_with_instance_metadata(const StoreOptions& options, const std::string& host) {
  net::HttpClientConfig config;
  config.tls = options.tls;
  config.allow_plaintext = true;
  config.allowed_hosts = options.allowed_hosts;
  config.allowed_hosts.push_back(host);
  config.given_up = options.given_up;
  config.connect_timeout_ms = 2'000;
  return net::make_http_client(std::move(config));
}

Result<net::AwsCredentials> keys_of(const StoreProperties& properties) {
  PropertyReader read(properties);
  net::AwsCredentials keys;
  keys.access_key_id = read.text("s3.access-key-id");
  keys.secret_access_key = read.text("s3.secret-access-key");
  keys.session_token = read.text("s3.session-token");
  keys.expires_at_ms = read.number("s3.session-token-expires-at-ms", 0, 0, INT64_MAX);
  TRY(read.status());
  if (keys.access_key_id.empty() || keys.secret_access_key.empty()) {
    return base::invalid("s3.access-key-id and s3.secret-access-key belong together");
  }
  return keys;
}

// The first call gives what is there, later ones what the owner renews.
std::shared_ptr<net::AwsCredentialsProvider> renewed_keys(net::AwsCredentials first, RenewProperties renew) {
  struct State {
    base::Mutex mutex;
    bool is_given = false;
  };
  return net::make_renewed_aws_credentials([state = std::make_shared<State>(), first = std::move(first),
                                            renew = std::move(renew)]() -> Result<net::AwsCredentials> {
    {
      base::Lock lock(state->mutex);
      if (!std::exchange(state->is_given, true)) return first;
    }
    TRY_ASSIGN(const StoreProperties fresh, renew());
    return keys_of(fresh);
  });
}

Result<std::shared_ptr<net::AwsCredentialsProvider>> s3_credentials(const StoreProperties& properties, const StoreOptions& options,
                                                                    const std::string& region, RenewProperties renew,
                                                                    std::shared_ptr<net::HttpClient> http) {
  PropertyReader read(properties);
  const bool is_anonymous = read.flag("s3.anonymous", false);
  const bool asks_instance = read.flag("s3.instance-metadata", false);
  TRY(read.status());
  if (is_anonymous) return net::make_fixed_aws_credentials({});
  if (read.has("s3.access-key-id") || read.has("s3.secret-access-key")) {
    TRY_ASSIGN(net::AwsCredentials keys, keys_of(properties));
    if (renew) return renewed_keys(std::move(keys), std::move(renew));
    return net::make_fixed_aws_credentials(std::move(keys));
  }
  net::AwsChainConfig chain;
  chain.environment = net::aws_environment();
  chain.sts_endpoint = read.text("s3.sts-endpoint");
  if (!chain.sts_endpoint.empty()) TRY(net::parse_url(chain.sts_endpoint).in("s3.sts-endpoint"));
  chain.region = region;
  chain.instance_metadata = asks_instance;
  if (asks_instance) {
    TRY_ASSIGN(http, client_with_instance_metadata(options, kInstanceMetadataHost));
  }
  return net::make_aws_chain(std::move(chain), std::move(http));
}

std::string s3_region(const PropertyReader& read) {
  const auto environment = net::aws_environment();
  const auto found = environment.find("AWS_REGION");
  const std::string otherwise = found == environment.end() || found->second.empty() ? "us-east-1" : found->second;
  return read.text("s3.region", read.text("client.region", otherwise));
}

Result<std::shared_ptr<FileIO>> make_s3(const StoreProperties& properties, const StoreOptions& options, RenewProperties renew) {
  PropertyReader read(properties);
  S3Config config;
  config.endpoint = read.text("s3.endpoint");
  config.region = s3_region(read);
  const bool forces_host = read.flag("s3.force-virtual-addressing", false);
  config.path_style = read.flag("s3.path-style-access", !config.endpoint.empty() && !forces_host);
  config.part_bytes = read.number("s3.multipart.size", config.part_bytes, kMinPartBytes, kMaxPartBytes);
  config.upload_lanes = static_cast<int>(read.number("s3.upload-threads", config.upload_lanes, 1, 256));
  config.request_timeout_ms = read.number("s3.request-timeout-ms", config.request_timeout_ms, 1, kDayMs);
  config.retry_total_ms = read.number("s3.retry-total-ms", config.retry_total_ms, 1, kDayMs);
  const int64_t connect_timeout_ms = read.number("s3.connect-timeout-ms", 10'000, 1, kDayMs);
  TRY(read.status());
  if (forces_host && config.path_style) return base::invalid("s3.force-virtual-addressing and s3.path-style-access exclude each other");
  TRY_ASSIGN(std::shared_ptr<net::HttpClient> http, client_for(options, connect_timeout_ms));
  TRY_ASSIGN(auto credentials, s3_credentials(properties, options, config.region, std::move(renew), http));
  return make_s3_file_io(std::move(config), std::move(http), std::move(credentials));
}

Result<std::shared_ptr<net::BearerTokens>> gcs_tokens(const StoreProperties& properties, const StoreOptions& options, RenewProperties renew,
                                                      std::shared_ptr<net::HttpClient> http) {
  PropertyReader read(properties);
  const bool is_anonymous = read.flag("gcs.no-auth", false);
  const bool asks_instance = read.flag("gcs.instance-metadata", false);
  const int64_t expires_at_ms = read.number("gcs.oauth2.token-expires-at", 0, 0, INT64_MAX);
  TRY(read.status());
  if (is_anonymous) return std::shared_ptr<net::BearerTokens>();
  if (read.has("gcs.oauth2.token")) {
    if (renew && expires_at_ms > 0) return make_vended_token(properties, std::move(renew));
    return net::make_fixed_token(read.text("gcs.oauth2.token"));
  }
  if (asks_instance) return instance_tokens(options);
  const char* of_environment = std::getenv("GOOGLE_APPLICATION_CREDENTIALS");
  const std::string file = read.text("gcs.credentials-file", of_environment == nullptr ? "" : of_environment);
  if (!file.empty()) return net::make_google_service_account(std::move(http), file, kGoogleStorageScope);
  return base::invalid("no credentials for gs://: set gcs.credentials-file (a service account's JSON key), gcs.oauth2.token, "
                       "GOOGLE_APPLICATION_CREDENTIALS, gcs.instance-metadata: true, or gcs.no-auth: true");
}

Result<std::shared_ptr<FileIO>> make_gcs(const StoreProperties& properties, const StoreOptions& options, RenewProperties renew) {
  PropertyReader read(properties);
  GcsConfig config;
  config.host = read.text("gcs.service.host", config.host);
  TRY(net::parse_url(config.host).in("gcs.service.host"));
  config.user_project = read.text("gcs.user-project");
  TRY_ASSIGN(std::shared_ptr<net::HttpClient> http, client_for(options, 10'000));
  TRY_ASSIGN(std::shared_ptr<net::BearerTokens> tokens, gcs_tokens(properties, options, std::move(renew), http));
  return make_gcs_file_io(std::move(config), std::move(http), std::move(tokens));
}

}  // namespace

Result<std::shared_ptr<net::BearerTokens>> instance_tokens(const StoreOptions& options) {
  const std::string host = google_metadata_host();
  TRY_ASSIGN(std::shared_ptr<net::HttpClient> http, client_with_instance_metadata(options, host));
  return net::make_google_metadata_tokens(std::move(http), host);
}

Result<std::vector<std::string>> named_hosts(const StoreProperties& properties) {
  std::vector<std::string> hosts;
  for (const char* name : {"s3.endpoint", "s3.sts-endpoint", "gcs.service.host"}) {
    const auto found = properties.find(name);
    if (found == properties.end() || found->second.empty()) continue;
    auto url = net::parse_url(found->second);
    if (!url.ok()) return url.error().in(name);
    hosts.push_back(url->authority());
  }
  return hosts;
}

Result<std::shared_ptr<FileIO>> make_file_io(const std::string& scheme, const StoreProperties& properties, const StoreOptions& options,
                                             RenewProperties renew) {
  if (scheme.empty() || scheme == "file") return make_local_file_io();
  if (scheme == "memory") return file_io_for("memory://");
  if (scheme == "s3" || scheme == "s3a" || scheme == "s3n") return make_s3(properties, options, std::move(renew));
  if (scheme == "gs") return make_gcs(properties, options, std::move(renew));
  return base::unsupported("no file store for the scheme '" + scheme + "' (known: file, s3, s3a, s3n, gs, memory)");
}

}  // namespace frazil::io
