#include "sources/generator/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "sources/generator/record_random.h"
#include "sources/generator/record_time.h"
#include "sources/generator/record_words.h"

namespace frazil::sources {

namespace {

enum FieldIndex {
  kId, kOrderNumber, kUserId, kEventTime, kCreatedAt, kQuantity, kPrice, kDiscount, kTax, kLatitude, kLongitude, kIsFirst,
  kIsGift, kIsPaid, kCoupon, kReferrer, kRefund, kTraceId, kSession, kIp, kUrl, kLandingUrl, kComment, kStatus, kCountry,
  kCurrency, kCity, kDevice, kBrowser, kUserAgent, kTags, kShipping, kFields
};

struct FieldShape {
  const char* name;
  const char* type;
  bool required = false;
};

constexpr std::array<FieldShape, kFields> kShapes = {{
    {"id", "long", true},       {"order_number", "long"}, {"user_id", "long"},      {"event_time", "timestamptz"},
    {"created_at", "timestamptz"}, {"quantity", "int"},   {"price", "double"},      {"discount", "double"},
    {"tax", "double"},          {"latitude", "double"},   {"longitude", "double"},  {"is_first", "boolean"},
    {"is_gift", "boolean"},     {"is_paid", "boolean"},   {"coupon", "string"},     {"referrer", "string"},
    {"refund", "double"},       {"trace_id", "uuid"},     {"session", "string"},    {"ip", "string"},
    {"url", "string"},          {"landing_url", "string"}, {"comment", "string"},   {"status", "string"},
    {"country", "string"},      {"currency", "string"},   {"city", "string"},       {"device", "string"},
    {"browser", "string"},      {"user_agent", "string"}, {"tags", "list<string>"},
    {"shipping", "struct<carrier: string, days: int, weight: double>"},
}};

constexpr uint64_t kUsers = 5000000;
constexpr double kUserSkew = 1.1;
constexpr size_t kCommentBytes = 110;
constexpr int64_t kFirstMicros = 1767225600000000;  // 2026-01-01T00:00:00Z
constexpr int kTooDeep = 129;

// Appends JSON values to a text.
class ValueText {
 public:
  explicit ValueText(std::string& out) : out_(out) {}
  void raw(std::string_view text) { out_.append(text); }
  void number(uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, static_cast<size_t>(end - digits));
  }
  // `scaled` / 10^digits with all its digits.
  void decimal(int64_t scaled, int digits) {
    if (scaled < 0) out_ += '-';
    const uint64_t value = static_cast<uint64_t>(scaled < 0 ? -scaled : scaled);
    uint64_t unit = 1;
    for (int i = 0; i < digits; ++i) unit *= 10;
    number(value / unit);
    out_ += '.';
    char fraction[20];
    uint64_t rest = value % unit;
    for (int i = digits - 1; i >= 0; --i, rest /= 10) fraction[i] = static_cast<char>('0' + rest % 10);
    out_.append(fraction, static_cast<size_t>(digits));
  }
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void text(std::string_view value) {
    out_ += '"';
    out_.append(value);
    out_ += '"';
  }
  void hex(uint64_t value, int digits) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out_ += kHex[(value >> shift) & 15];
  }

 private:
  std::string& out_;
};

const std::string& pick(const std::vector<std::string>& words, RecordRandom& random) {
  return words[random.below(words.size())];
}

class OrderWriter : public RecordWriter {
 public:
  explicit OrderWriter(const RecordOptions& options) : options_(options), words_(record_words()), users_(kUsers, kUserSkew) {}

  Spoiling write(uint64_t index, std::string& out) override;

 private:
  Spoiling spoiling_of(uint64_t index) const;
  void write_fields(uint64_t index);
  void write_numbers(uint64_t index, RecordRandom& random);
  void write_nullable(RecordRandom& random);
  void write_texts(RecordRandom& random);
  void write_dictionaries(RecordRandom& random);
  void write_nested(RecordRandom& random);
  void write_comment(RecordRandom& random);
  ValueText begin(FieldIndex field) {
    begins_[field] = values_.size();
    return ValueText(values_);
  }
  void end(FieldIndex field) { lengths_[field] = values_.size() - begins_[field]; }
  void replace(FieldIndex field, std::string_view value);
  void spoil_field(Spoiling spoiling);
  void join(uint64_t index, Spoiling spoiling, std::string& out);
  void spoil_whole(Spoiling spoiling, std::string& out) const;

  const RecordOptions options_;
  const RecordWords& words_;
  const Zipf users_;
  std::string values_;  // of all fields, one after the other
  std::array<size_t, kFields> begins_{};
  std::array<size_t, kFields> lengths_{};
};

Spoiling OrderWriter::write(uint64_t index, std::string& out) {
  out.clear();
  const Spoiling spoiling = spoiling_of(index);
  if (spoiling == Spoiling::kTombstone || spoiling == Spoiling::kEmptyValue) return spoiling;
  write_fields(index);
  if (spoiling != Spoiling::kNone) spoil_field(spoiling);
  join(index, spoiling, out);
  if (spoiling != Spoiling::kNone) spoil_whole(spoiling, out);
  return spoiling;
}

Spoiling OrderWriter::spoiling_of(uint64_t index) const {
  if (options_.bad_percent <= 0) return Spoiling::kNone;
  RecordRandom random(options_.seed, index, 1);
  if (!random.one_in(options_.bad_percent / 100)) return Spoiling::kNone;
  return static_cast<Spoiling>(1 + random.below(kSpoilings));
}

void OrderWriter::write_fields(uint64_t index) {
  values_.clear();
  RecordRandom random(options_.seed, index);
  write_numbers(index, random);
  write_nullable(random);
  write_texts(random);
  write_dictionaries(random);
  write_nested(random);
}

void OrderWriter::write_numbers(uint64_t index, RecordRandom& random) {
  const auto number = [&](FieldIndex field, uint64_t value) { begin(field).number(value), end(field); };
  const auto decimal = [&](FieldIndex field, int64_t scaled, int digits) { begin(field).decimal(scaled, digits), end(field); };
  const auto boolean = [&](FieldIndex field, bool value) { begin(field).boolean(value), end(field); };
  const auto time = [&](FieldIndex field, int64_t micros) {
    begin(field).raw("\"");
    append_iso_time(micros, values_);
    values_ += "Z\"";
    end(field);
  };
  number(kId, index);
  number(kOrderNumber, 1000000000000 + random.below(9000000000000));
  // Popular users are spread over the ids.
  number(kUserId, 1 + users_.draw(random) * 2654435761 % kUsers);
  const int64_t at = kFirstMicros + static_cast<int64_t>(index) * 1000 + static_cast<int64_t>(random.below(1000));
  time(kEventTime, at);
  time(kCreatedAt, at - static_cast<int64_t>(random.below(3600000000)));
  number(kQuantity, 1 + random.below(20));
  decimal(kPrice, 99 + static_cast<int64_t>(random.below(500000)), 2);
  decimal(kDiscount, static_cast<int64_t>(random.below(5000)), 4);
  decimal(kTax, static_cast<int64_t>(random.below(100000)), 2);
  decimal(kLatitude, static_cast<int64_t>(random.below(180000000)) - 90000000, 6);
  decimal(kLongitude, static_cast<int64_t>(random.below(360000000)) - 180000000, 6);
  const uint64_t flags = random.next();
  boolean(kIsFirst, flags % 10 == 0);
  boolean(kIsGift, (flags >> 8) % 20 == 0);
  boolean(kIsPaid, (flags >> 16) % 8 != 0);
}

void OrderWriter::write_nullable(RecordRandom& random) {
  ValueText coupon = begin(kCoupon);
  if (random.below(100) < 40) {
    coupon.raw("null");
  } else {
    coupon.raw("\"SAVE-");
    coupon.hex(random.next(), 8);
    coupon.raw("\"");
  }
  end(kCoupon);
  ValueText referrer = begin(kReferrer);
  if (random.below(100) < 60) {
    referrer.raw("null");
  } else {
    referrer.raw("\"https://");
    referrer.raw(pick(words_.tags, random));
    referrer.raw(".example/");
    referrer.number(random.below(1000));
    referrer.raw("\"");
  }
  end(kReferrer);
  ValueText refund = begin(kRefund);
  if (random.below(100) < 90) {
    refund.raw("null");
  } else {
    refund.decimal(static_cast<int64_t>(random.below(100000)), 2);
  }
  end(kRefund);
}

void OrderWriter::write_texts(RecordRandom& random) {
  ValueText trace = begin(kTraceId);
  const uint64_t high = random.next(), low = random.next();
  trace.raw("\"");
  trace.hex(high >> 32, 8);
  trace.raw("-");
  trace.hex(high >> 16, 4);
  trace.raw("-4");
  trace.hex(high, 3);
  trace.raw("-a");
  trace.hex(low >> 48, 3);
  trace.raw("-");
  trace.hex(low, 12);
  trace.raw("\"");
  end(kTraceId);
  ValueText session = begin(kSession);
  session.raw("\"");
  session.hex(random.next(), 16);
  session.hex(random.next(), 16);
  session.raw("\"");
  end(kSession);
  ValueText ip = begin(kIp);
  const uint64_t address = random.next();
  ip.raw("\"10.");
  ip.number(address & 255);
  ip.raw(".");
  ip.number((address >> 8) & 255);
  ip.raw(".");
  ip.number((address >> 16) & 255);
  ip.raw("\"");
  end(kIp);
  for (const FieldIndex field : {kUrl, kLandingUrl}) {
    ValueText url = begin(field);
    url.raw(field == kUrl ? "\"https://shop.example/p/" : "\"https://shop.example/land/");
    url.raw(pick(words_.tags, random));
    url.raw("/");
    url.number(random.below(100000));
    url.raw("?c=");
    url.raw(pick(words_.prose, random));
    url.raw("\"");
    end(field);
  }
  write_comment(random);
}

void OrderWriter::write_comment(RecordRandom& random) {
  ValueText comment = begin(kComment);
  comment.raw("\"");
  if (random.below(50) == 0) comment.raw(pick(words_.odd_prose, random));
  while (values_.size() - begins_[kComment] < kCommentBytes) {
    if (values_.size() - begins_[kComment] > 1) values_ += ' ';
    comment.raw(pick(words_.prose, random));
  }
  comment.raw("\"");
  end(kComment);
}

void OrderWriter::write_dictionaries(RecordRandom& random) {
  const auto from = [&](FieldIndex field, const std::vector<std::string>& words) {
    begin(field).text(pick(words, random));
    end(field);
  };
  from(kStatus, words_.statuses);
  from(kCountry, words_.countries);
  from(kCurrency, words_.currencies);
  from(kCity, words_.cities);
  from(kDevice, words_.devices);
  from(kBrowser, words_.browsers);
  from(kUserAgent, words_.user_agents);
}

void OrderWriter::write_nested(RecordRandom& random) {
  ValueText tags = begin(kTags);
  tags.raw("[");
  const uint64_t count = random.below(6);
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) tags.raw(",");
    tags.text(pick(words_.tags, random));
  }
  tags.raw("]");
  end(kTags);
  ValueText shipping = begin(kShipping);
  shipping.raw("{\"carrier\":");
  shipping.text(pick(words_.carriers, random));
  shipping.raw(",\"days\":");
  shipping.number(1 + random.below(14));
  shipping.raw(",\"weight\":");
  shipping.decimal(static_cast<int64_t>(random.below(30000)), 3);
  shipping.raw("}");
  end(kShipping);
}

void OrderWriter::replace(FieldIndex field, std::string_view value) {
  begin(field).raw(value);
  end(field);
}

void OrderWriter::spoil_field(Spoiling spoiling) {
  switch (spoiling) {
    case Spoiling::kRequiredNull: return replace(kId, "null");
    case Spoiling::kFractionInInteger: return replace(kQuantity, "42.5");
    case Spoiling::kIntegerOverflow: return replace(kQuantity, "4294967296");
    case Spoiling::kNumberAsText: return replace(kQuantity, "\"42\"");
    case Spoiling::kTextAsNumber: return replace(kPrice, "\"cheap\"");
    case Spoiling::kNumberAsBoolean: return replace(kIsPaid, "1");
    case Spoiling::kDoubleOverflow: return replace(kPrice, "1e999");
    case Spoiling::kNoZone: return replace(kEventTime, "\"2026-01-01T00:00:00\"");
    case Spoiling::kNotATimestamp: return replace(kEventTime, "\"yesterday\"");
    case Spoiling::kNumberAsTimestamp: return replace(kEventTime, "1767225600");
    case Spoiling::kBadUuid: return replace(kTraceId, "\"0123456-89ab-4def-8123-456789abcdef\"");
    case Spoiling::kScalarAsList: return replace(kTags, "\"one\"");
    case Spoiling::kScalarAsStruct: return replace(kShipping, "7");
    case Spoiling::kInvalidUtf8: return replace(kComment, "\"broken \xff text\"");
    case Spoiling::kLoneSurrogate: return replace(kComment, "\"broken \\ud800 text\"");
    default: return;  // not of a single field
  }
}

void OrderWriter::join(uint64_t index, Spoiling spoiling, std::string& out) {
  std::array<uint8_t, kFields> order;
  for (size_t i = 0; i < kFields; ++i) order[i] = static_cast<uint8_t>(i);
  if (options_.shuffle_keys) {
    RecordRandom random(options_.seed, index, 2);
    for (size_t i = kFields - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  }
  for (const uint8_t field : order) {
    if (spoiling == Spoiling::kRequiredMissing && field == kId) continue;
    out += out.empty() ? "{\"" : ",\"";
    out += kShapes[field].name;
    out += "\":";
    out.append(values_, begins_[field], lengths_[field]);
  }
  out += '}';
}

void OrderWriter::spoil_whole(Spoiling spoiling, std::string& out) const {
  switch (spoiling) {
    case Spoiling::kTruncated: return out.resize(out.size() / 2);
    case Spoiling::kNotJson: return void(out = "this is not JSON");
    case Spoiling::kTopLevelScalar: return void(out = "42");
    case Spoiling::kTopLevelNull: return void(out = "null");
    case Spoiling::kTooDeep:
      out.back() = ',';
      out += "\"deep\":" + std::string(kTooDeep, '[') + std::string(kTooDeep, ']') + "}";
      return;
    case Spoiling::kBadArrayElement: return void(out = "[" + out + ",{\"id\":\"none\"}]");
    default: return;
  }
}

}  // namespace

std::unique_ptr<RecordWriter> make_record_writer(const RecordOptions& options) {
  return std::make_unique<OrderWriter>(options);
}

columnar::Schema generator_schema() {
  columnar::Schema schema;
  for (const FieldShape& shape : kShapes) {
    auto type = columnar::parse_type(shape.type);
    CHECK(type.ok());
    schema.fields.push_back({.id = 0, .name = shape.name, .required = shape.required, .type = std::move(type).value(), .doc = ""});
  }
  return columnar::assign_fresh_ids(schema);
}

std::string_view generator_key_field() { return kShapes[kId].name; }

}  // namespace frazil::sources
