// Random JSON records for an Avro schema, in the forms that the JSON decoder reads for each type.
#include <algorithm>
#include <string>
#include <utility>

#include "format/json/json_text.h"
#include "sources/generator/avro_shape.h"
#include "sources/generator/record.h"
#include "sources/generator/record_random.h"
#include "sources/generator/record_time.h"
#include "sources/generator/record_words.h"

namespace frazil::sources {

namespace {

// Records that hold themselves end here: unions take null, arrays and maps stay empty.
constexpr int kDeepest = 6;
// A record that must hold itself for ever is cut here, and is then not valid.
constexpr int kCut = 64;
constexpr int64_t kSomeMicros = 1767225600000000;  // 2026-01-01T00:00:00Z
constexpr int64_t kMicrosPerYear = 31536000000000;

class AvroRecordWriter : public RecordWriter {
 public:
  AvroRecordWriter(AvroSchema schema, const RecordOptions& options) : schema_(std::move(schema)), options_(options) {}

  Spoiling write(uint64_t index, std::string& out) override {
    out.clear();
    RecordRandom random(options_.seed, index);
    append(schema_.root(), random, out, 0);
    return Spoiling::kNone;
  }

 private:
  void append(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const;
  void append_time(AvroKind kind, RecordRandom& random, std::string& out) const;
  void append_nested(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const;
  void append_union(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const;

  const AvroSchema schema_;
  const RecordOptions options_;
};

std::string words(RecordRandom& random) {
  const auto& prose = record_words().prose;
  std::string text;
  for (uint64_t left = 1 + random.below(4); left > 0; --left) {
    if (!text.empty()) text += ' ';
    text += prose[random.below(prose.size())];
  }
  return text;
}

void append_base64(int bytes, RecordRandom& random, std::string& out) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out += '"';
  for (int left = bytes; left > 0; left -= 3) {
    uint32_t group = static_cast<uint32_t>(random.next()) & 0xffffff;
    if (left < 3) group &= left == 1 ? 0xff0000u : 0xffff00u;
    const char text[4] = {kAlphabet[group >> 18], kAlphabet[(group >> 12) & 63],
                          left < 2 ? '=' : kAlphabet[(group >> 6) & 63], left < 3 ? '=' : kAlphabet[group & 63]};
    out.append(text, 4);
  }
  out += '"';
}

void append_decimal(const AvroShape& shape, RecordRandom& random, std::string& out) {
  if (random.below(2) == 0) out += '-';
  const int whole = shape.precision - shape.scale;
  if (whole == 0) out += '0';
  for (int i = 0; i < whole; ++i) out += static_cast<char>(i == 0 ? '1' + random.below(9) : '0' + random.below(10));
  if (shape.scale == 0) return;
  out += '.';
  for (int i = 0; i < shape.scale; ++i) out += static_cast<char>('0' + random.below(10));
}

void append_uuid(RecordRandom& random, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  static constexpr char kForm[] = "xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx";
  out += '"';
  for (const char* c = kForm; *c != 0; ++c) out += *c == 'x' ? kHex[random.below(16)] : *c;
  out += '"';
}

// Not longer than what a float keeps, so that it comes back as it is written.
void append_real(RecordRandom& random, std::string& out) {
  out += std::to_string(static_cast<int64_t>(random.below(20000)) - 10000) + "." + std::to_string(random.below(4) * 25);
}

void AvroRecordWriter::append(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const {
  switch (shape.kind) {
    case AvroKind::kNull: out += "null"; return;
    case AvroKind::kBoolean: out += random.below(2) == 0 ? "false" : "true"; return;
    case AvroKind::kInt: out += std::to_string(static_cast<int32_t>(random.next())); return;
    case AvroKind::kLong: out += std::to_string(static_cast<int64_t>(random.next())); return;
    case AvroKind::kFloat:
    case AvroKind::kDouble: return append_real(random, out);
    case AvroKind::kBytes: return append_base64(static_cast<int>(random.below(40)), random, out);
    case AvroKind::kFixed: return append_base64(shape.size, random, out);
    case AvroKind::kString: return format::append_json_quoted(words(random), out);
    case AvroKind::kEnum: return format::append_json_quoted(shape.symbols[random.below(shape.symbols.size())], out);
    case AvroKind::kDecimal: return append_decimal(shape, random, out);
    case AvroKind::kUuid: return append_uuid(random, out);
    case AvroKind::kUnion: return append_union(shape, random, out, depth);
    case AvroKind::kArray:
    case AvroKind::kMap:
    case AvroKind::kRecord: return append_nested(shape, random, out, depth);
    default: return append_time(shape.kind, random, out);
  }
}

void AvroRecordWriter::append_time(AvroKind kind, RecordRandom& random, std::string& out) const {
  const bool is_millis = kind == AvroKind::kTimeMillis || kind == AvroKind::kTimestampMillis ||
                         kind == AvroKind::kLocalTimestampMillis;
  int64_t micros = kSomeMicros + static_cast<int64_t>(random.below(kMicrosPerYear));
  if (is_millis) micros -= micros % 1000;
  out += '"';
  switch (kind) {
    case AvroKind::kDate: append_iso_date(micros / 86400000000, out); break;
    case AvroKind::kTimeMillis:
    case AvroKind::kTimeMicros: append_iso_clock(micros % 86400000000, out); break;
    default: append_iso_time(micros, out);
  }
  if (kind == AvroKind::kTimestampMillis || kind == AvroKind::kTimestampMicros) out += 'Z';
  out += '"';
}

void AvroRecordWriter::append_union(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const {
  const AvroShape* chosen = shape.branches[random.below(shape.branches.size())];
  if (depth >= kDeepest) {
    const auto null = std::find_if(shape.branches.begin(), shape.branches.end(),
                                   [](const AvroShape* branch) { return branch->kind == AvroKind::kNull; });
    if (null != shape.branches.end()) chosen = *null;
  }
  append(*chosen, random, out, depth);
}

void AvroRecordWriter::append_nested(const AvroShape& shape, RecordRandom& random, std::string& out, int depth) const {
  if (depth >= kCut) return void(out += "null");
  const bool is_array = shape.kind == AvroKind::kArray;
  out += is_array ? '[' : '{';
  if (shape.kind == AvroKind::kRecord) {
    for (size_t i = 0; i < shape.members.size(); ++i) {
      if (i > 0) out += ',';
      format::append_json_quoted(shape.members[i].name, out);
      out += ':';
      append(*shape.members[i].shape, random, out, depth + 1);
    }
  } else {
    const uint64_t count = depth >= kDeepest ? 0 : random.below(5);
    for (uint64_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      if (!is_array) out += "\"key" + std::to_string(i) + "\":";
      append(*shape.branches[0], random, out, depth + 1);
    }
  }
  out += is_array ? ']' : '}';
}

}  // namespace

base::Result<std::unique_ptr<RecordWriter>> make_avro_record_writer(std::string_view avro_schema,
                                                                    const RecordOptions& options) {
  TRY_ASSIGN(AvroSchema schema, AvroSchema::parse(avro_schema));
  return std::unique_ptr<RecordWriter>(std::make_unique<AvroRecordWriter>(std::move(schema), options));
}

}  // namespace frazil::sources
