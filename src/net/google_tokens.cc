#include <openssl/evp.h>
#include <openssl/pem.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/clock.h"
#include "net/bearer_tokens.h"
#include "net/digest.h"
#include "net/foreign_answer.h"
#include "net/token_endpoint.h"

namespace frazil::net {

namespace {

using base::Result;
using base::Status;
using nlohmann::json;

constexpr char kDefaultTokenUri[] = "https://oauth2.googleapis.com/token";
constexpr int64_t kAssertionSeconds = 3600;
constexpr int64_t kMetadataTimeoutMs = 5'000;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeKey>;

struct ServiceAccount {
  std::string email;
  std::string key_id;
  std::string private_key;  // PEM
  std::string token_uri;
};

Result<ServiceAccount> read_account(const std::string& key_file) {
  std::ifstream in(key_file);
  if (!in) return base::invalid("cannot read the service account's key file " + key_file);
  const json file = json::parse(in, nullptr, false);
  const auto text = [&](const char* name) {
    return file.is_object() && file.contains(name) && file[name].is_string() ? file[name].get<std::string>()
                                                                             : std::string();
  };
  const std::string type = text("type");
  if (type != "service_account") {
    return base::invalid(key_file + " is no service account's key file: its type is " +
                         (type.empty() ? "missing" : "'" + type + "'"));
  }
  ServiceAccount account{text("client_email"), text("private_key_id"), text("private_key"), text("token_uri")};
  if (account.token_uri.empty()) account.token_uri = kDefaultTokenUri;
  if (account.email.empty() || account.private_key.empty())
    return base::invalid(key_file + " lacks client_email or private_key");
  return account;
}

// RS256 (RFC 7518 section 3.3).
Result<std::string> sign_rs256(const std::string& pem, const std::string& text) {
  const Owned<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA)
    return base::invalid("the private_key is no RSA key in PEM");
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  size_t bytes = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &bytes, data, text.size()) != 1) {
    return base::invalid("the private_key cannot sign");
  }
  std::string signature(bytes, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &bytes, data, text.size()) !=
      1) {
    return base::invalid("the private_key cannot sign");
  }
  signature.resize(bytes);
  return signature;
}

Result<std::string> assertion(const ServiceAccount& account, const std::string& scope) {
  const int64_t now = base::wall_millis() / 1000;
  json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!account.key_id.empty()) header["kid"] = account.key_id;
  const json claims = {{"iss", account.email},
                       {"scope", scope},
                       {"aud", account.token_uri},
                       {"iat", now},
                       {"exp", now + kAssertionSeconds}};
  constexpr auto kReplace = json::error_handler_t::replace;  // text of a foreign file need not be UTF-8
  const std::string unsigned_part =
      base64_url(header.dump(-1, ' ', false, kReplace)) + "." + base64_url(claims.dump(-1, ' ', false, kReplace));
  TRY_ASSIGN(const std::string signature, sign_rs256(account.private_key, unsigned_part));
  return unsigned_part + "." + base64_url(signature);
}

// The file is read each time, so that a renewed key takes effect without a restart.
Result<Fetched<std::string>> exchange(HttpClient& http, const std::string& key_file, const std::string& scope) {
  TRY_ASSIGN(const ServiceAccount account, read_account(key_file));
  auto signed_assertion = assertion(account, scope);
  if (!signed_assertion.ok()) return signed_assertion.error().in(key_file);
  TokenRequest request;
  request.endpoint = account.token_uri;
  request.parameters = {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                        {"assertion", *signed_assertion}};
  request.secrets = {*signed_assertion};
  return fetch_token(http, request);
}

Result<Fetched<std::string>> ask_metadata(HttpClient& http, const std::string& host) {
  HttpRequest request;
  request.url = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token";
  request.headers = {{"Metadata-Flavor", "Google"}};
  request.timeout_ms = kMetadataTimeoutMs;
  request.max_response_bytes = 1 << 20;
  const auto answer = http.send(request);
  if (!answer.ok()) return endpoint_error(answer.error()).in("Google's metadata server");
  return token_of_answer(*answer, "Google's metadata server", {}, kAssertionSeconds * 1000);
}

}  // namespace

Result<std::shared_ptr<BearerTokens>> make_google_service_account(std::shared_ptr<HttpClient> http,
                                                                  const std::string& key_file,
                                                                  const std::string& scope) {
  TRY_ASSIGN(const ServiceAccount account, read_account(key_file));
  TRY(sign_rs256(account.private_key, "").in(key_file));
  return make_renewed_tokens([http = std::move(http), key_file, scope] { return exchange(*http, key_file, scope); });
}

std::shared_ptr<BearerTokens> make_google_metadata_tokens(std::shared_ptr<HttpClient> http, std::string host) {
  return make_renewed_tokens([http = std::move(http), host = std::move(host)] { return ask_metadata(*http, host); });
}

}  // namespace frazil::net
