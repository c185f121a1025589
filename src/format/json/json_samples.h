// For tests of the JSON decoder: random documents, and what becomes of them.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "format/json/decoded_rows.h"
#include "format/json/json_text.h"

namespace frazil::format {

// A value as a document writes it, and as plain() does.
struct Sample {
  std::string json;
  std::string plain;
};

template <typename T>
T any(T low, T high) {
  return *rc::gen::inRange<T>(low, high);
}

inline bool sometimes(int one_in) {
  return any(0, one_in) == 0;
}

inline std::string spaces() {
  return sometimes(6) ? std::string(static_cast<size_t>(any(1, 4)), " \n\t\r"[any(0, 4)]) : "";
}

inline std::string two_digits(int value) {
  return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

inline std::string digits(int64_t value, int width) {
  std::string text = std::to_string(value);
  return std::string(static_cast<size_t>(std::max(0, width - static_cast<int>(text.size()))), '0') + text;
}

inline std::string utf8(uint32_t c) {
  if (c < 0x80) return {static_cast<char>(c)};
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

inline std::string unicode_escape(uint32_t c) {
  char text[16];
  if (c < 0x10000) {
    snprintf(text, sizeof(text), "\\u%04x", c);
  } else {
    snprintf(text, sizeof(text), "\\u%04X\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  }
  return text;
}

inline uint32_t any_character() {
  switch (any(0, 8)) {
    case 0:
      return any<uint32_t>(0x80, 0xd800);
    case 1:
      return any<uint32_t>(0xe000, 0x110000);
    case 2:
      return any<uint32_t>(0, 0x80);
    default:
      return any<uint32_t>('a', 'z' + 1);
  }
}

inline Sample string_sample() {
  Sample sample;
  const int length = any(0, 40);
  for (int i = 0; i < length; ++i) {
    const uint32_t c = any_character();
    const std::string quoted = json_quote(utf8(c));
    sample.json += sometimes(5) ? unicode_escape(c) : quoted.substr(1, quoted.size() - 2);
    sample.plain += utf8(c);
  }
  sample.json = "\"" + sample.json + "\"";
  return sample;
}

inline Sample integer_sample(int64_t low, int64_t high) {
  const int64_t value = sometimes(4) ? (sometimes(2) ? low : high) : any(low, high);
  static const char* const kTails[] = {"", "", "", ".0", "e0", ".000E+00", "0e-1"};
  return {std::to_string(value) + kTails[any<size_t>(0, std::size(kTails))], std::to_string(value)};
}

inline Sample double_sample() {
  const auto bits = *rc::gen::arbitrary<uint64_t>();
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  char text[64];
  snprintf(text, sizeof(text), "%.17g", value);
  if (value - value == 0) return {text, text};
  if (value != value) return {"\"NaN\"", "nan"};
  return value > 0 ? Sample{"\"Infinity\"", "inf"} : Sample{"\"-Infinity\"", "-inf"};
}

inline Sample decimal_sample(const columnar::Type& type) {
  std::string unscaled(1, static_cast<char>('1' + any(0, 9)));
  const int more = any(0, type.precision());
  for (int i = 0; i < more; ++i) unscaled += static_cast<char>('0' + any(0, 10));
  const std::string sign = sometimes(2) ? "-" : "";
  std::string json = unscaled;
  const auto scale = static_cast<size_t>(type.scale());
  if (sometimes(3)) return {sign + json + "e-" + std::to_string(scale), sign + unscaled};
  if (json.size() <= scale) json.insert(0, scale + 1 - json.size(), '0');
  if (scale > 0) json.insert(json.size() - scale, ".");
  return {sign + json, sign + unscaled};
}

inline std::string date_text(int64_t days) {
  const time_t seconds = days * 86'400;
  tm calendar;
  gmtime_r(&seconds, &calendar);
  return digits(calendar.tm_year + 1900, 4) + "-" + two_digits(calendar.tm_mon + 1) + "-" +
         two_digits(calendar.tm_mday);
}

inline std::string time_text(int64_t micros) {
  const auto seconds = static_cast<int>(micros / 1'000'000);
  std::string text = two_digits(seconds / 3600) + ":" + two_digits(seconds / 60 % 60) + ":" + two_digits(seconds % 60);
  if (micros % 1'000'000 == 0 && sometimes(2)) return text;
  return text + "." + digits(micros % 1'000'000, 6) + (sometimes(3) ? "9" : "");
}

inline Sample timestamp_sample(bool has_zone) {
  const int64_t days = any<int64_t>(-719'000, 2'932'000);
  const int64_t micros = any<int64_t>(0, 86'400'000'000);
  const std::string text = date_text(days) + (sometimes(2) ? "T" : " ") + time_text(micros);
  const int64_t local = days * 86'400'000'000 + micros;
  if (!has_zone) return {"\"" + text + "\"", std::to_string(local)};
  const int minutes = sometimes(3) ? 0 : any(-18 * 60, 18 * 60 + 1);
  std::string offset = minutes < 0 ? "-" : "+";
  offset += two_digits(std::abs(minutes) / 60) + (sometimes(2) ? ":" : "") + two_digits(std::abs(minutes) % 60);
  if (minutes == 0 && sometimes(2)) offset = "Z";
  return {"\"" + text + offset + "\"", std::to_string(local - minutes * int64_t{60'000'000})};
}

inline std::string any_bytes(int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(any(0, 256));
  return bytes;
}

inline Sample binary_sample(int size) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string bytes = any_bytes(size);
  std::string bits;
  for (const char c : bytes) {
    for (int i = 7; i >= 0; --i) bits += static_cast<char>('0' + (c >> i & 1));
  }
  std::string text;
  for (size_t i = 0; i < bits.size(); i += 6) {
    std::string group = bits.substr(i, 6);
    group.resize(6, '0');
    text += kDigits[std::stoul(group, nullptr, 2)];
  }
  if (sometimes(2)) text.resize((text.size() + 3) / 4 * 4, '=');
  if (sometimes(2)) std::replace(text.begin(), text.end(), '+', '-');
  return {"\"" + text + "\"", bytes};
}

inline Sample uuid_sample() {
  const std::string bytes = any_bytes(16);
  std::string text;
  for (size_t i = 0; i < 16; ++i) {
    char two[3];
    snprintf(two, sizeof(two), sometimes(2) ? "%02x" : "%02X", static_cast<unsigned char>(bytes[i]));
    text += std::string(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + two;
  }
  return {"\"" + text + "\"", bytes};
}

inline Sample value_sample(const columnar::Field& field);

// Members in any order; sometimes one is written before as something else, which the later one overrides.
inline std::string members(const std::vector<columnar::Field>& fields, std::vector<std::string>& plains) {
  std::vector<std::string> written;
  for (const columnar::Field& field : fields) {
    const Sample sample = value_sample(field);
    plains.push_back(sample.plain);
    if (sample.plain == "null" && sometimes(2)) continue;
    written.push_back(json_quote(field.name) + spaces() + ":" + spaces() + sample.json + spaces());
  }
  for (size_t i = written.size(); i > 1 && sometimes(2); --i) std::swap(written[i - 1], written[any<size_t>(0, i)]);
  if (!fields.empty() && sometimes(8)) {
    if (std::any_of(written.begin(), written.end(),
                    [&](const std::string& w) { return w.starts_with(json_quote(fields[0].name)); })) {
      written.insert(written.begin(), json_quote(fields[0].name) + ":[{\"other\":\"\\n\"}]");
    }
  }
  if (sometimes(4))
    written.insert(written.begin() + any<int64_t>(0, static_cast<int64_t>(written.size()) + 1), R"("u":[1e5,{}])");
  std::string text = "{" + spaces();
  for (size_t i = 0; i < written.size(); ++i) text += (i == 0 ? "" : "," + spaces()) + written[i];
  return text + "}";
}

inline Sample entries_sample(const columnar::Type& type) {
  const bool is_map = type.id() == columnar::TypeId::kMap;
  Sample sample;
  const int n = any(0, 4);
  for (int i = 0; i < n; ++i) {
    const Sample value = value_sample(type.fields().back());
    const std::string key = std::to_string(i * 3);
    if (i > 0) sample.json += ",", sample.plain += ",";
    sample.json += spaces() + (is_map ? "\"" + key + "\":" : "") + value.json + spaces();
    sample.plain += (is_map ? key + ":" : "") + value.plain;
  }
  sample.json = is_map ? "{" + sample.json + "}" : "[" + sample.json + "]";
  sample.plain = is_map ? "{" + sample.plain + "}" : "[" + sample.plain + "]";
  return sample;
}

inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) all += (i == 0 ? "" : ",") + texts[i];
  return all;
}

inline Sample struct_sample(const columnar::Type& type) {
  std::vector<std::string> plains;
  Sample sample;
  sample.json = members(type.fields(), plains);
  sample.plain = "{" + joined(plains) + "}";
  return sample;
}

inline Sample value_sample(const columnar::Field& field) {
  if (!field.required && sometimes(6)) return {"null", "null"};
  const columnar::Type& type = field.type;
  switch (type.id()) {
    case columnar::TypeId::kBoolean:
      return sometimes(2) ? Sample{"true", "true"} : Sample{"false", "false"};
    case columnar::TypeId::kInt:
      return integer_sample(INT32_MIN, INT32_MAX);
    case columnar::TypeId::kLong:
      return integer_sample(INT64_MIN, INT64_MAX);
    case columnar::TypeId::kDouble:
      return double_sample();
    case columnar::TypeId::kDecimal:
      return decimal_sample(type);
    case columnar::TypeId::kDate: {
      const int64_t days = any<int64_t>(-719'162, 2'932'897);
      return {"\"" + date_text(days) + "\"", std::to_string(days)};
    }
    case columnar::TypeId::kTime: {
      const int64_t micros = any<int64_t>(0, 86'400'000'000);
      return {"\"" + time_text(micros) + "\"", std::to_string(micros)};
    }
    case columnar::TypeId::kTimestamp:
      return timestamp_sample(false);
    case columnar::TypeId::kTimestamptz:
      return timestamp_sample(true);
    case columnar::TypeId::kUuid:
      return uuid_sample();
    case columnar::TypeId::kFixed:
      return binary_sample(type.length());
    case columnar::TypeId::kBinary:
      return binary_sample(any(0, 20));
    case columnar::TypeId::kStruct:
      return struct_sample(type);
    case columnar::TypeId::kList:
    case columnar::TypeId::kMap:
      return entries_sample(type);
    default:
      return string_sample();
  }
}

inline const Fields kAllTypes = {{"b", "boolean"},
                          {"i", "int!"},
                          {"l", "long"},
                          {"d", "double"},
                          {"n", "decimal(20, 5)"},
                          {"n38", "decimal(38, 0)"},
                          {"date", "date"},
                          {"time", "time"},
                          {"ts", "timestamp"},
                          {"tz", "timestamptz"},
                          {"s", "string"},
                          {"uuid", "uuid"},
                          {"f", "fixed[5]"},
                          {"bin", "binary"},
                          {"list", "list<struct<a: int, b: list<string>>>"},
                          {"map", "map<int, struct<x: double, y: date>>"},
                          {"st", "struct<p: struct<q: string, r: boolean>, m: map<string, list<long>>>"}};

}  // namespace frazil::format
