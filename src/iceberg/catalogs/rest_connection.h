// RestConnection: requests to one REST catalog, with who we are and with the patience that each kind of request allows.
//
// A request that changes something leaves at most once, with one exception: when the server refuses the token (401, 419) it
// has done nothing, so the request goes out again with a renewed one, once. Reads are tried again for as long as configured. After
// an answer with Retry-After nothing is sent before that time: callers get kUnavailable at once and wait in their own way.
// Any thread; send() blocks.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "iceberg/catalogs/rest_answer.h"
#include "net/aws_credentials.h"
#include "net/aws_signature.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"

namespace frazil::iceberg {

struct RestRequest {
  RestCall call = RestCall::kRead;
  std::string method = "GET";
  std::string path;       // "/v1/...", with its query, encoded
  std::string body = "";  // JSON; empty: none
  net::HttpHeaders headers = {};
  bool is_tried_again = true;  // reads only
};

// Who we are. At most one of the two is set.
struct RestIdentity {
  std::shared_ptr<net::BearerTokens> tokens;
  std::shared_ptr<net::AwsCredentialsProvider> aws;  // requests are signed for `scope`
  net::SigningScope scope;
};

class RestConnection {
 public:
  // `base`: as of rest_base().
  RestConnection(std::string base, std::shared_ptr<net::HttpClient> http, RestIdentity identity, int64_t request_timeout_ms,
                 int64_t read_retry_ms);

  // Headers of every request from now on. Before other threads have the connection.
  void use_headers(net::HttpHeaders headers) { headers_ = std::move(headers); }

  // The answer when it is 2xx or 304; else the error, as rest_answer.h says.
  base::Result<net::HttpResponse> send(const RestRequest& request);

 private:
  struct Proof;

  base::Result<net::HttpResponse> send_once(const RestRequest& request);
  base::Result<net::HttpResponse> exchange(const RestRequest& request, const Proof& proof);
  base::Result<Proof> prove();
  bool renew(Proof& proof, const RestRequest& request);
  // What of a request must not show when the server repeats it.
  std::vector<std::string> secrets_of(const Proof& proof) const;
  base::Status check_patience();
  void note_patience(const net::HttpResponse& response);

  const std::string base_;
  const std::shared_ptr<net::HttpClient> http_;
  const RestIdentity identity_;
  const int64_t request_timeout_ms_;
  const int64_t read_retry_ms_;
  net::HttpHeaders headers_;
  std::atomic<base::MonoMicros> not_before_{0};
};

}  // namespace frazil::iceberg
