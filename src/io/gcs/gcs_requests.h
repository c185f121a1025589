// GcsRequests: one operation on the store, told as one answer: authorized, tried again as far as that is right, judged.
//
//  - Tried again as io/objects/request_loop.h says: nothing sent, no whole answer, 408, 425, 429, 500, 502, 503, 504, 403 of
//    a rate limit, a token that cannot be fetched now.
//  - Once: a token that was refused (401), with a new one.
// Any thread; send() and try_once() block. Errors, beside those of the loop: kInvalid with the store's own words (400, 401,
// 403, no such bucket).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/gcs/gcs_file_io.h"
#include "io/objects/object_store.h"
#include "io/objects/request_loop.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"

namespace frazil::io {

struct GcsRequest : StoreRequest {
  // Path and query below the host; of an upload's session the whole URL, which carries its own permission.
  std::string target;
  bool is_session = false;
  std::string what;  // "GET gs://bucket/object", for messages
};

class GcsRequests {
 public:
  GcsRequests(GcsConfig config, std::shared_ptr<net::HttpClient> http, std::shared_ptr<net::BearerTokens> tokens);

  // 2xx, 304, 308, 404, 410, 412, 416 and 499 are answers; every other status became an error or another try.
  base::Result<StoreAnswer> send(const GcsRequest& request, base::Interrupt& interrupt);
  StoreTry try_once(const GcsRequest& request, base::Interrupt& interrupt);
  RequestLoop& loop() { return loop_; }
  const GcsConfig& config() const { return config_; }

  // "/storage/v1/b/bucket/o/object" and its query.
  std::string object_target(const ObjectAddress& at, const std::string& query = "") const;
  // "/storage/v1/b/bucket/o?query", or the same below "/upload".
  std::string bucket_target(const ObjectAddress& at, const std::string& query, bool is_upload = false) const;

 private:
  StoreTry send_with(const GcsRequest& request, const std::string& token, base::Interrupt& interrupt);
  static StoreTry judge(const GcsRequest& request, net::HttpResponse response, std::vector<std::string> secrets);
  std::string with_project(std::string target) const;

  const GcsConfig config_;
  const std::shared_ptr<net::BearerTokens> tokens_;
  RequestLoop loop_;
};

// "GET gs://bucket/object", for messages.
std::string describe(const std::string& method, const ObjectAddress& at);

}  // namespace frazil::io
