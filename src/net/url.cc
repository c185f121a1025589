#include "net/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace frazil::net {

namespace {

bool is_unreserved(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string encode(std::string_view text, bool keeps_slash) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char signed_c : text) {
    const auto c = static_cast<unsigned char>(signed_c);
    if (is_unreserved(c) || (keeps_slash && c == '/')) {
      out += signed_c;
    } else {
      out += '%';
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    }
  }
  return out;
}

bool is_ipv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool is_host_name(const std::string& host) {
  return !host.empty() && host.size() <= 253 &&
         std::all_of(host.begin(), host.end(), [](char c) { return is_unreserved(static_cast<unsigned char>(c)); });
}

int default_port(const std::string& scheme) {
  return scheme == "https" ? 443 : 80;
}

base::Status read_port(std::string_view text, Url& url) {
  if (text.empty()) return {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (error != std::errc() || end != text.data() + text.size() || url.port < 1 || url.port > 65535) {
    return base::invalid("a URL with a port that is none: " + url.scheme + "://" + url.host);
  }
  return {};
}

base::Status read_authority(std::string_view text, Url& url) {
  if (text.find('@') != text.npos) return base::invalid("a URL must not hold a user name or password");
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos || (end + 1 < text.size() && text[end + 1] != ':')) {
      return base::invalid("a URL whose IPv6 address has no end");
    }
    url.host = lower(text.substr(1, end - 1));
    port = text.substr(std::min(end + 2, text.size()));
    if (!is_ipv6(url.host)) return base::invalid("a URL whose IPv6 address is none: [" + url.host + "]");
  } else {
    const size_t colon = text.find(':');
    url.host = lower(text.substr(0, colon));
    if (colon != text.npos) port = text.substr(colon + 1);
    if (url.host.empty()) return base::invalid("a URL without a host");
    if (!is_host_name(url.host)) return base::invalid("a URL whose host is no name of a host");
  }
  return read_port(port, url);
}

}  // namespace

std::string Url::origin() const {
  std::string out = scheme + "://" + (host.find(':') != host.npos ? "[" + host + "]" : host);
  if (port != default_port(scheme)) out += ":" + std::to_string(port);
  return out;
}

std::string Url::authority() const {
  return (host.find(':') != host.npos ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::Result<Url> parse_url(std::string_view text) {
  Url url;
  const size_t separator = text.find("://");
  url.scheme = separator == text.npos ? "" : lower(text.substr(0, separator));
  if (url.scheme != "http" && url.scheme != "https") {
    return base::invalid("not a URL of http:// or https://");
  }
  // What is not ASCII, or would end the request line, has to be encoded by the caller.
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f) return base::invalid("a URL with a character that must be encoded");
  }
  if (text.find('#') != text.npos) return base::invalid("a URL with a fragment ('#')");
  std::string_view rest = text.substr(separator + 3);
  const size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  url.port = default_port(url.scheme);
  TRY(read_authority(rest.substr(0, authority_end), url));
  rest.remove_prefix(authority_end);
  const size_t question = rest.find('?');
  url.path = std::string(rest.substr(0, question));
  if (url.path.empty()) url.path = "/";
  if (question != rest.npos) url.query = std::string(rest.substr(question + 1));
  return url;
}

bool is_loopback_host(std::string_view host) {
  const std::string name(host);
  in_addr v4;
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  if (inet_pton(AF_INET6, name.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return lower(host) == "localhost";
}

bool may_hold_secret(std::string_view url) {
  const size_t separator = url.find("://");
  if (separator == url.npos) return false;
  const std::string_view rest = url.substr(separator + 3);
  if (rest.substr(0, rest.find_first_of("/?#")).find('@') != rest.npos) return true;
  const size_t question = rest.find('?');
  if (question == rest.npos) return false;
  const std::string query = lower(rest.substr(question + 1));
  static constexpr std::string_view kWords[] = {"token", "key", "secret", "pass", "pwd", "sig", "auth", "cred", "session", "jwt"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) { return query.find(word) != query.npos; });
}

std::string percent_encode(std::string_view text) {
  return encode(text, false);
}

std::string percent_encode_path(std::string_view text) {
  return encode(text, true);
}

}  // namespace frazil::net
