// Fuzzes what reads the answers of S3 stores: XML of a server that may be anything, and times in its headers. No input may abort; what
// goes into messages is printable and short.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "io/s3/s3_location.h"
#include "io/s3/s3_xml.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_error(const frazil::io::S3Error& error) {
  for (const std::string* text : {&error.code, &error.message, &error.region}) {
    // Three bytes may have become a replacement character each.
    require(text->size() <= 900 && frazil::base::is_valid_utf8(*text));
    require(std::none_of(text->begin(), text->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_error(frazil::io::read_s3_error(text));
  if (const auto page = frazil::io::read_s3_list(text); page.ok()) {
    for (const auto& file : page->files) require(file.bytes >= 0 && file.modified_millis >= 0);
  }
  if (const auto id = frazil::io::read_s3_upload_id(text); id.ok()) require(!id->empty());
  if (const auto failures = frazil::io::read_s3_delete_failures(text); failures.ok()) {
    for (const auto& failure : *failures) check_error(failure.error);
  }
  if (const auto time = frazil::io::parse_s3_time(text)) require(*time >= 0);
  if (const auto time = frazil::io::parse_http_time(text)) require(*time >= 0);
  if (const auto location = frazil::io::parse_s3_location(text); location.ok()) require(!location->bucket.empty());
  return 0;
}
