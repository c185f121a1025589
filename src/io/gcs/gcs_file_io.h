// FileIO on Google Cloud Storage, over its JSON API (storage.googleapis.com/storage/v1) and net::HttpClient.
//
// Small files are one media upload, longer ones a resumable upload whose chunks (multiples of 256 KiB) leave while the
// file grows; both carry ifGenerationMatch=0, so no file is ever replaced. CRC32C of the object is compared before
// close() returns ok. A lost answer is settled by looking. Retries as in io/s3/s3_file_io.h. Any thread; an OutputFile
// belongs to one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_io.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"

namespace frazil::io {

struct GcsConfig {
  std::string host = "https://storage.googleapis.com";
  std::string user_project;  // billed for requests; may be empty
  int64_t chunk_bytes = 16LL << 20;
  int upload_lanes = 8;
  int64_t request_timeout_ms = 30'000;
  int64_t retry_total_ms = 20'000;  // for one operation, all tries together
  int64_t retry_first_wait_ms = 50;  // at most; doubles up to 5 s
};

// `tokens` may be null: no authorization.
std::shared_ptr<FileIO> make_gcs_file_io(GcsConfig config, std::shared_ptr<net::HttpClient> http,
                                         std::shared_ptr<net::BearerTokens> tokens);

}  // namespace frazil::io
