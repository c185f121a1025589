#include "format/avro/object_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil::format {
namespace {

constexpr std::string_view kSchema =
    R"({"type":"record","name":"r","fields":[{"name":"id","type":"long","field-id":1},{"name":"text","type":["null","string"],"field-id":2}]})";

struct Row {
  int64_t id = 0;
  std::optional<std::string> text;
  bool operator==(const Row&) const = default;
};

std::string write_rows(const std::vector<Row>& rows, AvroCodec codec) {
  AvroFileWriter writer(kSchema, {{"owner", "frazil"}}, codec, std::nullopt);
  for (const Row& row : rows) {
    writer.record().write_long(row.id);
    writer.record().write_branch(row.text ? 1 : 0);
    if (row.text) writer.record().write_bytes(*row.text);
    EXPECT_TRUE(writer.end_record().ok());
  }
  return writer.finish().value();
}

base::Result<std::vector<Row>> read_rows(std::string_view bytes) {
  TRY_ASSIGN(AvroFileReader reader, AvroFileReader::open(bytes));
  std::vector<Row> rows;
  while (true) {
    TRY_ASSIGN(auto block, reader.next_block());
    if (!block) return rows;
    AvroDecoder decoder(block->payload);
    for (int64_t i = 0; i < block->records; ++i) {
      Row row;
      row.id = decoder.read_long();
      if (decoder.read_branch(2) == 1) row.text = decoder.read_bytes();
      TRY(decoder.status());
      rows.push_back(row);
    }
  }
}

RC_GTEST_PROP(AvroFile, ReadsBackWhatItWroteInEveryCodec, ()) {
  const auto ids = *rc::gen::arbitrary<std::vector<std::pair<int64_t, std::string>>>();
  std::vector<Row> rows;
  for (const auto& [id, text] : ids) rows.push_back({id, id % 3 == 0 ? std::nullopt : std::optional(text)});
  for (const AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate, AvroCodec::kZstandard, AvroCodec::kSnappy}) {
    RC_ASSERT(read_rows(write_rows(rows, codec)).value() == rows);
  }
}

TEST(AvroFile, SplitsManyRecordsIntoBlocks) {
  std::vector<Row> rows;
  for (int64_t i = 0; i < 20'000; ++i) rows.push_back({i, "some text that fills blocks"});
  const std::string bytes = write_rows(rows, AvroCodec::kNull);
  auto reader = AvroFileReader::open(bytes).value();
  const auto first = reader.next_block().value();
  ASSERT_TRUE(first.has_value());
  EXPECT_LT(first->records, 20'000);
  EXPECT_EQ(read_rows(bytes).value(), rows);
}

TEST(AvroFile, KeepsHeaderKeys) {
  const std::string bytes = write_rows({{1, "a"}}, AvroCodec::kZstandard);
  const auto reader = AvroFileReader::open(bytes).value();
  EXPECT_EQ(reader.metadata().at("owner"), "frazil");
  EXPECT_EQ(reader.metadata().at("avro.codec"), "zstandard");
  EXPECT_EQ(reader.schema().root().fields[1].field_id, 2);
}

TEST(AvroFile, RefusesEveryTruncationAfterTheHeader) {
  for (const AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate, AvroCodec::kZstandard, AvroCodec::kSnappy}) {
    const std::string bytes = write_rows({{1, "abc"}, {2, std::nullopt}}, codec);
    const std::string empty = write_rows({}, codec);
    for (size_t length = 0; length < bytes.size(); ++length) {
      if (length == empty.size()) continue;  // a file without blocks is whole
      EXPECT_FALSE(read_rows(std::string_view(bytes).substr(0, length)).ok()) << length;
    }
  }
}

TEST(AvroFile, NoticesADamagedByteInASnappyBlock) {
  std::string bytes = write_rows({{1, "abcdefghijklmnopqrstuvwxyz"}}, AvroCodec::kSnappy);
  bytes[bytes.size() - 16 - 4 - 3] ^= 1;
  const auto rows = read_rows(bytes);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code(), base::Code::kCorrupt);
}

RC_GTEST_PROP(AvroFile, SurvivesAnyChangedByte, ()) {
  std::string bytes = write_rows({{1, "abc"}, {-5, std::nullopt}}, AvroCodec::kDeflate);
  const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
  bytes[at] = *rc::gen::arbitrary<char>();
  const auto rows = read_rows(bytes);
  if (!rows.ok()) {
    RC_ASSERT(rows.error().code() == base::Code::kCorrupt || rows.error().code() == base::Code::kUnsupported);
  }
}

TEST(AvroCompression, BoundsWhatHostileInputExpandsTo) {
  const std::string zeros(1 << 20, '\0');
  for (const AvroCodec codec : {AvroCodec::kDeflate, AvroCodec::kZstandard, AvroCodec::kSnappy}) {
    const std::string packed = avro_compress(codec, std::nullopt, zeros).value();
    EXPECT_EQ(avro_decompress(codec, packed, 1 << 20).value(), zeros);
    EXPECT_EQ(avro_decompress(codec, packed, 1000).error().code(), base::Code::kCorrupt);
  }
  EXPECT_EQ(gzip_decompress(gzip_compress(zeros), 1 << 20).value(), zeros);
  EXPECT_TRUE(is_gzip(gzip_compress("")));
}

TEST(AvroCompression, KnowsTheNamesOfAvroAndIceberg) {
  EXPECT_EQ(avro_codec_named("GZIP").value(), AvroCodec::kDeflate);
  EXPECT_EQ(avro_codec_named("zstd").value(), AvroCodec::kZstandard);
  EXPECT_EQ(avro_codec_named("uncompressed").value(), AvroCodec::kNull);
  EXPECT_EQ(avro_codec_named("lzo").error().code(), base::Code::kUnsupported);
}

}  // namespace
}  // namespace frazil::format
