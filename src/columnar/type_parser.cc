// Parses type names by recursive descent: word, then "(p, s)", "[n]" or "<...>" where the word asks for it.

#include <charconv>
#include <optional>
#include <utility>

#include "columnar/schema.h"

namespace frazil::columnar {
namespace {

constexpr int kMaxDepth = 128;

struct PrimitiveWord {
  std::string_view word;
  TypeId id;
};

constexpr PrimitiveWord kPrimitives[] = {
    {"boolean", TypeId::kBoolean},
    {"bool", TypeId::kBoolean},
    {"int", TypeId::kInt},
    {"integer", TypeId::kInt},
    {"long", TypeId::kLong},
    {"bigint", TypeId::kLong},
    {"float", TypeId::kFloat},
    {"double", TypeId::kDouble},
    {"date", TypeId::kDate},
    {"time", TypeId::kTime},
    {"timestamp", TypeId::kTimestamp},
    {"timestamp_ntz", TypeId::kTimestamp},
    {"timestamptz", TypeId::kTimestamptz},
    {"timestamp_ltz", TypeId::kTimestamptz},
    {"string", TypeId::kString},
    {"uuid", TypeId::kUuid},
    {"binary", TypeId::kBinary},
};

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return result;
}

class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : text_(text) {}

  base::Result<Type> parse() {
    TRY_ASSIGN(Type type, parse_type());
    skip_spaces();
    if (at_ != text_.size()) return wrong("the end");
    return type;
  }

 private:
  base::Result<Type> parse_type() {
    if (++depth_ > kMaxDepth)
      return base::invalid("type is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    skip_spaces();
    const size_t start = at_;
    const std::string word = lower(take_word());
    auto type = type_of(word, start);
    --depth_;
    return type;
  }

  base::Result<Type> type_of(const std::string& word, size_t start) {
    for (const PrimitiveWord& primitive : kPrimitives) {
      if (primitive.word == word) return Type::primitive(primitive.id);
    }
    if (word == "decimal") return parse_decimal();
    if (word == "fixed") return parse_fixed();
    if (word == "list" || word == "array") return parse_list();
    if (word == "map") return parse_map();
    if (word == "struct") return parse_struct();
    at_ = start;
    return wrong("a type");
  }

  base::Result<Type> parse_decimal() {
    TRY(expect('('));
    TRY_ASSIGN(const int precision, parse_int());
    int scale = 0;
    if (take(',')) {
      TRY_ASSIGN(scale, parse_int());
    }
    TRY(expect(')'));
    if (precision < 1 || precision > 38 || scale > precision) {
      return base::invalid("decimal(" + std::to_string(precision) + ", " + std::to_string(scale) +
                           "): precision is 1 to 38, scale 0 to precision");
    }
    return Type::decimal(precision, scale);
  }

  base::Result<Type> parse_fixed() {
    const bool round = take('(');
    if (!round) TRY(expect('['));
    TRY_ASSIGN(const int length, parse_int());
    TRY(expect(round ? ')' : ']'));
    if (length < 1) return base::invalid("fixed[" + std::to_string(length) + "]: a length is 1 or more");
    return Type::fixed(length);
  }

  base::Result<Type> parse_list() {
    TRY(expect('<'));
    TRY_ASSIGN(Type element, parse_type());
    TRY(expect('>'));
    return Type::list(Field{.type = std::move(element)});
  }

  base::Result<Type> parse_map() {
    TRY(expect('<'));
    TRY_ASSIGN(Type key, parse_type());
    TRY(expect(','));
    TRY_ASSIGN(Type value, parse_type());
    TRY(expect('>'));
    return Type::map(Field{.type = std::move(key)}, Field{.type = std::move(value)});
  }

  base::Result<Type> parse_struct() {
    TRY(expect('<'));
    std::vector<Field> fields;
    do {
      TRY_ASSIGN(std::string name, parse_name());
      TRY(expect(':'));
      TRY_ASSIGN(Type type, parse_type());
      fields.push_back(Field{.name = std::move(name), .type = std::move(type)});
    } while (take(','));
    TRY(expect('>'));
    return Type::structure(std::move(fields));
  }

  // A name runs to the colon; in backticks it may hold anything but a backtick.
  base::Result<std::string> parse_name() {
    skip_spaces();
    const bool quoted = take('`');
    const size_t end = text_.find_first_of(quoted ? "`" : ":,<>", at_);
    std::string_view name = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    while (!quoted && !name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (name.empty()) return wrong("a field name").error();
    at_ += name.size();
    if (quoted) TRY(expect('`'));
    return std::string(name);
  }

  base::Result<int> parse_int() {
    skip_spaces();
    int value = 0;
    const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (failure != std::errc() || value < 0) return wrong("a number").error();
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  std::string_view take_word() {
    const size_t start = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  base::Status expect(char c) {
    if (take(c)) return {};
    return wrong(std::string("'") + c + "'").error();
  }

  base::Result<Type> wrong(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_, 40);
    const std::string found = rest.empty() ? "the text ends" : "there is '" + std::string(rest) + "'";
    return base::invalid("type '" + std::string(text_.substr(0, 200)) + "': expected " + expected + " where " + found);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

base::Result<Type> parse_type(std::string_view text) {
  return TypeParser(text).parse();
}

}  // namespace frazil::columnar
