#include "io/s3/s3_xml.h"

#include <pugixml.hpp>

#include <array>
#include <charconv>
#include <cstring>

#include "io/crc32c.h"
#include "net/foreign_answer.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMaxMessageBytes = 300;

// Spaces belong to keys, also where there is nothing else. No DTD is read, so nothing expands.
constexpr unsigned kParse = pugi::parse_default | pugi::parse_ws_pcdata_single;

std::string printable(std::string_view text, const std::vector<std::string>& secrets = {}) {
  return net::tamed(text, secrets, kMaxMessageBytes);
}

Status parse(std::string_view body, const char* root, pugi::xml_document& document) {
  const pugi::xml_parse_result parsed = document.load_buffer(body.data(), body.size(), kParse, pugi::encoding_utf8);
  if (!parsed) return base::corrupt(std::string("the store's answer is no XML: ") + parsed.description());
  if (std::strcmp(document.document_element().name(), root) == 0) return {};
  return base::corrupt("the store answered <" + printable(document.document_element().name()) + "> instead of <" + root + ">");
}

S3Error error_of(const pugi::xml_node& node, const std::vector<std::string>& secrets = {}) {
  return {printable(node.child_value("Code"), secrets), printable(node.child_value("Message"), secrets),
          printable(node.child_value("Region"), secrets)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// encoding-type=url is the encoding of HTML forms: '+' is a space.
Result<std::string> decode_key(std::string_view text) {
  std::string key;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      key += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return base::corrupt("the store listed a key whose encoding is broken: " + printable(text));
    key += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return key;
}

Result<S3Listed> listed_of(const pugi::xml_node& node, bool is_encoded) {
  S3Listed file;
  file.key = node.child_value("Key");
  if (is_encoded) {
    TRY_ASSIGN(file.key, decode_key(file.key));
  }
  const std::string_view size = node.child_value("Size");
  const auto parsed = std::from_chars(size.data(), size.data() + size.size(), file.bytes);
  if (parsed.ec != std::errc() || file.bytes < 0) {
    return base::corrupt("the store listed '" + printable(file.key) + "' with size '" + printable(size) + "'");
  }
  file.modified_millis = parse_s3_time(node.child_value("LastModified")).value_or(0);
  return file;
}

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\t': escaped += "&#9;"; break;
      case '\n': escaped += "&#10;"; break;
      case '\r': escaped += "&#13;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

int number_at(std::string_view text, size_t at, size_t digits) {
  int value = -1;
  if (at + digits <= text.size()) std::from_chars(text.data() + at, text.data() + at + digits, value);
  return value;
}

// Days since 1970-01-01 in the Gregorian calendar, after Howard Hinnant's "chrono-compatible low-level date algorithms".
int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

std::optional<int64_t> millis_of(int year, int month, int day, int hour, int minute, int second) {
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60) {
    return std::nullopt;
  }
  return (days_from_civil(year, month, day) * 86'400 + hour * 3'600 + minute * 60 + second) * 1'000;
}

}  // namespace

S3Error read_s3_error(std::string_view body, const std::vector<std::string>& secrets) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size(), kParse, pugi::encoding_utf8)) return {};
  const pugi::xml_node root = document.document_element();
  return std::strcmp(root.name(), "Error") == 0 ? error_of(root, secrets) : S3Error{};
}

Result<S3ListPage> read_s3_list(std::string_view body) {
  pugi::xml_document document;
  TRY(parse(body, "ListBucketResult", document));
  const pugi::xml_node root = document.document_element();
  const bool is_encoded = std::strcmp(root.child_value("EncodingType"), "url") == 0;
  S3ListPage page;
  for (const pugi::xml_node& node : root.children("Contents")) {
    TRY_ASSIGN(S3Listed file, listed_of(node, is_encoded));
    page.files.push_back(std::move(file));
  }
  if (std::strcmp(root.child_value("IsTruncated"), "true") == 0) {
    page.next = root.child_value("NextContinuationToken");
    if (page.next.empty()) return base::corrupt("the store says that its list goes on, but not where");
  }
  return page;
}

Result<std::string> read_s3_upload_id(std::string_view body) {
  pugi::xml_document document;
  TRY(parse(body, "InitiateMultipartUploadResult", document));
  std::string id = document.document_element().child_value("UploadId");
  if (id.empty()) return base::corrupt("the store began an upload without an id");
  return id;
}

std::string write_s3_parts(const std::vector<S3Part>& parts) {
  std::string text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (size_t i = 0; i < parts.size(); ++i) {
    text += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + escape_xml(parts[i].etag) +
            "</ETag><ChecksumCRC32C>" + crc32c_base64(parts[i].checksum) + "</ChecksumCRC32C></Part>";
  }
  return text + "</CompleteMultipartUpload>";
}

std::string write_s3_delete(const std::vector<std::string>& keys) {
  std::string text = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const std::string& key : keys) text += "<Object><Key>" + escape_xml(key) + "</Key></Object>";
  return text + "</Delete>";
}

Result<std::vector<S3DeleteFailure>> read_s3_delete_failures(std::string_view body, const std::vector<std::string>& secrets) {
  pugi::xml_document document;
  TRY(parse(body, "DeleteResult", document));
  std::vector<S3DeleteFailure> failures;
  for (const pugi::xml_node& node : document.document_element().children("Error")) {
    failures.push_back({node.child_value("Key"), error_of(node, secrets)});
  }
  return failures;
}

bool fits_into_xml(std::string_view key) {
  for (char c : key) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
  }
  // U+FFFE and U+FFFF are no characters of XML either.
  return key.find("\xEF\xBF\xBE") == key.npos && key.find("\xEF\xBF\xBF") == key.npos;
}

std::optional<int64_t> parse_s3_time(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[10] != 'T' || !text.ends_with('Z')) return std::nullopt;
  return millis_of(number_at(text, 0, 4), number_at(text, 5, 2), number_at(text, 8, 2), number_at(text, 11, 2), number_at(text, 14, 2),
                   number_at(text, 17, 2));
}

std::optional<int64_t> parse_http_time(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text[3] != ',' || !text.ends_with(" GMT")) return std::nullopt;
  int month = 0;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (text.substr(8, 3) == kMonths[i]) month = static_cast<int>(i) + 1;
  }
  return millis_of(number_at(text, 12, 4), month, number_at(text, 5, 2), number_at(text, 17, 2), number_at(text, 20, 2),
                   number_at(text, 23, 2));
}

}  // namespace frazil::io
