#include "app/config/option_value.h"

#include <algorithm>

#include "app/config/nearest_name.h"
#include "app/config/references.h"
#include "app/config/schema_source.h"
#include "app/config/units.h"
#include "base/utf8.h"

namespace frazil::app {
namespace {

std::string words(const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  }
  return text;
}

bool contains(const std::vector<std::string>& values, const std::string& word) {
  return std::find(values.begin(), values.end(), word) != values.end();
}

// One option's value on its way; keeps the arguments together that every step needs.
class ValueReader {
 public:
  ValueReader(const Option& option, const ValueContext& context) : option_(option), context_(context) {}

  std::optional<OptionValue> read(const Node& node) {
    OptionValue value;
    value.node = &node;
    const bool is_read = option_.kind == OptionKind::kTextList     ? read_list(node, value)
                         : option_.kind == OptionKind::kProperties ? read_properties(node, value)
                         : option_.kind == OptionKind::kStart      ? read_start(node, value)
                         : option_.kind == OptionKind::kSchema     ? read_schema(node, value)
                                                                   : read_scalar(node, value);
    if (!is_read) return std::nullopt;
    return value;
  }

 private:
  bool fail(const Mark& mark, std::string text) {
    context_.problems.error(mark, std::move(text));
    return false;
  }
  bool wrong_type(const Node& node, std::string_view wanted) {
    return fail(node.mark,
                "\"" + option_.path + "\" must be " + std::string(wanted) + ", not " + std::string(node.kind_name()));
  }

  // The text of a scalar with its references resolved. False: a problem, or a value that is not known here.
  bool resolve(const Node& node, const std::string& what, bool is_secret, std::string* text) {
    const auto resolved = resolve_references(node.scalar, context_.folder);
    if (!resolved.ok()) return fail(node.mark, "\"" + what + "\": " + resolved.error().message());
    if (is_secret && !is_all_by_reference(*resolved, what)) {
      return fail(node.mark, "\"" + what + "\" is a secret: give it" + (resolved->has_reference ? " whole" : "") +
                                 " as ${env:NAME} or ${file:/path}, never inline");
    }
    for (const std::string& missing : resolved->missing) {
      if (context_.missing == MissingReference::kError) {
        fail(node.mark, "\"" + what + "\": " + missing);
      } else {
        context_.problems.warning(node.mark, "\"" + what + "\": " + missing + " here");
      }
    }
    if (!is_secret && !base::is_valid_utf8(resolved->text)) return fail(node.mark, "\"" + what + "\" is not UTF-8");
    *text = resolved->text;
    return resolved->missing.empty();
  }

  bool read_scalar(const Node& node, OptionValue& value) {
    if (node.kind != Node::Kind::kScalar || node.is_empty) return wrong_type(node, form());
    if (!resolve(node, option_.path, option_.is_secret, &value.text)) return false;
    // What came by reference is not repeated in messages.
    const bool is_reference = value.text != node.scalar;
    const std::string shown = is_reference ? node.scalar : value.text;
    if (contains(option_.values, value.text)) return true;
    const base::Status status = convert(value);
    if (status.ok()) return true;
    return fail(node.mark,
                "\"" + option_.path +
                    "\": " + (is_reference ? "the value of " + shown + " is not " + form() : status.error().message()));
  }

  base::Status convert(OptionValue& value) {
    switch (option_.kind) {
      case OptionKind::kBoolean:
        if (value.text != "true" && value.text != "false")
          return base::invalid("\"" + value.text + "\" is not true or false");
        value.boolean = value.text == "true";
        return {};
      case OptionKind::kChoice:
        return base::invalid("\"" + value.text + "\" is not one of " + words(option_.values) + ", nearest is \"" +
                             nearest_name(value.text, option_.values) + "\"");
      case OptionKind::kInteger:
        return convert_number(value, parse_integer(value.text));
      case OptionKind::kDuration:
        return convert_number(value, parse_duration_ms(value.text));
      case OptionKind::kSize:
        return convert_number(value, parse_size(value.text));
      default:
        return value.text.empty() ? base::Status(base::invalid("must not be empty")) : base::Status();
    }
  }
  base::Status convert_number(OptionValue& value, const base::Result<int64_t>& number) {
    if (!number.ok()) {
      if (option_.values.empty()) return number.error();
      return base::invalid(number.error().message() + ", or the word " + words(option_.values));
    }
    value.number = *number;
    if (*number < option_.minimum) return base::invalid(value.text + " is below the least, " + bound(option_.minimum));
    if (*number > option_.maximum) return base::invalid(value.text + " is above the most, " + bound(option_.maximum));
    return {};
  }
  std::string bound(int64_t number) const {
    if (option_.kind == OptionKind::kSize) return format_size(static_cast<double>(number));
    if (option_.kind == OptionKind::kDuration) return format_seconds(static_cast<double>(number) / 1000);
    return std::to_string(number);
  }
  std::string form() const {
    switch (option_.kind) {
      case OptionKind::kBoolean:
        return "true or false";
      case OptionKind::kInteger:
        return "an integer";
      case OptionKind::kDuration:
        return "a duration such as 5s";
      case OptionKind::kSize:
        return "a size such as 128MB";
      case OptionKind::kChoice:
        return "one of " + words(option_.values);
      default:
        return "a text";
    }
  }

  bool read_list(const Node& node, OptionValue& value) {
    const bool is_one = option_.takes_one_text && node.kind == Node::Kind::kScalar && !node.is_empty;
    if (node.kind != Node::Kind::kList && !is_one) return wrong_type(node, option_.takes_one_text ? "a text or a list" : "a list");
    bool is_good = true;
    for (const Node& item : is_one ? std::vector<Node>{node} : node.items) {
      std::string text;
      if (item.kind != Node::Kind::kScalar || item.is_empty) {
        is_good = fail(item.mark,
                       "\"" + option_.path + "\" must be a list of texts, here is " + std::string(item.kind_name()));
      } else if (resolve(item, option_.path, false, &text)) {
        value.list.push_back(text);
      } else {
        is_good = false;
      }
    }
    return is_good;
  }

  bool read_properties(const Node& node, OptionValue& value) {
    if (node.is_empty) return true;
    if (node.kind != Node::Kind::kMap) return wrong_type(node, "a map");
    bool is_good = true;
    for (const Entry& entry : node.entries) {
      const std::string what = option_.path + "." + entry.key;
      std::string text;
      if (entry.value.kind != Node::Kind::kScalar || entry.value.is_empty) {
        is_good =
            fail(entry.value.mark, "\"" + what + "\" must be a text, not " + std::string(entry.value.kind_name()));
      } else if (!resolve(entry.value, what, option_.is_secret_property && option_.is_secret_property(entry.key), &text)) {
        is_good = false;
      } else if (const auto status = option_.check_property ? option_.check_property(entry.key, text) : base::Status();
                 !status.ok()) {
        // What came by reference is not repeated in messages, unless they are about the name alone.
        const auto bare = option_.check_property(entry.key, "");
        const bool is_harmless = text == entry.value.scalar || (!bare.ok() && bare.error().message() == status.error().message());
        is_good = fail(entry.mark, is_harmless ? status.error().message()
                                                              : "\"" + what + "\": this value is refused");
      } else {
        value.properties[entry.key] = text;
      }
    }
    return is_good;
  }

  bool read_start(const Node& node, OptionValue& value) {
    using Mode = StartConfig::Mode;
    constexpr std::string_view kForm =
        "earliest, latest, group, {timestamp: ...} or {offsets: {topic: {partition: offset}}}";
    if (node.kind == Node::Kind::kScalar && contains(option_.values, node.scalar)) {
      value.text = node.scalar;
      value.start.mode = node.scalar == "latest"  ? Mode::kLatest
                         : node.scalar == "group" ? Mode::kGroup
                                                  : Mode::kEarliest;
      return true;
    }
    if (node.kind != Node::Kind::kMap || node.entries.size() != 1) {
      return fail(node.mark, "\"" + option_.path + "\" must be " + std::string(kForm));
    }
    const Entry& entry = node.entries.front();
    if (entry.key == "timestamp") return read_timestamp(entry.value, value);
    if (entry.key == "offsets") return read_offsets(entry.value, value);
    return fail(entry.mark, "unknown key \"" + entry.key + "\" in \"" + option_.path + "\", nearest known key \"" +
                                nearest_name(entry.key, {"timestamp", "offsets"}) + "\"");
  }
  bool read_timestamp(const Node& node, OptionValue& value) {
    const auto instant = parse_instant_ms(node.scalar);
    if (!instant.ok()) return fail(node.mark, "\"" + option_.path + ".timestamp\": " + instant.error().message());
    if (*instant < 0) return fail(node.mark, "\"" + option_.path + ".timestamp\": Kafka's timestamps begin at 1970-01-01T00:00:00Z; for everything write earliest");
    value.start.mode = StartConfig::Mode::kTimestamp;
    value.start.timestamp_ms = *instant;
    return true;
  }
  bool read_offsets(const Node& node, OptionValue& value) {
    value.start.mode = StartConfig::Mode::kOffsets;
    if (node.kind != Node::Kind::kMap)
      return fail(node.mark, "\"" + option_.path + ".offsets\" must be {topic: {partition: offset}}");
    bool is_good = true;
    for (const Entry& topic : node.entries) {
      if (topic.value.kind != Node::Kind::kMap) {
        is_good =
            fail(topic.value.mark, "\"" + option_.path + ".offsets." + topic.key + "\" must be {partition: offset}");
      }
      for (const Entry& entry : topic.value.entries) {
        const auto partition = parse_integer(entry.key);
        const auto offset = parse_integer(entry.value.scalar);
        if (!partition.ok() || *partition < 0 || *partition > INT32_MAX) {
          is_good = fail(entry.mark, "\"" + entry.key + "\" is not the number of a partition");
        } else if (!offset.ok() || *offset < 0) {
          is_good = fail(entry.value.mark, "the offset of partition " + entry.key + " must be an integer of 0 or more");
        } else {
          value.start.offsets[topic.key][static_cast<int32_t>(*partition)] = *offset;
        }
      }
    }
    return is_good;
  }

  bool read_schema(const Node& node, OptionValue& value) {
    if (node.kind == Node::Kind::kList) {
      value.schema = schema_from_columns(node, context_.problems);
      return value.schema.has_value();
    }
    if (node.kind != Node::Kind::kScalar || node.is_empty)
      return wrong_type(node, "a path, from_table or a list of columns");
    if (!resolve(node, option_.path, false, &value.text)) return false;
    if (contains(option_.values, value.text)) return true;
    const bool is_absolute = value.text.starts_with('/');
    auto schema = schema_from_avro_file(is_absolute ? value.text : context_.folder + "/" + value.text, &value.timestamps);
    if (!schema.ok()) return fail(node.mark, schema.error().message());
    value.schema = std::move(schema).value();
    return true;
  }

  const Option& option_;
  const ValueContext& context_;
};

}  // namespace

std::optional<OptionValue> read_option_value(const Option& option, const Node& node, const ValueContext& context) {
  return ValueReader(option, context).read(node);
}

}  // namespace frazil::app
