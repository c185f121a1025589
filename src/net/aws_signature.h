// AWS Signature Version 4, of one request, in its headers. Pure; any thread.
// Source: "Signature Version 4 signing process", AWS General Reference; for S3 the path is encoded once and not
// normalised.
#pragma once

#include <cstdint>
#include <string>

#include "net/aws_credentials.h"
#include "net/http_client.h"

namespace frazil::net {

inline constexpr char kUnsignedPayload[] = "UNSIGNED-PAYLOAD";

struct SigningScope {
  std::string region;
  std::string service = "s3";
  // Paths of other services are encoded a second time for the signature; S3's are not.
  bool encodes_path_twice = false;
};

// Adds host, x-amz-date, x-amz-content-sha256 (payload_hash: hex SHA-256 of the body, or kUnsignedPayload),
// x-amz-security-token and authorization. All headers that are in the request already are signed. Nothing for anonymous
// credentials. `now_ms`: wall clock.
void sign(HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
          const std::string& payload_hash, int64_t now_ms);

// Lower-case hex SHA-256.
std::string sha256_hex(std::string_view bytes);

}  // namespace frazil::net
