// without_secrets(): how servers write what they repeat.
#include <algorithm>
#include <array>
#include <charconv>

#include "net/digest.h"
#include "net/foreign_answer.h"
#include "net/url.h"

namespace frazil::net {

namespace {

constexpr size_t kShortestSecret = 4;
constexpr std::string_view kMask = "***";

// Text that must not show, and how much of its surroundings belongs to it.
struct Hidden {
  std::string text;
  // Of base64: the neighbour holds bits of the secret too.
  bool begins_inside = false;
  bool ends_inside = false;
};

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
         c == '-' || c == '_';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether `text` begins with `number` as `digits` digits of this base.
bool is_number(std::string_view text, size_t digits, int base, unsigned char number) {
  if (text.size() < digits || digits == 0) return false;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, base);
  return error == std::errc() && end == text.data() + digits && value == number;
}

// Length of the HTML reference to `c` that `text` begins with, or 0.
size_t reference_length(std::string_view text, char c) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, meant] : kNamed) {
    if (c == meant && text.starts_with(name)) return name.size();
  }
  const size_t end = text.substr(0, 10).find(';');
  if (!text.starts_with("&#") || end == text.npos || end < 3) return 0;
  const bool is_hex = lower(text[2]) == 'x';
  const size_t digits = is_hex ? 3 : 2;
  return is_number(text.substr(digits), end - digits, is_hex ? 16 : 10, static_cast<unsigned char>(c)) ? end + 1 : 0;
}

// Where `text` may go on after one character that means `c`.
void append_ends(std::string_view text, size_t at, char c, std::vector<size_t>& ends) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  if (rest.empty()) return;
  const auto byte = static_cast<unsigned char>(c);
  if (rest[0] == c || (rest[0] == '+' && c == ' ')) ends.push_back(at + 1);
  if (rest[0] == '%' && is_number(rest.substr(1), 2, 16, byte)) ends.push_back(at + 3);
  if (rest[0] == '\\' && rest.size() > 1 && rest[1] == c && (c == '/' || c == '"' || c == '\\')) ends.push_back(at + 2);
  if (rest.starts_with("\\u") && is_number(rest.substr(2), 4, 16, byte)) ends.push_back(at + 6);
  if (const size_t length = reference_length(rest, c); rest[0] == '&' && length > 0) ends.push_back(at + length);
}

// Where the occurrence of `hidden` that begins at `at` ends, in whatever encoding; `at` when there is none.
size_t end_of(std::string_view text, size_t at, std::string_view hidden) {
  if (text[at] != hidden[0] && std::string_view("%+\\&").find(text[at]) == std::string_view::npos) return at;
  std::vector<size_t> ends{at};
  std::vector<size_t> next;
  for (const char c : hidden) {
    next.clear();
    for (const size_t end : ends) append_ends(text, end, c, next);
    if (next.empty()) return at;
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    ends.swap(next);
  }
  return ends.back();
}

std::string without(const std::string& text, const Hidden& hidden) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = end_of(text, at, hidden.text);
    if (end == at) {
      out += text[at++];
      continue;
    }
    if (hidden.begins_inside && !out.empty() && is_base64(out.back())) out.pop_back();
    if (hidden.ends_inside && end < text.size() && is_base64(text[end])) ++end;
    out += kMask;
    at = end;
  }
  return out;
}

// What base64 makes of the secret whatever stands before and after it: one form for each position in a group of three.
void append_base64(const std::string& secret, std::vector<Hidden>& forms) {
  for (size_t before = 0; before < 3; ++before) {
    const std::string encoded = base64_url(std::string(before, '\0') + secret);
    const size_t first = before == 0 ? 0 : before + 1;
    const size_t last = (before + secret.size()) * 8 / 6;
    const bool ends_inside = (before + secret.size()) % 3 != 0;
    std::string form = encoded.substr(first, last - first);
    forms.push_back({form, before != 0, ends_inside});
    std::replace(form.begin(), form.end(), '-', '+');
    std::replace(form.begin(), form.end(), '_', '/');
    if (form != forms.back().text) forms.push_back({form, before != 0, ends_inside});
  }
}

std::vector<Hidden> forms_of(const std::vector<std::string>& secrets) {
  std::vector<Hidden> forms;
  for (const std::string& secret : secrets) {
    if (secret.size() < kShortestSecret) continue;
    forms.push_back({secret});
    append_base64(secret, forms);
    // RFC 6749 section 2.3.1 encodes name and secret before `Basic` does.
    if (const std::string encoded = percent_encode(secret); encoded != secret) append_base64(encoded, forms);
  }
  // A secret may begin as another one does.
  std::stable_sort(forms.begin(), forms.end(),
                   [](const Hidden& a, const Hidden& b) { return a.text.size() > b.text.size(); });
  return forms;
}

// What comes before a secret of anybody's.
struct Mark {
  std::string_view name;  // lower case
  bool is_scheme;         // a space parts it from the secret, else ':' or '='
};
constexpr std::array<Mark, 4> kMarks{
    {{"bearer", true}, {"basic", true}, {"x-amz-security-token", false}, {"signature", false}}};

bool begins_with(std::string_view text, size_t at, std::string_view lower_name) {
  if (text.size() - at < lower_name.size()) return false;
  for (size_t i = 0; i < lower_name.size(); ++i) {
    if (lower(text[at + i]) != lower_name[i]) return false;
  }
  return true;
}

size_t space_length(std::string_view rest) {
  if (rest.starts_with("%20") || rest.starts_with("%09")) return 3;
  if (rest.starts_with("&nbsp;")) return 6;
  return !rest.empty() && (static_cast<unsigned char>(rest[0]) <= 0x20 || rest[0] == '+') ? 1 : 0;
}

size_t divider_length(std::string_view rest) {
  if (rest.empty()) return 0;
  if (rest[0] == ':' || rest[0] == '=') return 1;
  return begins_with(rest, 0, "%3a") || begins_with(rest, 0, "%3d") ? 3 : 0;
}

bool ends_word(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || std::string_view("\"'<>&,;()[]{}\\|`").find(c) != std::string_view::npos;
}

// Where the secret begins after a mark that ends at `at`; npos: there is none.
size_t secret_after(std::string_view text, size_t at, bool is_scheme) {
  bool is_parted = false;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const size_t space = space_length(rest);
    const size_t divider = is_scheme ? 0 : divider_length(rest);
    const bool is_quote = !is_scheme && (rest[0] == '"' || rest[0] == '\'' || rest[0] == '\\');
    if (space + divider == 0 && !is_quote) break;
    is_parted = is_parted || divider > 0 || (is_scheme && space > 0);
    at += std::max<size_t>(space + divider, 1);
  }
  return is_parted && at < text.size() && !ends_word(text[at]) ? at : text.npos;
}

std::string without_marked(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto mark = std::find_if(kMarks.begin(), kMarks.end(),
                                   [&](const Mark& one) { return begins_with(text, at, one.name); });
    const size_t secret =
        mark == kMarks.end() ? text.npos : secret_after(text, at + mark->name.size(), mark->is_scheme);
    if (secret == text.npos) {
      out += text[at++];
      continue;
    }
    out.append(text, at, secret - at).append(kMask);
    for (at = secret; at < text.size() && !ends_word(text[at]);) ++at;
  }
  return out;
}

}  // namespace

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  for (const Hidden& hidden : forms_of(secrets)) text = without(text, hidden);
  return without_marked(text);
}

}  // namespace frazil::net
