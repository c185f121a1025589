#include "net/token_endpoint.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "net/foreign_answer.h"
#include "net/url.h"

namespace frazil::net {

namespace {

using base::Result;
using nlohmann::json;

constexpr int64_t kTimeoutMs = 15'000;
constexpr int64_t kMaxAnswerBytes = 1 << 20;

std::string text_of(const json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                 : std::string();
}

// Seconds as a number, or as the text that some servers send.
int64_t life_ms_of(const json& answer, int64_t default_life_ms) {
  if (!answer.contains("expires_in")) return default_life_ms;
  const json& value = answer["expires_in"];
  double seconds = 0;
  if (value.is_number()) seconds = value.get<double>();
  if (value.is_string()) seconds = std::atof(value.get<std::string>().c_str());
  constexpr double kYear = 366.0 * 86'400;
  return seconds > 0 ? static_cast<int64_t>(std::min(seconds, kYear) * 1000) : default_life_ms;
}

// RFC 6749's error and error_description, or what catalogs answer instead: {"error": {"message": …}}.
std::string words_of(const HttpResponse& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  if (!body.is_object()) return answer.body;
  if (body.contains("error") && body["error"].is_object()) return text_of(body["error"], "message");
  const std::string description = text_of(body, "error_description");
  return text_of(body, "error") + (description.empty() ? "" : ": " + description);
}

}  // namespace

Result<Fetched<std::string>> token_of_answer(const HttpResponse& answer, const std::string& what,
                                             const std::vector<std::string>& secrets, int64_t default_life_ms) {
  if (answer.status < 200 || answer.status > 299) return refusal(what, answer.status, tamed(words_of(answer), secrets));
  const json body = json::parse(answer.body, nullptr, false);
  const std::string token = text_of(body, "access_token");
  if (token.empty()) return base::unavailable(what + " answered without an access_token");
  if (token.find_first_of(std::string_view(" \t\r\n\0", 5)) != token.npos) {
    return base::unavailable(what + " answered with an access_token that no header can carry");
  }
  return Fetched<std::string>{token, life_ms_of(body, default_life_ms)};
}

Result<Fetched<std::string>> fetch_token(HttpClient& http, const TokenRequest& request) {
  const std::string body = form(request.parameters);
  HttpRequest post;
  post.method = "POST";
  post.url = request.endpoint;
  post.headers = {{"content-type", "application/x-www-form-urlencoded"}, {"accept", "application/json"}};
  post.body = body;
  post.timeout_ms = kTimeoutMs;
  post.max_response_bytes = kMaxAnswerBytes;
  const auto answer = http.send(post);
  if (!answer.ok()) return endpoint_error(answer.error()).in("token endpoint");
  const auto url = parse_url(request.endpoint);
  const std::string what = "token endpoint " + (url.ok() ? url->origin() + url->path : std::string());
  return token_of_answer(*answer, what, request.secrets, request.default_life_ms);
}

}  // namespace frazil::net
