#include "net/http_exchange.h"

#include <algorithm>
#include <cstdlib>

namespace frazil::net {

namespace {

constexpr int64_t kMaxHeadBytes = 256 << 10;  // below the library's own limit

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

const std::string* HttpResponse::header(std::string_view name) const {
  const auto found =
      std::find_if(headers.begin(), headers.end(), [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? nullptr : &found->second;
}

void HttpExchange::begin_answer(std::string_view status_line) {
  response_.headers.clear();
  const size_t space = status_line.find(' ');
  response_.status = space == status_line.npos ? 0 : std::atoi(std::string(status_line.substr(space + 1, 3)).c_str());
}

bool HttpExchange::take_header_line(std::string_view line) {
  head_bytes_ += static_cast<int64_t>(line.size());
  if (head_bytes_ > kMaxHeadBytes) {
    is_too_large_ = true;
    return false;
  }
  if (has_head_) return true;  // trailers of a chunked body
  if (line.starts_with("HTTP/")) {
    begin_answer(line);
    return true;
  }
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    has_head_ = response_.status >= 200;
    return true;
  }
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    response_.headers.emplace_back(lower(trimmed(text.substr(0, colon))), std::string(trimmed(text.substr(colon + 1))));
  }
  return true;
}

bool HttpExchange::take_body(std::string_view bytes) {
  if (static_cast<int64_t>(response_.body.size() + bytes.size()) > max_bytes_) {
    is_too_large_ = true;
    return false;
  }
  response_.body.append(bytes);
  return true;
}

}  // namespace frazil::net
