// FileIO on S3 and what speaks its protocol, over net::HttpClient.
//
//  - Growing files: bytes are gathered to parts; a file that fits into one part is one conditional PUT, a longer one a multipart upload
//    whose parts leave while it grows and which is completed with If-None-Match. seal() lets the last requests go in the background, on a few lanes that
//    all files of this FileIO share; close() waits for them and judges.
//  - Every byte has a CRC32C that the store checks (x-amz-checksum-crc32c); over TLS the payload is not signed.
//  - Retries are bounded by time and a budget for the endpoint, with full jitter: throttling (503 SlowDown, 429), 5xx, resets, short reads, 404 of
//    a key that was written through this FileIO. A conditional PUT whose answer was lost is settled by looking: the object's size and checksum are ours or not,
//    so an object that has our bytes already is taken for ours, whoever wrote it.
//  - close() has looked at the size that the store reports before it returns ok.
// Keys are put into URLs by one percent-encoding of their bytes; nothing is decoded, nothing normalised ("a//b", "a b", "a%2Fb" are three keys).
// Any thread; an OutputFile belongs to one. Errors as in io/file_io.h; kInvalid for 401/403, with the store's words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/file_io.h"
#include "net/aws_credentials.h"
#include "net/http_client.h"

namespace frazil::io {

struct S3Config {
  std::string endpoint;  // "https://host:port"; empty: AWS, by region
  std::string region = "us-east-1";
  bool path_style = false;  // https://endpoint/bucket/key instead of https://bucket.endpoint/key
  int64_t part_bytes = 16LL << 20;  // stores want 5 MiB or more; grows so that 10,000 parts reach 5 TiB
  int upload_lanes = 8;  // with one part each: as much memory is under way at most
  int64_t request_timeout_ms = 30'000;
  int64_t retry_total_ms = 20'000;  // for one operation, all tries together
  int64_t retry_first_wait_ms = 50;  // at most; doubles up to 5 s
};

// kInvalid: the endpoint is none.
base::Result<std::shared_ptr<FileIO>> make_s3_file_io(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                      std::shared_ptr<net::AwsCredentialsProvider> credentials);

}  // namespace frazil::io
