#include "io/gcs/gcs_objects.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "io/crc32c.h"
#include "io/s3/s3_xml.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;
using nlohmann::json;

// Small enough to be repeated when it is cut, large enough that the store's first byte costs little.
constexpr int64_t kReadPieceBytes = 16LL << 20;
constexpr int kShortReads = 5;  // in a row, without a byte

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string text_of(const json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : std::string();
}

std::optional<GcsObject> object_of(const json& resource) {
  if (!resource.is_object()) return std::nullopt;
  GcsObject object;
  object.name = text_of(resource, "name");
  const std::optional<int64_t> bytes = number_of(text_of(resource, "size"));  // 64-bit numbers are written as text
  // An emulator leaves the size of an empty object out.
  if (object.name.empty() || (!bytes && resource.contains("size"))) return std::nullopt;
  object.bytes = bytes.value_or(0);
  object.modified_millis = parse_s3_time(text_of(resource, "updated")).value_or(0);
  object.checksum = text_of(resource, "crc32c");
  object.generation = text_of(resource, "generation");
  return object;
}

std::string header_of(const net::HttpResponse& response, const char* name) {
  const std::string* value = response.header(name);
  return value == nullptr ? "" : *value;
}

// The number behind the '/' of "bytes 0-9/100" or "bytes */100"; -1 when there is none.
int64_t total_of(const net::HttpResponse& response) {
  const std::string range = header_of(response, "content-range");
  const size_t slash = range.find('/');
  return slash == std::string::npos ? -1 : number_of(std::string_view(range).substr(slash + 1)).value_or(-1);
}

// Whether the bytes are those of the whole object that the store's checksum speaks of; true when there is nothing to
// compare.
bool is_intact(const net::HttpResponse& response, const std::string& bytes) {
  const std::string hashes = header_of(response, "x-goog-hash");
  const size_t at = hashes.find("crc32c=");
  if (at == std::string::npos || header_of(response, "x-goog-stored-content-encoding") == "gzip") return true;
  const size_t begin = at + 7;
  return hashes.substr(begin, std::min(hashes.find_first_of(", ", begin), hashes.size()) - begin) ==
         crc32c_base64(crc32c(bytes));
}

base::Error absent(const std::string& location) {
  return base::not_found("cannot read " + location + ": no such object");
}

base::Error unexpected(const std::string& location, const char* what, const GcsAnswer& answer) {
  return base::unavailable(location + ": the store answered " + what + " with " +
                           std::to_string(answer.response.status) + (answer.words.empty() ? "" : ": " + answer.words));
}

}  // namespace

Result<GcsObject> read_gcs_object(const std::string& text) {
  std::optional<GcsObject> object = object_of(json::parse(text, nullptr, false));
  if (!object) return base::corrupt("the store's answer describes no object");
  return *std::move(object);
}

Result<GcsObject> GcsObjects::look(const GcsLocation& at, const std::string& location, base::Interrupt& interrupt,
                                   int64_t total_ms) {
  GcsRequest request;
  request.method = "GET";
  request.target = requests_->object_target(at);
  request.what = describe("LOOK", at);
  request.total_ms = total_ms;
  TRY_ASSIGN(const GcsAnswer answer, requests_->send(request, interrupt));
  if (answer.response.status == 404) return absent(location);
  if (!answer.is_success()) return unexpected(location, "a look", answer);
  return read_gcs_object(answer.response.body).in(location);
}

Result<GcsObjects::Piece> GcsObjects::read_piece(const GcsLocation& at, const std::string& location, int64_t offset,
                                                 int64_t length, const std::string& generation) {
  GcsRequest request;
  request.method = "GET";
  request.target =
      requests_->object_target(at, generation.empty() ? "alt=media" : "alt=media&generation=" + generation);
  request.what = describe("GET", at);
  request.expected_bytes = length;
  request.headers = {{"range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
  base::Interrupt none;
  TRY_ASSIGN(GcsAnswer answer, requests_->send(request, none));
  net::HttpResponse& response = answer.response;
  Piece piece;
  piece.generation = header_of(response, "x-goog-generation");
  if (response.status == 404 && generation.empty()) return absent(location);
  if (response.status == 404) return base::corrupt(location + ": the object was replaced while it was read");
  if (response.status == 416) {  // behind the end, which an empty object has at 0
    piece.total = std::max<int64_t>(total_of(response), 0);
    return piece;
  }
  if (!answer.is_success()) return unexpected(location, "a read", answer);
  piece.bytes = std::move(response.body);
  piece.total = total_of(response);
  if (response.status == 200) {  // the range was ignored: this is the object
    piece.total = static_cast<int64_t>(piece.bytes.size());
    if (!is_intact(response, piece.bytes))
      return base::corrupt(location + ": the bytes differ from the store's checksum");
    piece.bytes =
        offset >= piece.total ? "" : piece.bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  } else if (offset == 0 && static_cast<int64_t>(piece.bytes.size()) == piece.total &&
             !is_intact(response, piece.bytes)) {
    return base::corrupt(location + ": the bytes differ from the store's checksum");
  }
  if (piece.total < 0) return base::corrupt(location + ": the store sent a range without the object's size");
  if (static_cast<int64_t>(piece.bytes.size()) > length)
    return base::corrupt(location + ": the store sent more than was asked for");
  return piece;
}

Result<std::string> GcsObjects::read(const GcsLocation& at, const std::string& location, int64_t offset,
                                     int64_t length) {
  if (length == 0 || offset > INT64_MAX - kReadPieceBytes) {  // nothing to send, but a name to look for
    base::Interrupt none;
    TRY(look(at, location, none));
    return std::string();
  }
  std::string bytes, generation;
  int short_reads = 0;
  while (true) {
    const auto have = static_cast<int64_t>(bytes.size());
    TRY_ASSIGN(Piece piece,
               read_piece(at, location, offset + have, std::min(length - have, kReadPieceBytes), generation));
    const auto got = static_cast<int64_t>(piece.bytes.size());
    bytes = bytes.empty() ? std::move(piece.bytes) : std::move(bytes) + piece.bytes;
    if (offset + have + got >= piece.total || have + got >= length) return bytes;
    // Fewer bytes than the answer announced: the rest is asked for.
    short_reads = got == 0 ? short_reads + 1 : 0;
    if (short_reads >= kShortReads)
      return base::unavailable(location + ": the store sends no bytes of the range at " +
                               std::to_string(offset + have));
    generation = std::move(piece.generation);
  }
}

Result<std::vector<GcsObject>> GcsObjects::list(const GcsLocation& at) {
  std::vector<GcsObject> found;
  std::string next;
  while (true) {
    GcsRequest request;
    request.method = "GET";
    request.target = requests_->bucket_target(
        at, "prefix=" + net::percent_encode(at.object) +
                "&maxResults=1000&fields=items(name%2Csize%2Cupdated%2Ccrc32c%2Cgeneration)%2CnextPageToken" +
                (next.empty() ? "" : "&pageToken=" + net::percent_encode(next)));
    request.what = describe("LIST", at);
    base::Interrupt none;
    TRY_ASSIGN(const GcsAnswer answer, requests_->send(request, none));
    if (!answer.is_success()) return unexpected(request.what, "a list", answer);
    const json page = json::parse(answer.response.body, nullptr, false);
    if (!page.is_object()) return base::corrupt(request.what + ": the store's answer is no list");
    for (const json& item : page.contains("items") ? page["items"] : json::array()) {
      std::optional<GcsObject> object = object_of(item);
      if (!object) return base::corrupt(request.what + ": the store lists something that is no object");
      found.push_back(*std::move(object));
    }
    const std::string token = text_of(page, "nextPageToken");
    if (token.empty()) return found;
    if (token == next) return base::corrupt(request.what + ": the store's list does not end");
    next = token;
  }
}

Status GcsObjects::remove(const GcsLocation& at, const std::string& location, const std::string& generation,
                          int64_t total_ms, base::Interrupt& interrupt) {
  GcsRequest request;
  request.method = "DELETE";
  request.target = requests_->object_target(at, generation.empty() ? "" : "ifGenerationMatch=" + generation);
  request.what = describe("DELETE", at);
  request.changes_something = true;
  request.total_ms = total_ms;
  TRY_ASSIGN(const GcsAnswer answer, requests_->send(request, interrupt));
  const int status = answer.response.status;
  if (answer.is_success() || status == 404 || (status == 412 && !generation.empty())) return {};
  return unexpected(location, "a removal", answer);
}

}  // namespace frazil::io
