// ScriptedGcs: a store in memory that speaks the JSON API of Google Cloud Storage as an HttpClient, and fails as a test
// scripts it. A fake of ours, written after Google's documentation: sessions of uploads keep their precondition to the
// end, which the emulators at hand do not. Any thread.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "io/crc32c.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"
#include "tests/conformance/scripted_store.h"

namespace frazil::conformance {

class ScriptedGcs : public ScriptedStore {
 public:
  static constexpr int64_t kUnit = 256 << 10;

  size_t page_objects = 1000;
  int64_t persists_at_most = 1LL << 40;  // of one request of a session
  std::string wanted_token;  // of requests that are let in; empty: all
  std::string host = "https://storage.example";

  // "bucket/object" → bytes.
  std::map<std::string, std::string> objects() { return bytes_of(objects_); }
  void put(const std::string& name, const std::string& bytes) {
    base::Lock lock(mutex_);
    store(name, bytes);
  }
  size_t open_sessions() {
    base::Lock lock(mutex_);
    size_t open = 0;
    for (const auto& [id, session] : sessions_) open += session.is_complete ? 0 : 1;
    return open;
  }
  void end_sessions() {
    base::Lock lock(mutex_);
    sessions_.clear();
  }

 private:
  struct Object {
    std::string bytes;
    int64_t generation = 0;
    int64_t modified_millis = 0;
  };
  struct Session {
    std::string name;
    std::string bytes;
    bool is_complete = false;
  };
  using Json = nlohmann::json;

  static Response answer(int status, std::string body = "", net::HttpHeaders headers = {}) {
    return {status, std::move(headers), std::move(body)};
  }
  Response refusal(int status, const std::string& reason, net::HttpHeaders headers = {}) const override {
    const Json error = {
        {"error", {{"code", status}, {"message", "as scripted: " + reason}, {"errors", {{{"reason", reason}}}}}}};
    return {status, std::move(headers), error.dump()};
  }
  static std::map<std::string, std::string> parameters(const std::string& query) {
    std::map<std::string, std::string> found;
    for (size_t at = 0; at < query.size();) {
      const size_t end = std::min(query.find('&', at), query.size());
      const std::string pair = query.substr(at, end - at);
      const size_t equals = std::min(pair.find('='), pair.size());
      found[decode(pair.substr(0, equals))] = equals < pair.size() ? decode(pair.substr(equals + 1)) : "";
      at = end + 1;
    }
    return found;
  }

  Response serve(const net::HttpRequest& request) override {
    const std::string target = request.url.substr(request.url.find('/', 8));
    const size_t mark = std::min(target.find('?'), target.size());
    const std::string path = target.substr(0, mark);
    auto query = parameters(mark < target.size() ? target.substr(mark + 1) : "");
    if (query.contains("upload_id")) return serve_session(query["upload_id"], request);
    if (!wanted_token.empty() && header(request, "authorization") != "Bearer " + wanted_token)
      return refusal(401, "authError");
    const std::string uploads = "/upload/storage/v1/b/";
    const std::string plain = "/storage/v1/b/";
    if (path.starts_with(uploads))
      return begin(decode(path.substr(uploads.size(), path.find('/', uploads.size()) - uploads.size())), query,
                   request);
    const size_t slash = path.find('/', plain.size());
    const std::string bucket = decode(path.substr(plain.size(), slash - plain.size()));
    const std::string object = path.size() > slash + 3 ? decode(path.substr(slash + 3)) : "";
    if (object.empty()) return list(bucket, query);
    const std::string name = bucket + "/" + object;
    if (request.method == "DELETE") return remove(name, query);
    return read(name, query, request);
  }

  Response begin(const std::string& bucket, std::map<std::string, std::string>& query,
                 const net::HttpRequest& request) {
    const std::string name = bucket + "/" + query["name"];
    if (query["ifGenerationMatch"] != "0") return refusal(400, "the test wants a precondition");
    if (objects_.contains(name)) return refusal(412, "conditionNotMet");
    if (query["uploadType"] == "media") return store(name, std::string(request.body));
    const std::string id = std::to_string(++next_id_);
    sessions_[id] = {name, "", false};
    return answer(200, "",
                  {{"location", host + "/upload/storage/v1/b/" + bucket + "/o?uploadType=resumable&upload_id=" + id}});
  }

  Response serve_session(const std::string& id, const net::HttpRequest& request) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return refusal(410, "gone");
    Session& session = found->second;
    if (request.method == "DELETE") return sessions_.erase(found), answer(499);
    if (session.is_complete) return answer(200, resource(session.name));
    const std::string range = header(request, "content-range");  // bytes 0-9/100, bytes 0-9/*, bytes */100, bytes */*
    const size_t slash = range.find('/');
    const std::string total = range.substr(slash + 1);
    if (range.at(6) != '*') {
      const int64_t from = std::atoll(range.c_str() + 6);
      if (from > static_cast<int64_t>(session.bytes.size())) return refusal(503, "a gap");
      const auto have = static_cast<int64_t>(session.bytes.size()) - from;
      if (have < static_cast<int64_t>(request.body.size()))
        take(session, request.body.substr(static_cast<size_t>(have)), total);
    }
    if (total != "*" && std::atoll(total.c_str()) == static_cast<int64_t>(session.bytes.size())) {
      if (objects_.contains(session.name)) return refusal(412, "conditionNotMet");
      session.is_complete = true;
      return store(session.name, session.bytes);
    }
    net::HttpHeaders headers;
    if (!session.bytes.empty()) headers = {{"range", "bytes=0-" + std::to_string(session.bytes.size() - 1)}};
    return answer(308, "", headers);
  }
  // Whole units only, but for the end of the file.
  void take(Session& session, std::string_view bytes, const std::string& total) {
    auto count = std::min(static_cast<int64_t>(bytes.size()), persists_at_most);
    const bool is_end = total != "*" && static_cast<int64_t>(session.bytes.size()) + count == std::atoll(total.c_str());
    if (!is_end) count = count / kUnit * kUnit;
    session.bytes.append(bytes.substr(0, static_cast<size_t>(count)));
  }

  Response store(const std::string& name, std::string bytes) {
    if (stores_one_byte_less && !bytes.empty()) bytes.pop_back();
    objects_[name] = {std::move(bytes), ++generation_, base::wall_millis()};
    return answer(200, resource(name));
  }
  std::string resource(const std::string& name) const {
    const auto found = objects_.find(name);
    return found == objects_.end() ? "{}" : resource_of(name, found->second).dump();
  }
  Json resource_of(const std::string& name, const Object& object) const {
    Json resource = {{"name", name.substr(name.find('/') + 1)},
                     {"size", std::to_string(object.bytes.size())},
                     {"generation", std::to_string(object.generation)},
                     {"updated", base::format_utc(object.modified_millis * 1000)}};
    if (reports_checksums) resource["crc32c"] = io::crc32c_base64(io::crc32c(object.bytes));
    return resource;
  }

  Response remove(const std::string& name, std::map<std::string, std::string>& query) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return refusal(404, "notFound");
    if (query.contains("ifGenerationMatch") && query["ifGenerationMatch"] != std::to_string(found->second.generation)) {
      return refusal(412, "conditionNotMet");
    }
    objects_.erase(found);
    return answer(204);
  }

  Response read(const std::string& name, std::map<std::string, std::string>& query, const net::HttpRequest& request) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return refusal(404, "notFound");
    const Object& object = found->second;
    if (query["alt"] != "media") return answer(200, resource_of(name, object).dump());
    if (query.contains("generation") && query["generation"] != std::to_string(object.generation))
      return refusal(404, "notFound");
    net::HttpHeaders headers = {{"x-goog-generation", std::to_string(object.generation)}};
    if (reports_checksums)
      headers.emplace_back("x-goog-hash", "crc32c=" + io::crc32c_base64(io::crc32c(object.bytes)) + ",md5=x");
    const std::string range = header(request, "range");  // bytes=0-9
    const auto size = static_cast<int64_t>(object.bytes.size());
    const int64_t first = std::atoll(range.c_str() + 6);
    const int64_t last = std::min<int64_t>(std::atoll(range.c_str() + range.find('-') + 1), size - 1);
    if (first >= size) {
      headers.emplace_back("content-range", "bytes */" + std::to_string(size));
      return answer(416, "", headers);
    }
    std::string bytes = object.bytes.substr(static_cast<size_t>(first), static_cast<size_t>(last - first + 1));
    if (short_read_bytes > 0) bytes = bytes.substr(0, short_read_bytes);
    headers.emplace_back("content-range",
                         "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(size));
    return answer(206, bytes, headers);
  }

  Response list(const std::string& bucket, std::map<std::string, std::string>& query) {
    Json page = {{"kind", "storage#objects"}};
    const std::string prefix = bucket + "/" + query["prefix"];
    for (const auto& [name, object] : objects_) {
      if (!name.starts_with(prefix) || name <= query["pageToken"]) continue;
      page["items"].push_back(resource_of(name, object));
      if (page["items"].size() == page_objects) {
        page["nextPageToken"] = name;
        break;
      }
    }
    return answer(200, page.dump());
  }

  std::map<std::string, Object> objects_;
  std::map<std::string, Session> sessions_;
  int64_t generation_ = 1'700'000'000'000'000;
  int next_id_ = 0;
};

// "token-1", and after each refusal the next.
class ScriptedTokens : public net::BearerTokens {
 public:
  base::Result<std::string> token() override { return "token-" + std::to_string(number); }
  void refused(const std::string& token) override { number += token == "token-" + std::to_string(number) ? 1 : 0; }
  int number = 1;
};

}  // namespace frazil::conformance
