#include "format/json/json_decoder.h"

#include <simdjson.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "format/json/json_cursor.h"
#include "format/json/json_index.h"
#include "format/json/json_row_reader.h"
#include "format/json/json_text.h"
#include "format/json/temporal_text.h"

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::Field;
using columnar::TypeId;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Deeper ones would exhaust the stack of a lane.
constexpr int kMaxDepthLimit = 1024;

base::Result<std::optional<int32_t>> zone_offset(const std::string& zone) {
  if (zone.empty()) return std::optional<int32_t>();
  if (zone == "UTC" || zone == "GMT" || zone == "Etc/UTC") return std::optional<int32_t>(0);
  if (const auto offset = parse_offset(zone)) return offset;
  return base::unsupported("assume_zone '" + zone +
                           "': give an offset such as +02:00, or Z; zones by name are not supported");
}

// Names as they compare when case does not matter.
std::string without_case(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return name;
}

base::Status check_names(const std::vector<Field>& fields, const JsonOptions& options) {
  std::unordered_map<std::string, std::string> names;
  for (const Field& field : fields) {
    const auto [found, is_new] =
        names.emplace(options.case_insensitive ? without_case(field.name) : field.name, field.name);
    if (!is_new)
      return base::invalid("columns '" + found->second + "' and '" + field.name + "' have the same name in JSON");
  }
  return {};
}

base::Status check_fields(const std::vector<Field>& fields, const JsonOptions& options) {
  TRY(check_names(fields, options));
  for (const Field& field : fields) {
    const auto& children = field.type.fields();
    if (field.type.id() == TypeId::kMap && children[0].type.is_nested()) {
      return base::unsupported("column '" + field.name + "': JSON cannot hold a map whose key is " +
                               children[0].type.name());
    }
    TRY(check_fields(children, options).in("column '" + field.name + "'"));
  }
  return {};
}

size_t first_bad_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t size = utf8_character_size(text.substr(at));
    if (size == 0) break;
    at += size;
  }
  return at;
}

Reject document_reject(const char* code, std::string message) {
  return {code, std::move(message), ""};
}

Reject broken(const JsonCursor& cursor) {
  const bool is_deep = cursor.fault() == JsonCursor::Fault::kTooDeep;
  return document_reject(is_deep ? "TOO_DEEP" : "NOT_JSON", cursor.describe_fault());
}

JsonKernel kernel_of(JsonPath path) {
  if (path == JsonPath::kFastest) return best_kernel();
  if (path == JsonPath::kAvx512) return JsonKernel::kAvx512;
  return path == JsonPath::kAvx2 ? JsonKernel::kAvx2 : JsonKernel::kPlain;
}

}  // namespace

bool has_path(JsonPath path) {
  return path == JsonPath::kReference || has_kernel(kernel_of(path));
}

class JsonDecoder::Impl {
 public:
  Impl(std::shared_ptr<const columnar::Schema> schema, JsonOptions options, std::optional<int32_t> offset_seconds)
      : schema_(std::move(schema)), options_(std::move(options)), reader_(*schema_, options_, offset_seconds) {
    if (options_.path != JsonPath::kReference) index_.emplace(kernel_of(options_.path));
  }

  void bind(std::span<Column* const> columns) {
    columns_.assign(columns.begin(), columns.end());
    reader_.bind(columns);
  }

  std::optional<Reject> decode(std::string_view document, int64_t* rows_appended) {
    *rows_appended = 0;
    if (document.starts_with(kByteOrderMark)) document.remove_prefix(kByteOrderMark.size());
    if (auto reject = check_size(static_cast<int64_t>(document.size()))) return reject;
    document_ = index_ ? index_->load(document) : document;
    if (auto reject = check_utf8()) return reject;
    first_row_ = columns_.empty() ? 0 : columns_[0]->length();
    tally_before_ = reader_.tally();
    Outcome outcome = read_document(false);
    if (outcome == Outcome::kDuplicate || outcome == Outcome::kRefused) {
      undo();
      outcome = read_document(true);
    }
    if (outcome != Outcome::kTaken) return rejected(outcome);
    *rows_appended = rows_;
    counters_.rows += rows_;
    publish_tally();
    return std::nullopt;
  }

  const JsonCounters& counters() const { return counters_; }

 private:
  std::optional<Reject> check_size(int64_t size) const {
    if (size == 0) return document_reject("EMPTY", "the value is empty");
    if (size > options_.max_document_bytes) {
      return document_reject("TOO_LARGE", "the document has " + std::to_string(size) +
                                              " bytes, more than max_document_bytes (" +
                                              std::to_string(options_.max_document_bytes) + ")");
    }
    return std::nullopt;
  }

  std::optional<Reject> check_utf8() const {
    if (index_ && !index_->has_non_ascii()) return std::nullopt;
    if (simdjson::validate_utf8(document_.data(), document_.size())) return std::nullopt;
    return document_reject("BAD_UTF8", "invalid UTF-8 at byte " + std::to_string(first_bad_utf8(document_)));
  }

  Outcome read_document(bool carefully) {
    rows_ = 0;
    start_cursor();
    reader_.start_document(static_cast<int64_t>(document_.size()));
    document_fault_ = nullptr;
    Outcome outcome = Outcome::kTaken;
    const char first = cursor_.peek();
    if (first == '{') {
      outcome = read_row(carefully);
    } else if (first == '[' && options_.explode_top_level_array) {
      outcome = read_rows(carefully);
    } else {
      document_fault_ = first == '[' ? "TOP_LEVEL_ARRAY" : "NOT_AN_OBJECT";
      outcome = cursor_.skip_value() ? Outcome::kTaken : Outcome::kBroken;
    }
    if (outcome == Outcome::kTaken && !cursor_.expect_end()) return Outcome::kBroken;
    if (outcome == Outcome::kTaken && document_fault_ != nullptr) return Outcome::kRefused;
    return outcome;
  }

  Outcome read_row(bool carefully) {
    ++rows_;
    return reader_.read_row(cursor_, carefully);
  }

  Outcome read_rows(bool carefully) {
    if (!cursor_.enter()) return Outcome::kBroken;
    if (cursor_.peek() != ']') {
      do {
        if (cursor_.peek() != '{') {
          document_fault_ = "NOT_AN_OBJECT";
          return cursor_.skip_value() ? Outcome::kRefused : Outcome::kBroken;
        }
        if (!reader_.has_room_for_entry()) {
          document_fault_ = "ROWS_TOO_LARGE";
          return Outcome::kRefused;
        }
        const Outcome outcome = read_row(carefully);
        if (outcome != Outcome::kTaken) return outcome;
      } while (cursor_.take(','));
    }
    return cursor_.leave(']') ? Outcome::kTaken : Outcome::kBroken;
  }

  void start_cursor() { cursor_.start(document_, options_.max_depth, index_ ? &*index_ : nullptr); }

  void undo() {
    for (Column* column : columns_) column->truncate(first_row_);
    reader_.tally() = tally_before_;
    if (tally_before_.case_mismatches == 0) reader_.first_case_mismatch().clear();
  }

  // That the document is no JSON at all comes before what is wrong with one of its values.
  Reject rejected(Outcome outcome) {
    undo();
    if (outcome == Outcome::kBroken) return broken(cursor_);
    CHECK(outcome == Outcome::kRefused);
    start_cursor();
    if (!cursor_.skip_value() || !cursor_.expect_end()) return broken(cursor_);
    if (document_fault_ == nullptr) return reader_.take_reject();
    return document_reject(document_fault_, describe_document_fault());
  }

  std::string describe_document_fault() const {
    const std::string_view code = document_fault_;
    if (code == "ROWS_TOO_LARGE") return reader_.describe_lack_of_room();
    if (code == "TOP_LEVEL_ARRAY") return "the document is an array, which top_level_array: reject refuses";
    return "the document is neither an object nor an array of objects";
  }

  void publish_tally() {
    const JsonTally& tally = reader_.tally();
    counters_.unknown_fields = tally.unknown_fields;
    counters_.duplicate_keys = tally.duplicate_keys;
    counters_.bad_fields_nulled = tally.bad_fields_nulled;
    if (counters_.case_mismatches == 0 && tally.case_mismatches != 0) {
      counters_.first_case_mismatch = reader_.first_case_mismatch();
    }
    counters_.case_mismatches = tally.case_mismatches;
  }

  std::shared_ptr<const columnar::Schema> schema_;
  JsonOptions options_;
  JsonRowReader reader_;
  JsonCounters counters_;
  JsonCursor cursor_;
  std::optional<JsonIndex> index_;  // of the fast paths
  std::vector<Column*> columns_;
  // Of the document at hand:
  std::string_view document_;
  int64_t first_row_ = 0;
  int64_t rows_ = 0;
  JsonTally tally_before_;
  const char* document_fault_ = nullptr;  // code, when it is no object
};

JsonDecoder::JsonDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDecoder::~JsonDecoder() = default;

base::Result<std::unique_ptr<JsonDecoder>> JsonDecoder::make(std::shared_ptr<const columnar::Schema> schema,
                                                             JsonOptions options) {
  TRY_ASSIGN(const std::optional<int32_t> offset_seconds, zone_offset(options.assume_zone));
  if (options.max_document_bytes < 1) return base::invalid("max_document_bytes must be positive");
  if (options.max_decoded_bytes < 1) return base::invalid("max_decoded_bytes must be positive");
  if (options.max_depth < 1 || options.max_depth > kMaxDepthLimit) {
    return base::invalid("the depth of JSON must be limited to 1 to " + std::to_string(kMaxDepthLimit) + " levels");
  }
  if (!has_path(options.path)) return base::invalid("this processor lacks the instructions that reading JSON was asked to use");
  TRY(check_fields(schema->fields, options));
  auto impl = std::make_unique<Impl>(std::move(schema), std::move(options), offset_seconds);
  return std::unique_ptr<JsonDecoder>(new JsonDecoder(std::move(impl)));
}

std::optional<Reject> JsonDecoder::decode(std::string_view document, std::span<Column* const> columns,
                                          int64_t* rows_appended) {
  impl_->bind(columns);
  return impl_->decode(document, rows_appended);
}

void JsonDecoder::bind(std::span<Column* const> columns) {
  impl_->bind(columns);
}

std::optional<Reject> JsonDecoder::decode(std::string_view document, int64_t* rows_appended) {
  return impl_->decode(document, rows_appended);
}

const JsonCounters& JsonDecoder::counters() const {
  return impl_->counters();
}

}  // namespace frazil::format
