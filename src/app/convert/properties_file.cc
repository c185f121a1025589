#include "app/convert/properties_file.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace frazil::app {
namespace {

struct LogicalLine {
  std::string text;
  int number = 0;  // of its first line in the file
};

bool goes_on(const std::string& line) {
  const size_t last = line.find_last_not_of('\\');
  const size_t backslashes = line.size() - (last == std::string::npos ? 0 : last + 1);
  return backslashes % 2 == 1;
}

std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> lines;
  bool is_open = false;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    line.erase(0, std::min(line.find_first_not_of(" \t\f"), line.size()));
    if (!is_open && (line.empty() || line[0] == '#' || line[0] == '!')) continue;
    if (!is_open) lines.push_back({"", number});
    is_open = goes_on(line);
    if (is_open) line.pop_back();
    lines.back().text += line;
  }
  return lines;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Reads the sign behind a backslash at `at`; returns where the next one stands.
size_t append_escaped(const std::string& line, size_t at, std::string& out) {
  constexpr std::string_view kNames = "tnrf", kSigns = "\t\n\r\f";
  if (at >= line.size()) return at;
  if (line[at] == 'u' && at + 4 < line.size()) {
    unsigned code = 0;
    const char* digits = line.data() + at + 1;
    if (const auto read = std::from_chars(digits, digits + 4, code, 16); read.ec == std::errc() && read.ptr == digits + 4) {
      append_utf8(out, code);
      return at + 5;
    }
  }
  const size_t name = kNames.find(line[at]);
  out += name == std::string_view::npos ? line[at] : kSigns[name];
  return at + 1;
}

// Reads up to an unescaped sign of `ends`; returns where it stands.
size_t read_until(const std::string& line, size_t at, std::string_view ends, std::string& out) {
  while (at < line.size() && ends.find(line[at]) == std::string_view::npos) {
    if (line[at] == '\\') {
      at = append_escaped(line, at + 1, out);
    } else {
      out += line[at++];
    }
  }
  return at;
}

}  // namespace

Node parse_properties(std::string_view text, Problems& problems) {
  Node map;
  map.kind = Node::Kind::kMap;
  map.mark = {1, 1, ""};
  for (const LogicalLine& line : logical_lines(text)) {
    const Mark mark{line.number, 1, ""};
    std::string key;
    size_t at = read_until(line.text, 0, "=: \t\f", key);
    at = std::min(line.text.find_first_not_of(" \t\f", at), line.text.size());
    if (at < line.text.size() && (line.text[at] == '=' || line.text[at] == ':')) ++at;
    at = std::min(line.text.find_first_not_of(" \t\f", at), line.text.size());
    Node value;
    value.mark = mark;
    read_until(line.text, at, "", value.scalar);
    if (Node* before = map.find(key)) {
      problems.error(mark, "\"" + key + "\" is set a second time");
      *before = std::move(value);
    } else {
      map.entries.push_back({key, mark, std::move(value)});
    }
  }
  return map;
}

}  // namespace frazil::app
