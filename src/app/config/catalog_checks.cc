#include "app/config/catalog_checks.h"

#include <algorithm>

#include "net/url.h"

namespace frazil::app {
namespace {

constexpr char kSigned[] = "properties.rest.sigv4-enabled";
constexpr char kGoogleKeyFile[] = "properties.gcp.auth.credentials-path";
constexpr char kGoogleInstance[] = "properties.gcp.auth.instance-metadata";

class TogetherChecks {
 public:
  TogetherChecks(const CatalogConfig& catalog, const std::function<bool(const std::string& key)>& is_set)
      : catalog_(catalog), is_set_(is_set) {}

  std::vector<CatalogProblem> run() {
    check_store();
    if (catalog_.type != "sqlite" && is_set_("name")) warn("name", "\"name\" counts inside of a SQLite file alone and has no effect here");
    if (catalog_.type != "rest") return std::move(problems_);
    check_one_login();
    check_effects();
    check_token_endpoint();
    return std::move(problems_);
  }

 private:
  void error(const std::string& key, std::string text) { problems_.push_back({key, std::move(text), false}); }
  void warn(const std::string& key, std::string text) { problems_.push_back({key, std::move(text), true}); }
  std::string property(const std::string& name) const {
    const auto found = catalog_.properties.find(name);
    return found == catalog_.properties.end() ? "" : found->second;
  }
  bool is_signed() const { return property("rest.sigv4-enabled") == "true"; }

  // A catalog is told once who asks.
  void check_one_login() {
    std::string first;
    for (const std::string way : {"credential", "token", kSigned, kGoogleKeyFile, kGoogleInstance}) {
      const std::string name = way.starts_with("properties.") ? way.substr(11) : way;
      const bool is_flag = way == kSigned || way == kGoogleInstance;
      if (is_flag ? property(name) != "true" : !is_set_(way)) continue;
      if (!first.empty()) error(way, "\"" + first + "\" and \"" + name + "\" exclude each other: they are ways to log in");
      if (first.empty()) first = name;
    }
  }

  void check_effects() {
    for (const char* name : {"oauth2-server-uri", "scope", "audience", "resource", "token-expires-in-ms"}) {
      if (!is_set_("credential")) warn_of_no_effect(name, "`credential`, for which a token is asked");
    }
    for (const char* name : {"rest.signing-region", "rest.signing-name"}) {
      if (!is_signed()) warn_of_no_effect(name, "`rest.sigv4-enabled: true`");
    }
    if (!is_set_(kGoogleKeyFile)) warn_of_no_effect("gcp.auth.scopes", "`gcp.auth.credentials-path`");
  }
  void warn_of_no_effect(const std::string& name, const std::string& without) {
    const std::string key = "properties." + name;
    if (is_set_(key)) warn(key, "property \"" + name + "\" has no effect without " + without);
  }

  void check_token_endpoint() {
    const std::string endpoint = property("oauth2-server-uri");
    if (endpoint.find("://") == std::string::npos) return;
    const std::string wrong = check_http_url("oauth2-server-uri", endpoint, catalog_.allow_plaintext, "allow_plaintext");
    if (!wrong.empty()) error("properties.oauth2-server-uri", wrong);
  }

  void check_store() {
    for (const char* name : {"s3.endpoint", "s3.sts-endpoint", "gcs.service.host"}) {
      const std::string endpoint = property(name);
      if (endpoint.empty()) continue;
      const std::string wrong = check_http_url(name, endpoint, catalog_.files.allow_plaintext, "files.allow_plaintext");
      if (!wrong.empty()) error("properties." + std::string(name), wrong);
    }
    if (property("s3.force-virtual-addressing") == "true" && property("s3.path-style-access") == "true") {
      error("properties.s3.path-style-access", "\"s3.force-virtual-addressing\" and \"s3.path-style-access\" exclude each other");
    }
    if (is_set_("properties.gcs.project-id")) {
      warn("properties.gcs.project-id", "property \"gcs.project-id\" has no effect: buckets are named without it; who pays is said by gcs.user-project");
    }
  }

  const CatalogConfig& catalog_;
  const std::function<bool(const std::string& key)>& is_set_;
  std::vector<CatalogProblem> problems_;
};

}  // namespace

std::vector<CatalogProblem> check_catalog_together(const CatalogConfig& catalog,
                                                   const std::function<bool(const std::string& key)>& is_set) {
  return TogetherChecks(catalog, is_set).run();
}

std::string check_http_url(const std::string& what, const std::string& text, bool allow_plaintext, const std::string& permission) {
  const auto url = net::parse_url(text);
  if (!url.ok()) return "\"" + what + "\": " + url.error().message();
  if (url->scheme == "https" || allow_plaintext || net::is_loopback_host(url->host)) return "";
  return "\"" + what + "\": " + url->origin() + " is not loopback and would be reached without TLS: use https://, or set " + permission + ": true";
}

}  // namespace frazil::app
