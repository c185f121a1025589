// The conversions of JsonRowReader: one scalar, as a number's token or a string's text, into its column.

#include <algorithm>
#include <cmath>
#include <limits>

#include "format/json/binary_text.h"
#include "format/json/json_row_reader.h"
#include "format/json/json_text.h"
#include "format/json/number_text.h"
#include "format/json/temporal_text.h"

namespace frazil::format {

using columnar::TypeId;

namespace {

constexpr size_t kExcerptBytes = 48;

// The start of a value for a message, cut between characters.
std::string excerpt(std::string_view text) {
  if (text.size() <= kExcerptBytes) return json_quote(text);
  size_t end = kExcerptBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return json_quote(text.substr(0, end)) + "...";
}

const char* code_of(NumberFault fault) {
  switch (fault) {
    case NumberFault::kNotIntegral:
      return "NOT_INTEGRAL";
    case NumberFault::kExcessScale:
      return "EXCESS_SCALE";
    default:
      return "OUT_OF_RANGE";
  }
}

const char* text_of(NumberFault fault) {
  switch (fault) {
    case NumberFault::kNotIntegral:
      return " is not a whole number";
    case NumberFault::kExcessScale:
      return " has more digits behind the point than the column's scale";
    default:
      return " is out of the column's range";
  }
}

int power_to_micros(TimestampNumbers numbers) {
  switch (numbers) {
    case TimestampNumbers::kSeconds:
      return 6;
    case TimestampNumbers::kMillis:
      return 3;
    case TimestampNumbers::kNanos:
      return -3;
    default:
      return 0;
  }
}

bool is_number_type(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kFloat || id == TypeId::kDouble ||
         id == TypeId::kDecimal;
}

std::string number_excerpt(std::string_view token) {
  return token.size() <= kExcerptBytes ? std::string(token) : std::string(token.substr(0, kExcerptBytes)) + "...";
}

}  // namespace

Outcome JsonRowReader::convert_number(Node& node, std::string_view token) {
  NumberFault fault = NumberFault::kNone;
  columnar::Column& column = *node.column;
  switch (node.id) {
    case TypeId::kInt:
    case TypeId::kLong:
      return convert_integer(node, token);
    case TypeId::kDouble: {
      double value = 0;
      fault = number_to_double(token, &value);
      if (fault == NumberFault::kNone) column.append_double(value);
      break;
    }
    case TypeId::kFloat: {
      float value = 0;
      fault = number_to_float(token, &value);
      if (fault == NumberFault::kNone) column.append_float(value);
      break;
    }
    case TypeId::kDecimal: {
      __int128 value = 0;
      const columnar::Type& type = node.field->type;
      fault = number_to_decimal(token, type.precision(), type.scale(), options_.decimal_round, &value);
      if (fault == NumberFault::kNone) column.append_decimal(value);
      break;
    }
    case TypeId::kString:
      column.append_bytes(token);
      return Outcome::kTaken;
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return convert_timestamp_number(node, token);
    default:
      return mismatch(node, "a number");
  }
  if (fault == NumberFault::kNone) return Outcome::kTaken;
  return carefully_ ? misfit(code_of(fault), number_excerpt(token) + text_of(fault)) : Outcome::kMisfit;
}

Outcome JsonRowReader::convert_integer(Node& node, std::string_view token) {
  int64_t value = 0;
  const bool is_int = node.id == TypeId::kInt;
  const int64_t lowest = is_int ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  const int64_t highest = is_int ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  const NumberFault fault = number_to_integer(token, lowest, highest, &value);
  if (fault != NumberFault::kNone) {
    return carefully_ ? misfit(code_of(fault), number_excerpt(token) + text_of(fault)) : Outcome::kMisfit;
  }
  if (is_int) {
    node.column->append_int(static_cast<int32_t>(value));
  } else {
    node.column->append_long(value);
  }
  return Outcome::kTaken;
}

Outcome JsonRowReader::convert_timestamp_number(Node& node, std::string_view token) {
  if (options_.timestamp_numbers == TimestampNumbers::kReject)
    return mismatch(node, "a number (timestamp_numbers is not set)");
  int64_t micros = 0;
  const NumberFault fault = number_to_scaled_floor(token, power_to_micros(options_.timestamp_numbers), &micros);
  if (fault != NumberFault::kNone || !is_in_calendar(micros)) {
    return misfit("OUT_OF_RANGE", carefully_ ? number_excerpt(token) + " is not within the years 0001 to 9999" : "");
  }
  node.column->append_long(micros);
  return Outcome::kTaken;
}

Outcome JsonRowReader::convert_text(Node& node, std::string_view text) {
  switch (node.id) {
    case TypeId::kString:
      node.column->append_bytes(text);
      return Outcome::kTaken;
    case TypeId::kFloat:
    case TypeId::kDouble: {
      const Outcome outcome = convert_floating_text(node, text);
      if (outcome == Outcome::kTaken || !options_.coerce_strings) return outcome;
      return convert_scalar_text(node, text);
    }
    case TypeId::kBoolean:
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDecimal:
      if (!options_.coerce_strings) return mismatch(node, carefully_ ? "the string " + excerpt(text) : "");
      return convert_scalar_text(node, text);
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      return mismatch(node, carefully_ ? "the string " + excerpt(text) : "");
    default:
      return convert_scalar_text(node, text);
  }
}

// Text of any scalar type, as map keys have it and coerced strings.
Outcome JsonRowReader::convert_scalar_text(Node& node, std::string_view text) {
  if (is_number_type(node.id)) {
    if (is_json_number(text)) return convert_number(node, text);
    return convert_floating_text(node, text);
  }
  switch (node.id) {
    case TypeId::kBoolean:
      if (text == "true" || text == "false") return read_boolean(node, text == "true");
      return mismatch(node, carefully_ ? "the string " + excerpt(text) : "");
    case TypeId::kDate: {
      const std::optional<int32_t> days = parse_date(text);
      if (!days) return misfit("BAD_DATE", carefully_ ? excerpt(text) + " is no date; 2026-01-31 is one" : "");
      node.column->append_int(*days);
      return Outcome::kTaken;
    }
    case TypeId::kTime: {
      const std::optional<int64_t> micros = parse_time(text);
      if (!micros) return misfit("BAD_TIME", carefully_ ? excerpt(text) + " is no time; 12:34:56.123456 is one" : "");
      node.column->append_long(*micros);
      return Outcome::kTaken;
    }
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return convert_timestamp_text(node, text);
    default:
      return convert_binary_text(node, text);
  }
}

Outcome JsonRowReader::convert_floating_text(Node& node, std::string_view text) {
  const bool is_infinite = text == "Infinity" || text == "-Infinity";
  const bool is_floating = node.id == TypeId::kFloat || node.id == TypeId::kDouble;
  if (!is_floating || (!is_infinite && text != "NaN"))
    return mismatch(node, carefully_ ? "the string " + excerpt(text) : "");
  double value = std::numeric_limits<double>::quiet_NaN();
  if (is_infinite)
    value = text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (node.id == TypeId::kFloat) {
    node.column->append_float(static_cast<float>(value));
  } else {
    node.column->append_double(value);
  }
  return Outcome::kTaken;
}

Outcome JsonRowReader::convert_timestamp_text(Node& node, std::string_view text) {
  const auto bad = [&](const char* why) { return misfit("BAD_TIMESTAMP", carefully_ ? excerpt(text) + why : ""); };
  const std::optional<TimestampText> timestamp = parse_timestamp(text);
  const bool has_zone = node.id == TypeId::kTimestamptz;
  if (!timestamp) {
    return has_zone ? bad(" is no timestamptz; 2026-01-31T12:34:56.123456Z is one") : bad(" is no timestamp; 2026-01-31T12:34:56.123456 is one");
  }
  int64_t micros = timestamp->local_micros;
  if (!has_zone) {
    if (timestamp->offset_seconds) return bad(" has an offset, which a timestamp without zone does not take; 2026-01-31T12:34:56.123456 is one");
  } else {
    const std::optional<int32_t> offset =
        timestamp->offset_seconds ? timestamp->offset_seconds : assumed_offset_seconds_;
    if (!offset) return bad(" has no offset, which a timestamptz needs (or assume_zone); 2026-01-31T12:34:56.123456Z is one");
    micros -= *offset * int64_t{1'000'000};
    if (!is_in_calendar(micros)) {
      return misfit("OUT_OF_RANGE", carefully_ ? excerpt(text) + " is not within the years 0001 to 9999 of UTC" : "");
    }
  }
  node.column->append_long(micros);
  return Outcome::kTaken;
}

Outcome JsonRowReader::convert_binary_text(Node& node, std::string_view text) {
  if (node.id == TypeId::kUuid) {
    char uuid[16];
    if (!parse_uuid(text, uuid)) return misfit("BAD_UUID", carefully_ ? excerpt(text) + " is no UUID; f79c3e09-677c-4bbd-a479-3f349cb785e7 is one" : "");
    node.column->append_bytes({uuid, sizeof(uuid)});
    return Outcome::kTaken;
  }
  if (!decode_base64(text, bytes_)) return misfit("BAD_BASE64", carefully_ ? excerpt(text) + " is not base64" : "");
  const auto length = static_cast<size_t>(node.field->type.length());
  if (node.id == TypeId::kFixed && bytes_.size() != length) {
    if (!carefully_) return Outcome::kMisfit;
    return misfit("WRONG_LENGTH", excerpt(text) + " has " + std::to_string(bytes_.size()) +
                                      " bytes, the column takes " + std::to_string(length));
  }
  node.column->append_bytes(bytes_);
  return Outcome::kTaken;
}

}  // namespace frazil::format
