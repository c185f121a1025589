#include "net/aws_sources.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "net/foreign_answer.h"
#include "net/url.h"

namespace frazil::net {

namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int64_t kStsTimeoutMs = 10'000;
constexpr int64_t kMetadataTimeoutMs = 3'000;
constexpr int64_t kMaxAnswerBytes = 1 << 20;

std::string variable(const AwsChainConfig& config, const std::string& name) {
  const auto found = config.environment.find(name);
  return found == config.environment.end() ? "" : found->second;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::string> file_text(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The settings of one profile; nothing when the file has no such profile.
std::optional<std::map<std::string, std::string>> profile_settings(const std::string& text,
                                                                   const std::string& profile) {
  std::optional<std::map<std::string, std::string>> found;
  bool is_inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');  // belongs to a nested setting
    const std::string_view one = trimmed(line);
    if (one.empty() || one.front() == '#' || one.front() == ';') continue;
    if (one.front() == '[') {
      is_inside = one.back() == ']' && trimmed(one.substr(1, one.size() - 2)) == profile;
      if (is_inside && !found) found.emplace();
      continue;
    }
    const size_t equals = one.find('=');
    if (!is_inside || is_indented || equals == one.npos) continue;
    (*found)[std::string(trimmed(one.substr(0, equals)))] = std::string(trimmed(one.substr(equals + 1)));
  }
  return found;
}

Result<AwsCredentials> keys_of(const std::map<std::string, std::string>& settings, const std::string& where) {
  const auto value = [&](const char* name) {
    const auto at = settings.find(name);
    return at == settings.end() ? std::string() : at->second;
  };
  AwsCredentials credentials{value("aws_access_key_id"), value("aws_secret_access_key"), value("aws_session_token")};
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty()) return credentials;
  for (const char* foreign : {"credential_process", "role_arn", "source_profile", "sso_session", "sso_start_url",
                              "web_identity_token_file"}) {
    if (!value(foreign).empty()) {
      return base::invalid(where + " uses " + foreign +
                           ", which Frazil does not follow; put keys there, or set another source");
    }
  }
  return base::invalid(where + " lacks aws_access_key_id or aws_secret_access_key");
}

std::string unescaped(std::string text) {
  static constexpr std::pair<const char*, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  for (const auto& [entity, character] : kEntities) {
    for (size_t at = text.find(entity); at != text.npos; at = text.find(entity, at + 1)) {
      text.replace(at, std::string_view(entity).size(), 1, character);
    }
  }
  return text;
}

// The text of the first element of that name: STS's answers are flat enough for this.
std::string element(const std::string& xml, const std::string& name) {
  const size_t begin = xml.find("<" + name + ">");
  const size_t end = begin == xml.npos ? xml.npos : xml.find("</" + name + ">", begin);
  if (end == xml.npos) return "";
  const size_t text = begin + name.size() + 2;
  return unescaped(std::string(trimmed(xml.substr(text, end - text))));
}

std::string sts_endpoint(const AwsChainConfig& config) {
  if (!config.sts_endpoint.empty()) return config.sts_endpoint;
  const std::string named = variable(config, "AWS_REGION");
  const std::string region = named.empty() ? config.region : named;
  return "https://sts." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
}

Result<HttpResponse> ask(HttpClient& http, const std::string& method, const std::string& url, HttpHeaders headers,
                         std::string_view body, int64_t timeout_ms) {
  HttpRequest request;
  request.method = method;
  request.url = url;
  request.headers = std::move(headers);
  request.body = body;
  request.timeout_ms = timeout_ms;
  request.max_response_bytes = kMaxAnswerBytes;
  auto answer = http.send(request);
  if (!answer.ok()) return endpoint_error(answer.error());
  return answer;
}

Result<HttpResponse> ask_metadata(HttpClient& http, const std::string& method, const std::string& url,
                                  HttpHeaders headers) {
  TRY_ASSIGN(HttpResponse answer, ask(http, method, url, std::move(headers), {}, kMetadataTimeoutMs));
  if (answer.status == 404) return base::not_found("instance metadata has no role for this machine");
  if (answer.status != 200) return refusal("instance metadata", answer.status, tamed(answer.body, {}));
  return answer;
}

Result<AwsCredentials> keys_of_metadata(const std::string& body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  const auto text = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                             : std::string();
  };
  const std::string verdict = text("Code");
  if (!verdict.empty() && verdict != "Success")
    return base::unavailable("instance metadata gives no keys: " + tamed(verdict, {}));
  AwsCredentials credentials{text("AccessKeyId"), text("SecretAccessKey"), text("Token"),
                             parse_utc_ms(text("Expiration"))};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() || credentials.expires_at_ms == 0) {
    return base::unavailable("instance metadata answered with something that is no keys");
  }
  return credentials;
}

}  // namespace

Result<AwsCredentials> credentials_of_environment(const AwsChainConfig& config) {
  AwsCredentials credentials{variable(config, "AWS_ACCESS_KEY_ID"), variable(config, "AWS_SECRET_ACCESS_KEY"),
                             variable(config, "AWS_SESSION_TOKEN")};
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty())
    return base::not_found("no keys in the environment");
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::invalid("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set both or neither");
  }
  return credentials;
}

Result<AwsCredentials> credentials_of_profile(const AwsChainConfig& config) {
  const std::string named_file = variable(config, "AWS_SHARED_CREDENTIALS_FILE");
  const std::string home = variable(config, "HOME");
  const std::string named_profile = variable(config, "AWS_PROFILE");
  const std::string path = named_file.empty() ? home + "/.aws/credentials" : named_file;
  const std::string profile = named_profile.empty() ? "default" : named_profile;
  const std::string where = "profile " + profile + " of " + path;
  const bool is_asked_for = !named_file.empty() || !named_profile.empty();
  const auto text = named_file.empty() && home.empty() ? std::nullopt : file_text(path);
  if (!text) return Error(is_asked_for ? Code::kInvalid : Code::kNotFound, where + ": the file cannot be read");
  const auto settings = profile_settings(*text, profile);
  if (!settings)
    return Error(is_asked_for ? Code::kInvalid : Code::kNotFound, where + ": the file has no such profile");
  return keys_of(*settings, where);
}

Result<AwsCredentials> credentials_of_web_identity(const AwsChainConfig& config, HttpClient& http) {
  const std::string role = variable(config, "AWS_ROLE_ARN");
  const std::string token_file = variable(config, "AWS_WEB_IDENTITY_TOKEN_FILE");
  if (role.empty() && token_file.empty()) return base::not_found("no web identity in the environment");
  if (role.empty() || token_file.empty())
    return base::invalid("AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE must be set both or neither");
  const auto text = file_text(token_file);
  const std::string token(trimmed(text.value_or("")));
  if (token.empty()) return base::invalid("AWS_WEB_IDENTITY_TOKEN_FILE: no token in " + token_file);
  const std::string session = variable(config, "AWS_ROLE_SESSION_NAME");
  const std::string body = form({{"Action", "AssumeRoleWithWebIdentity"},
                                 {"Version", "2011-06-15"},
                                 {"RoleArn", role},
                                 {"RoleSessionName", session.empty() ? "frazil" : session},
                                 {"WebIdentityToken", token}});
  TRY_ASSIGN(const HttpResponse answer,
             ask(http, "POST", sts_endpoint(config) + "/", {{"content-type", "application/x-www-form-urlencoded"}},
                 body, kStsTimeoutMs));
  if (answer.status != 200) {
    const std::string code = element(answer.body, "Code");
    const Error error = refusal("STS", answer.status, tamed(code + " " + element(answer.body, "Message"), {token}));
    return code == "Throttling" || code == "IDPCommunicationError" ? base::unavailable(error.message()) : error;
  }
  AwsCredentials credentials{element(answer.body, "AccessKeyId"), element(answer.body, "SecretAccessKey"),
                             element(answer.body, "SessionToken"), parse_utc_ms(element(answer.body, "Expiration"))};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() || credentials.expires_at_ms == 0) {
    return base::unavailable("STS answered with something that is no keys");
  }
  return credentials;
}

Result<AwsCredentials> credentials_of_instance(const AwsChainConfig& config, HttpClient& http) {
  const std::string base_url = config.instance_metadata_endpoint + "/latest/";
  TRY_ASSIGN(const HttpResponse session,
             ask_metadata(http, "PUT", base_url + "api/token", {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}}));
  const HttpHeaders headers = {{"X-aws-ec2-metadata-token", session.body}};
  const std::string roles_url = base_url + "meta-data/iam/security-credentials/";
  TRY_ASSIGN(const HttpResponse roles, ask_metadata(http, "GET", roles_url, headers));
  const std::string role(trimmed(roles.body.substr(0, roles.body.find('\n'))));
  if (role.empty()) return base::not_found("instance metadata has no role for this machine");
  TRY_ASSIGN(const HttpResponse keys, ask_metadata(http, "GET", roles_url + percent_encode(role), headers));
  return keys_of_metadata(keys.body);
}

}  // namespace frazil::net
