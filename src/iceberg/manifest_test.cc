#include "iceberg/manifest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "format/avro/object_file.h"
#include "iceberg/manifest_schema.h"
#include "iceberg/scan.h"
#include "io/memory_file_io.h"

namespace frazil::iceberg {
namespace {

using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;
using EntryStatus = ManifestEntry::Status;

// One column and one identity partition field of each primitive type, then a repeated uuid under an awkward name.
struct AllTypes {
  Schema schema;
  PartitionSpec spec;
  PartitionKey key;

  AllTypes() {
    add("b", Type::primitive(TypeId::kBoolean), Literal(true));
    add("i", Type::primitive(TypeId::kInt), Literal(int32_t{-7}));
    add("l", Type::primitive(TypeId::kLong), Literal(INT64_MIN));
    add("f", Type::primitive(TypeId::kFloat), Literal(1.5F));
    add("d", Type::primitive(TypeId::kDouble), Literal(-0.0));
    add("dec", Type::decimal(9, 2), Literal(__int128{-1420}));
    add("dec38", Type::decimal(38, 10), Literal(static_cast<__int128>(INT64_MAX) * 1'000'000'007));
    add("date", Type::primitive(TypeId::kDate), Literal(int32_t{-1}));
    add("time", Type::primitive(TypeId::kTime), Literal(int64_t{1}));
    add("ts", Type::primitive(TypeId::kTimestamp), Literal(int64_t{-1}));
    add("tstz", Type::primitive(TypeId::kTimestamptz), Literal(int64_t{1512151975038194}));
    add("s", Type::primitive(TypeId::kString), Literal(std::string("ä\0b", 4)));
    add("u", Type::primitive(TypeId::kUuid), Literal(std::string(16, '\x11')));
    add("fix", Type::fixed(4), Literal(std::string("\0\1\2\3", 4)));
    add("bin", Type::primitive(TypeId::kBinary), Literal(std::string("\xff\x00", 2)));
    add("größe 😎", Type::primitive(TypeId::kUuid), Literal(std::string(16, '\x22')));
    add("9 lives", Type::decimal(9, 2), Literal());
  }

  void add(const char* name, Type type, Literal value) {
    const auto at = static_cast<int32_t>(schema.fields.size());
    schema.fields.push_back({at + 1, name, false, std::move(type), ""});
    spec.fields.push_back({at + 1, 1000 + at, name, {}});
    key.push_back(std::move(value));
  }
};

DataFile data_file(std::string path, PartitionKey key, int64_t rows = 10) {
  DataFile file;
  file.file_path = std::move(path);
  file.partition = std::move(key);
  file.record_count = rows;
  file.file_size_in_bytes = rows * 100;
  file.column_sizes = {{1, 50}, {2, 60}};
  file.value_counts = {{1, rows}};
  file.null_value_counts = {{1, 0}, {2, 3}};
  file.nan_value_counts = {{4, 1}};
  file.lower_bounds = {{1, std::string("\x01\x00\x00\x00", 4)}};
  file.upper_bounds = {{1, std::string("\xff\x00\x00\x00", 4)}};
  file.split_offsets = {4, 1000};
  file.sort_order_id = 0;
  return file;
}

void expect_equal(const DataFile& a, const DataFile& b) {
  EXPECT_EQ(a.content, b.content);
  EXPECT_EQ(a.file_path, b.file_path);
  EXPECT_EQ(a.file_format, b.file_format);
  EXPECT_EQ(a.partition, b.partition);
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.file_size_in_bytes, b.file_size_in_bytes);
  EXPECT_EQ(a.column_sizes, b.column_sizes);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.null_value_counts, b.null_value_counts);
  EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
  EXPECT_EQ(a.lower_bounds, b.lower_bounds);
  EXPECT_EQ(a.upper_bounds, b.upper_bounds);
  EXPECT_EQ(a.split_offsets, b.split_offsets);
  EXPECT_EQ(a.equality_ids, b.equality_ids);
  EXPECT_EQ(a.sort_order_id, b.sort_order_id);
  EXPECT_EQ(a.key_metadata, b.key_metadata);
  EXPECT_EQ(a.referenced_data_file, b.referenced_data_file);
}

TEST(Manifest, KeepsPartitionValuesOfEveryTypeInEveryCodec) {
  const AllTypes all;
  for (const char* codec : {"gzip", "zstd", "snappy", "uncompressed"}) {
    const auto io = io::make_memory_file_io();
    const DataFile file = data_file("memory:///a.parquet", all.key);
    const auto written = write_manifest(*io, "memory:///m.avro", all.schema, all.spec, 42, {file}, {codec, {}});
    ASSERT_TRUE(written.ok()) << written.error().message();
    const auto manifest = read_manifest(*io, "memory:///m.avro");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message();
    ASSERT_EQ(manifest->entries.size(), 1U);
    expect_equal(manifest->entries[0].data_file, file);
    EXPECT_EQ(manifest->entries[0].status, EntryStatus::kAdded);
    EXPECT_EQ(manifest->entries[0].snapshot_id, 42);
    EXPECT_FALSE(manifest->entries[0].sequence_number.has_value());
    EXPECT_EQ(written->manifest_length, io->stat("memory:///m.avro")->bytes);
  }
}

TEST(Manifest, WritesPartitionsInTheAvroTypesOfTheSpecification) {
  const AllTypes all;
  const auto schema = format::AvroSchema::parse(manifest_entry_schema(all.spec, partition_types(all.spec, all.schema).value()));
  ASSERT_TRUE(schema.ok()) << schema.error().message();
  const auto& data_file = *schema->root().fields[4].type;
  const auto& partition = *data_file.fields[3].type;
  ASSERT_EQ(partition.name, "r102");
  const auto type = [&](size_t i) -> const format::AvroNode& { return *partition.fields[i].type->branches[1]; };
  EXPECT_EQ(partition.fields[0].field_id, 1000);
  EXPECT_EQ(type(5).type, format::AvroType::kFixed);
  EXPECT_EQ(type(5).logical_type, "decimal");
  EXPECT_EQ(type(5).size, 4);
  EXPECT_EQ(type(6).size, 16);
  EXPECT_EQ(type(7).logical_type, "date");
  EXPECT_EQ(type(8).logical_type, "time-micros");
  EXPECT_EQ(type(9).logical_type, "timestamp-micros");
  EXPECT_FALSE(type(9).adjust_to_utc);
  EXPECT_TRUE(type(10).adjust_to_utc);
  EXPECT_EQ(type(12).type, format::AvroType::kFixed);
  EXPECT_EQ(type(12).logical_type, "uuid");
  EXPECT_EQ(type(13).name, "fixed_4");
  EXPECT_EQ(type(14).type, format::AvroType::kBytes);
  EXPECT_NE(type(12).name, type(15).name);  // no references by name: not every reader follows them
  EXPECT_EQ(partition.fields[15].name, "gr_xF6_xDFe_x20_xD83D_xDE0E");
  EXPECT_EQ(partition.fields[16].name, "_9_x20lives");
}

TEST(Manifest, CarriesEveryIdOfTheSpecification) {
  const AllTypes all;
  const std::string text = manifest_entry_schema(all.spec, partition_types(all.spec, all.schema).value());
  for (const int id : {0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 108, 117, 118, 109, 119, 120, 110, 121, 122, 137, 138, 139, 125,
                       126, 127, 128, 129, 130, 131, 132, 134, 135, 140}) {
    EXPECT_NE(text.find("\"field-id\":" + std::to_string(id) + "}"), std::string::npos) << id;
  }
  EXPECT_NE(text.find("\"element-id\":133"), std::string::npos);
  EXPECT_NE(text.find("\"element-id\":136"), std::string::npos);
  EXPECT_NE(text.find("k117_v118"), std::string::npos);
  for (int id = 500; id <= 519; ++id) {
    const bool is_element = id == 508;
    const std::string attribute = (is_element ? "\"element-id\":" : "\"field-id\":") + std::to_string(id) + "}";
    EXPECT_NE(manifest_list_schema().find(attribute), std::string::npos) << id;
  }
}

TEST(Manifest, TellsItsSpecAndSchemaInTheHeader) {
  const auto io = io::make_memory_file_io();
  const AllTypes all;
  ASSERT_TRUE(write_manifest(*io, "memory:///m.avro", all.schema, all.spec, 42, {}, {}).ok());
  const auto header = read_manifest(*io, "memory:///m.avro")->header;
  EXPECT_EQ(header.at("format-version"), "2");
  EXPECT_EQ(header.at("content"), "data");
  EXPECT_EQ(header.at("partition-spec-id"), "0");
  EXPECT_EQ(header.at("schema-id"), "0");
  EXPECT_NE(header.at("schema").find("größe"), std::string::npos);
  EXPECT_TRUE(header.at("partition-spec").starts_with("[{\"name\":\"b\""));
}

Schema one_column(TypeId id) {
  Schema schema;
  schema.fields = {{1, "x", false, Type::primitive(id), ""}};
  return schema;
}
const PartitionSpec kByX{0, {{1, 1000, "x", {}}}};

TEST(Manifest, SummarisesPartitionsWithoutNaN) {
  const auto io = io::make_memory_file_io();
  const Schema schema = one_column(TypeId::kDouble);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto written = write_manifest(*io, "memory:///m.avro", schema, kByX, 1,
                                      {data_file("a", {Literal(2.0)}), data_file("b", {Literal(nan)}), data_file("c", {Literal()}),
                                       data_file("d", {Literal(-3.0)})}, {}).value();
  ASSERT_EQ(written.partitions.size(), 1U);
  EXPECT_TRUE(written.partitions[0].contains_null);
  EXPECT_EQ(written.partitions[0].contains_nan, true);
  EXPECT_EQ(written.partitions[0].lower_bound, to_binary(schema.fields[0].type, Literal(-3.0)));
  EXPECT_EQ(written.partitions[0].upper_bound, to_binary(schema.fields[0].type, Literal(2.0)));
  EXPECT_EQ(written.added_files_count, 4);
  EXPECT_EQ(written.added_rows_count, 40);
}

TEST(Manifest, WidensPartitionValuesAfterAPromotion) {
  const auto io = io::make_memory_file_io();
  ASSERT_TRUE(write_manifest(*io, "memory:///m.avro", one_column(TypeId::kLong), kByX, 1, {data_file("a", {Literal(int32_t{-5})})}, {}).ok());
  EXPECT_EQ(read_manifest(*io, "memory:///m.avro")->entries[0].data_file.partition[0], Literal(int64_t{-5}));
}

TEST(Manifest, RefusesPartitionsThatDoNotFit) {
  const auto io = io::make_memory_file_io();
  const auto code = [&](PartitionKey key) {
    return write_manifest(*io, "memory:///m.avro", one_column(TypeId::kLong), kByX, 1, {data_file("a", std::move(key))}, {}).error().code();
  };
  EXPECT_EQ(code({}), base::Code::kInvalid);
  EXPECT_EQ(code({Literal(std::string("x"))}), base::Code::kInvalid);
  EXPECT_EQ(code({Literal(int64_t{1}), Literal(int64_t{1})}), base::Code::kInvalid);
}

TEST(Manifest, CountsEntriesByStatusAndBoundsLiveSequenceNumbers) {
  const auto io = io::make_memory_file_io();
  const auto entry = [](EntryStatus status, std::optional<int64_t> sequence) {
    return ManifestEntry{status, 7, sequence, sequence, data_file("f", {Literal(int64_t{1})})};
  };
  const auto written = write_manifest_entries(*io, "memory:///m.avro", one_column(TypeId::kLong), kByX, 9,
                                              {entry(EntryStatus::kAdded, std::nullopt), entry(EntryStatus::kExisting, 5),
                                               entry(EntryStatus::kExisting, 4), entry(EntryStatus::kDeleted, 2)}, {}).value();
  EXPECT_EQ(written.added_files_count, 1);
  EXPECT_EQ(written.existing_files_count, 2);
  EXPECT_EQ(written.deleted_files_count, 1);
  EXPECT_EQ(written.min_sequence_number, 4);
  EXPECT_EQ(written.sequence_number, kUnassignedSequence);
}

TEST(Manifest, NeverMixesDataAndDeletes) {
  const auto io = io::make_memory_file_io();
  DataFile deletes = data_file("d", {Literal(int64_t{1})});
  deletes.content = FileContent::kEqualityDeletes;
  deletes.equality_ids = {1};
  const DataFile data = data_file("a", {Literal(int64_t{1})});
  EXPECT_FALSE(write_manifest(*io, "memory:///m1.avro", one_column(TypeId::kLong), kByX, 9, {data, deletes}, {}).ok());
  const auto written = write_manifest(*io, "memory:///m2.avro", one_column(TypeId::kLong), kByX, 9, {deletes}, {}).value();
  EXPECT_EQ(written.content, 1);
  const auto back = read_manifest(*io, "memory:///m2.avro").value();
  EXPECT_EQ(back.header.at("content"), "deletes");
  expect_equal(back.entries[0].data_file, deletes);
}

// Writers that leave out field ids, wrap in other unions, hold uuids as text and name partitions beyond ASCII.
TEST(Manifest, ReadsForeignShapes) {
  constexpr std::string_view kSchema = R"({"type":"record","name":"e","fields":[
    {"name":"extra","type":{"type":"map","values":["null","string"]}},
    {"name":"status","type":"int"},{"name":"snapshot_id","type":["long","null"]},{"name":"sequence_number","type":["null","long"]},
    {"name":"data_file","type":{"type":"record","name":"d","fields":[
      {"name":"content","type":["null","int"]},{"name":"file_path","type":"string"},
      {"name":"partition","type":{"type":"record","name":"p","fields":[
        {"name":"größe","type":["null",{"type":"string","logicalType":"uuid"}]},
        {"name":"dec","type":["null",{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}]}]}},
      {"name":"record_count","type":"long"}]}}]})";
  format::AvroFileWriter file(kSchema, {{"format-version", "2"}}, format::AvroCodec::kNull, {});
  auto& out = file.record();
  out.write_block(1);
  out.write_bytes("k");
  out.write_branch(1);
  out.write_bytes("v");
  out.write_block(0);
  out.write_long(0);
  out.write_branch(0);
  out.write_long(77);
  out.write_branch(1);
  out.write_long(5);
  out.write_branch(0);
  out.write_bytes("s3://x");
  out.write_branch(1);
  out.write_bytes("11111111-1111-1111-1111-111111111111");
  out.write_branch(1);
  out.write_bytes(std::string("\xfa\x74", 2));
  out.write_long(3);
  ASSERT_TRUE(file.end_record().ok());
  const auto io = io::make_memory_file_io();
  ASSERT_TRUE(io::write_file(*io, "memory:///m.avro", file.finish().value()).ok());
  const auto manifest = read_manifest(*io, "memory:///m.avro");
  ASSERT_TRUE(manifest.ok()) << manifest.error().message();
  const ManifestEntry& entry = manifest->entries.at(0);
  EXPECT_EQ(entry.status, EntryStatus::kExisting);
  EXPECT_EQ(entry.snapshot_id, 77);
  EXPECT_EQ(entry.sequence_number, 5);
  EXPECT_EQ(entry.data_file.file_path, "s3://x");
  EXPECT_EQ(entry.data_file.partition[0], Literal(std::string(16, '\x11')));
  EXPECT_EQ(entry.data_file.partition[1], Literal(__int128{-1420}));
  EXPECT_EQ(entry.data_file.record_count, 3);
}

RC_GTEST_PROP(Manifest, SurvivesAnyChangedByte, ()) {
  const auto io = io::make_memory_file_io();
  const AllTypes all;
  RC_ASSERT(write_manifest(*io, "memory:///m.avro", all.schema, all.spec, 42, {data_file("a", all.key)}, {"uncompressed", {}}).ok());
  std::string bytes = io->read("memory:///m.avro").value();
  bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  RC_ASSERT(io::write_file(*io, "memory:///n.avro", bytes).ok());
  const auto read = read_manifest(*io, "memory:///n.avro");
  if (!read.ok()) {
    RC_ASSERT(read.error().code() == base::Code::kCorrupt || read.error().code() == base::Code::kUnsupported);
    RC_ASSERT(read.error().message().find("memory:///n.avro") != std::string::npos);
  }
}

ManifestFile listed(const char* path, int64_t snapshot_id) {
  ManifestFile manifest;
  manifest.manifest_path = path;
  manifest.manifest_length = 1234;
  manifest.partition_spec_id = 3;
  manifest.sequence_number = kUnassignedSequence;
  manifest.min_sequence_number = kUnassignedSequence;
  manifest.added_snapshot_id = snapshot_id;
  manifest.added_files_count = 1;
  manifest.existing_files_count = 2;
  manifest.deleted_files_count = 3;
  manifest.added_rows_count = 10;
  manifest.existing_rows_count = 20;
  manifest.deleted_rows_count = 30;
  manifest.partitions = {{true, false, "a", "b"}, {false, std::nullopt, std::nullopt, std::nullopt}};
  return manifest;
}

TEST(ManifestList, AssignsSequenceNumbersToItsOwnManifests) {
  const auto io = io::make_memory_file_io();
  ManifestFile earlier = listed("memory:///old.avro", 1);
  earlier.sequence_number = 4;
  earlier.min_sequence_number = 0;
  earlier.content = 1;
  earlier.key_metadata = "key";
  const auto length = write_manifest_list(*io, "memory:///l.avro", 9, 8, 5, {listed("memory:///new.avro", 9), earlier},
                                          {{"frazil.positions", "{}"}}, {});
  ASSERT_TRUE(length.ok()) << length.error().message();
  EXPECT_EQ(*length, io->stat("memory:///l.avro")->bytes);
  const auto list = read_manifest_list(*io, "memory:///l.avro").value();
  ASSERT_EQ(list.manifests.size(), 2U);
  const ManifestFile& added = list.manifests[0];
  EXPECT_EQ(added.sequence_number, 5);
  EXPECT_EQ(added.min_sequence_number, 5);
  EXPECT_EQ(added.partition_spec_id, 3);
  EXPECT_EQ(added.deleted_rows_count, 30);
  EXPECT_EQ(added.partitions[0].lower_bound, "a");
  EXPECT_EQ(added.partitions[0].contains_nan, false);
  EXPECT_FALSE(added.partitions[1].contains_nan.has_value());
  EXPECT_EQ(list.manifests[1].sequence_number, 4);
  EXPECT_EQ(list.manifests[1].min_sequence_number, 0);
  EXPECT_EQ(list.manifests[1].content, 1);
  EXPECT_EQ(list.manifests[1].key_metadata, "key");
  EXPECT_EQ(list.header.at("frazil.positions"), "{}");
  EXPECT_EQ(list.header.at("snapshot-id"), "9");
  EXPECT_EQ(list.header.at("parent-snapshot-id"), "8");
  EXPECT_EQ(list.header.at("sequence-number"), "5");
}

TEST(ManifestList, RefusesNumberlessManifestsOfOthers) {
  const auto io = io::make_memory_file_io();
  EXPECT_EQ(write_manifest_list(*io, "memory:///l.avro", 9, 8, 5, {listed("memory:///x.avro", 7)}, {}, {}).error().code(),
            base::Code::kInvalid);
}

TEST(Inheritance, FillsNewEntriesAndRefusesOldOnesWithoutNumbers) {
  ManifestFile manifest = listed("m", 9);
  manifest.sequence_number = 6;
  ManifestEntry added;
  ASSERT_TRUE(inherit(added, manifest).ok());
  EXPECT_EQ(added.snapshot_id, 9);
  EXPECT_EQ(added.sequence_number, 6);
  EXPECT_EQ(added.file_sequence_number, 6);
  ManifestEntry existing;
  existing.status = EntryStatus::kExisting;
  EXPECT_EQ(inherit(existing, manifest).error().code(), base::Code::kCorrupt);
  manifest.sequence_number = 0;
  ManifestEntry ancient = ManifestEntry{EntryStatus::kExisting, {}, {}, {}, {}};
  ASSERT_TRUE(inherit(ancient, manifest).ok());
  EXPECT_EQ(ancient.sequence_number, 0);
}

}  // namespace
}  // namespace frazil::iceberg
