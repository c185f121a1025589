#include "decoders/json/json_record_decoder.h"

#include <algorithm>

#include "base/log.h"
#include "decoders/column_mapping.h"

namespace frazil::decoders {
namespace {

constexpr int64_t kRowsBetweenMeasures = 32;

std::string place_of(const engine::RawBatch& raw, const engine::RawRecord& record) {
  return raw.stream + "/" + std::to_string(raw.partition) + " offset " + std::to_string(record.offset);
}

class JsonRecordDecoder : public engine::Decoder {
 public:
  JsonRecordDecoder(JsonDecoderConfig config, std::shared_ptr<const columnar::Schema> rows,
                    std::vector<ColumnOrigin> origins, std::unique_ptr<format::JsonDecoder> json)
      : config_(std::move(config)), rows_(std::move(rows)), origins_(std::move(origins)), json_(std::move(json)) {
    for (size_t i = 0; i < origins_.size(); ++i) {
      if (origins_[i].kind != ColumnOrigin::Kind::kField) others_.push_back(i);
    }
  }

  std::shared_ptr<const columnar::Schema> schema() const override { return rows_; }

  base::Result<size_t> decode(const engine::RawBatch& raw, size_t first, size_t last, columnar::Batch& rows,
                              std::vector<engine::Rejected>& rejects, engine::DecodeCounts& counts) override {
    bind(rows);
    size_t next = first;
    int64_t unmeasured = 0;
    for (const int64_t enough = rows.bytes() + kPieceBytes; next < last;) {
      TRY_ASSIGN(const int64_t appended, decode_record(raw, next++, rows, rejects, counts));
      unmeasured += std::max<int64_t>(appended, 1);
      if (unmeasured < kRowsBetweenMeasures) continue;
      if (rows.bytes() >= enough) break;
      unmeasured = 0;
    }
    count(counts);
    return next;
  }

  void note_records(std::vector<size_t>& records) override { records_ = &records; }

 private:
  // Returns how many rows the record gave.
  base::Result<int64_t> decode_record(const engine::RawBatch& raw, size_t index, columnar::Batch& rows,
                                      std::vector<engine::Rejected>& rejects, engine::DecodeCounts& counts) {
    const engine::RawRecord& record = raw.records[index];
    int64_t appended = 0;
    if (!record.has_value) {
      const format::Reject reject{"TOMBSTONE", "the record has no value", ""};
      TRY(refuse(config_.tombstone, reject, raw, index, rejects, counts.tombstones));
    } else if (const auto reject = json_->decode(record.value, &appended)) {
      TRY(refuse(config_.on_reject, *reject, raw, index, rejects, counts.skipped));
    } else {
      counts.empty_arrays += appended == 0 ? 1 : 0;
      fill_others(raw, record, appended, rows);
      if (records_ != nullptr) records_->insert(records_->end(), static_cast<size_t>(appended), index);
    }
    return appended;
  }

  // The columns that the document fills, of this batch.
  void bind(columnar::Batch& rows) {
    document_columns_.clear();
    for (size_t i = 0; i < origins_.size(); ++i) {
      if (origins_[i].kind == ColumnOrigin::Kind::kField) document_columns_.push_back(&rows.columns[i]);
    }
    json_->bind(document_columns_);
  }

  void fill_others(const engine::RawBatch& raw, const engine::RawRecord& record, int64_t appended,
                   columnar::Batch& rows) {
    for (const size_t i : others_) {
      const ColumnOrigin& origin = origins_[i];
      for (int64_t row = 0; row < appended; ++row) {
        if (origin.kind == ColumnOrigin::Kind::kNothing) {
          rows.columns[i].append_null();
        } else {
          append_metadata(origin.metadata, raw, record, static_cast<int32_t>(row), rows.columns[i]);
        }
      }
    }
  }

  // A record that gives no row, by its policy.
  base::Status refuse(RejectPolicy policy, const format::Reject& reject, const engine::RawBatch& raw, size_t index,
                      std::vector<engine::Rejected>& rejects, int64_t& skipped) {
    const engine::RawRecord& record = raw.records[index];
    if (policy == RejectPolicy::kDeadLetter) {
      rejects.push_back({index, reject.code, reject.message, reject.field});
      return {};
    }
    if (policy == RejectPolicy::kHalt) return halt(reject, raw, record);
    ++skipped;
    if (!has_logged_skip_ && reject.code != "TOMBSTONE") {
      has_logged_skip_ = true;
      base::log_warn("record skipped by policy, the first of this lane", {{"pipeline", config_.pipeline},
                                                                          {"at", place_of(raw, record)},
                                                                          {"code", reject.code},
                                                                          {"reason", reject.message}});
    }
    return {};
  }

  base::Error halt(const format::Reject& reject, const engine::RawBatch& raw, const engine::RawRecord& record) const {
    base::Halt halt;
    halt.code = "RECORD_REJECTED";
    halt.range = raw.stream + "/" + std::to_string(raw.partition) + "[" + std::to_string(record.offset) + "," +
                 std::to_string(record.offset + 1) + ")";
    halt.text = "the record at " + place_of(raw, record) + " gives no row: " + reject.code + ": " + reject.message +
                ". Change the schema, or set decode.on_reject (for a record without value: decode.json.tombstone) to "
                "dead_letter "
                "or skip, and run again";
    return base::Error(std::move(halt));
  }

  void count(engine::DecodeCounts& counts) {
    const format::JsonCounters& now = json_->counters();
    counts.unknown_fields += now.unknown_fields - counted_.unknown_fields;
    counts.duplicate_keys += now.duplicate_keys - counted_.duplicate_keys;
    if (counted_.case_mismatches == 0 && now.case_mismatches > 0) {
      base::log_warn(
          "a field matches a column only by case and is ignored; decode.json.case_insensitive: true would take it",
          {{"pipeline", config_.pipeline}, {"field", now.first_case_mismatch}});
    }
    counted_ = now;
  }

  const JsonDecoderConfig config_;
  const std::shared_ptr<const columnar::Schema> rows_;
  const std::vector<ColumnOrigin> origins_;
  const std::unique_ptr<format::JsonDecoder> json_;
  std::vector<size_t> others_;  // columns that the document does not fill
  std::vector<columnar::Column*> document_columns_;
  std::vector<size_t>* records_ = nullptr;  // of rows, where somebody wants to know
  format::JsonCounters counted_;
  bool has_logged_skip_ = false;
};

}  // namespace

base::Result<std::unique_ptr<engine::Decoder>> make_json_decoder(JsonDecoderConfig config,
                                                                 std::shared_ptr<const columnar::Schema> rows) {
  TRY_ASSIGN(std::vector<ColumnOrigin> origins, column_origins(*rows, config.columns));
  auto document = std::make_shared<columnar::Schema>();
  for (size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].kind != ColumnOrigin::Kind::kField) continue;
    document->fields.push_back(rows->fields[i]);
    document->fields.back().name = origins[i].field;
  }
  if (document->fields.empty()) return base::invalid("no column comes from the document");
  TRY_ASSIGN(auto json, format::JsonDecoder::make(document, config.json));
  return std::unique_ptr<engine::Decoder>(
      std::make_unique<JsonRecordDecoder>(std::move(config), std::move(rows), std::move(origins), std::move(json)));
}

}  // namespace frazil::decoders
