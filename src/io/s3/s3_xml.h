// The XML documents of S3's protocol, read and written. What stores send is foreign input: kCorrupt when it is not what was asked
// for. Pure; any thread. Source: Amazon S3 API Reference, version 2006-03-01.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::io {

// What a store says when it refuses.
struct S3Error {
  std::string code;     // "SlowDown"; empty when the body was no error document
  std::string message;  // printable, at most 300 bytes, without secrets
  std::string region;   // where the bucket is, when another region was asked
};
// Of any body: never fails. `secrets`: of the request, which the store may repeat; left out as net/foreign_answer.h says.
S3Error read_s3_error(std::string_view body, const std::vector<std::string>& secrets = {});

struct S3Listed {
  std::string key;
  int64_t bytes = 0;
  int64_t modified_millis = 0;  // whole seconds
};
struct S3ListPage {
  std::vector<S3Listed> files;
  std::string next;  // continuation token; empty: this was the last page
};
// ListBucketResult. Keys are decoded when the document says that it encoded them.
base::Result<S3ListPage> read_s3_list(std::string_view body);

// InitiateMultipartUploadResult: the upload's id.
base::Result<std::string> read_s3_upload_id(std::string_view body);

struct S3Part {
  std::string etag;
  uint32_t checksum = 0;
  int64_t bytes = 0;
};
// CompleteMultipartUpload, numbered from 1.
std::string write_s3_parts(const std::vector<S3Part>& parts);

// Delete, in its quiet form: the answer names failures only.
std::string write_s3_delete(const std::vector<std::string>& keys);
struct S3DeleteFailure {
  std::string key;
  S3Error error;
};
// DeleteResult. `secrets` as above.
base::Result<std::vector<S3DeleteFailure>> read_s3_delete_failures(std::string_view body, const std::vector<std::string>& secrets = {});
// False for keys with characters that XML 1.0 cannot carry.
bool fits_into_xml(std::string_view key);

// "2026-01-31T12:34:56.789Z" and "Sat, 31 Jan 2026 12:34:56 GMT" in milliseconds since 1970, without the fraction.
std::optional<int64_t> parse_s3_time(std::string_view text);
std::optional<int64_t> parse_http_time(std::string_view text);

}  // namespace frazil::io
