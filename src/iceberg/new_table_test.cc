#include "iceberg/new_table.h"

#include <gtest/gtest.h>

#include "iceberg/metadata_file.h"
#include "iceberg/table_metadata_json.h"
#include "iceberg/table_properties.h"
#include "io/memory_file_io.h"

namespace frazil::iceberg {
namespace {

using columnar::Type;
using columnar::TypeId;

CreateTable request() {
  CreateTable create;
  create.schema.schema_id = 7;
  create.schema.fields = {
      {10, "id", true, Type::primitive(TypeId::kLong), ""},
      {20, "shipping", false, Type::structure({{30, "days", false, Type::primitive(TypeId::kInt), ""}}), ""},
      {40, "ts", false, Type::primitive(TypeId::kTimestamptz), ""},
  };
  create.schema.identifier_field_ids = {10};
  create.spec = parse_partition_spec({"bucket(4, id)", "shipping.days", "day(ts)"}, create.schema).value();
  create.sort_order = {0, {{40, {}, true, true}}};
  create.properties = {{"format-version", "2"}, {"write.parquet.compression-codec", "zstd"}};
  return create;
}

TEST(NewTable, AssignsFreshIdsEverywhere) {
  const auto made = new_table_metadata(request(), "file:///w/t/", 1000);
  ASSERT_TRUE(made.ok()) << made.error().message();
  const TableMetadata& table = *made;
  EXPECT_EQ(table.location, "file:///w/t");
  EXPECT_EQ(table.current_schema()->schema_id, 0);
  EXPECT_EQ(table.current_schema()->find("id")->id, 1);
  EXPECT_EQ(table.current_schema()->find("ts")->id, 3);
  EXPECT_EQ(table.current_schema()->identifier_field_ids, (std::vector<int32_t>{1}));
  EXPECT_EQ(table.last_column_id, 4);
  EXPECT_EQ(table.default_spec().fields[0].source_id, 1);
  EXPECT_EQ(table.default_spec().fields[1].source_id, 4);
  EXPECT_EQ(table.default_spec().fields[2].source_id, 3);
  EXPECT_EQ(table.default_spec().fields[2].field_id, 1002);
  EXPECT_EQ(table.last_partition_id, 1002);
  EXPECT_EQ(table.sort_orders[0].fields[0].source_id, 3);
  EXPECT_EQ(table.default_sort_order_id, 1);
  EXPECT_EQ(table.properties, (Properties{{"write.parquet.compression-codec", "zstd"}}));
  EXPECT_EQ(table.last_updated_ms, 1000);
  EXPECT_EQ(table.table_uuid.size(), 36U);
}

TEST(NewTable, WithoutPartitionsStartsBelowOneThousand) {
  CreateTable plain = request();
  plain.spec = {};
  plain.sort_order = {};
  const auto table = new_table_metadata(plain, "file:///w/t", 1).value();
  EXPECT_EQ(table.last_partition_id, 999);
  EXPECT_EQ(table.default_sort_order_id, 0);
  EXPECT_EQ(table.sort_orders.size(), 1U);
}

TEST(NewTable, RefusesWhatCannotBe) {
  const auto code = [](const CreateTable& create) {
    const auto made = new_table_metadata(create, "file:///w/t", 1);
    return made.ok() ? base::Code::kBug : made.error().code();
  };
  CreateTable create = request();
  create.properties["format-version"] = "3";
  EXPECT_EQ(code(create), base::Code::kUnsupported);
  create = request();
  create.properties["write.target-file-size-bytes"] = "big";
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.spec.fields[0].source_id = 99;
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.spec.fields[1].name = "ts";
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.schema.fields[0].required = false;
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.schema.fields[2].name = "id";
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.schema.fields[2].name = "shipping.days";  // readers index columns by dotted names
  EXPECT_EQ(code(create), base::Code::kInvalid);
  create = request();
  create.schema.fields[2].id = 10;  // which of the two would a partition mean?
  EXPECT_EQ(code(create), base::Code::kInvalid);
}

TEST(MetadataFile, IsReadBackAndNumbered) {
  const auto io = io::make_memory_file_io();
  TableMetadata table = new_table_metadata(request(), "memory:///w/t", 1000).value();
  const std::string first = write_metadata(*io, table, "", 0).value();
  EXPECT_TRUE(first.starts_with("memory:///w/t/metadata/00000-")) << first;
  EXPECT_TRUE(first.ends_with(".metadata.json"));
  EXPECT_TRUE(table.metadata_log.empty());
  const std::string second = write_metadata(*io, table, first, 1000).value();
  EXPECT_EQ(metadata_version(second), 1);
  const auto back = read_metadata(*io, second).value();
  ASSERT_EQ(back.metadata_log.size(), 1U);
  EXPECT_EQ(back.metadata_log[0].metadata_file, first);
  EXPECT_EQ(back.metadata_log[0].timestamp_ms, 1000);
  EXPECT_EQ(table_metadata_to_json(back).value(), table_metadata_to_json(table).value());
}

TEST(MetadataFile, IsCompressedAndKeptInAFolderOfChoice) {
  const auto io = io::make_memory_file_io();
  CreateTable create = request();
  create.properties["write.metadata.compression-codec"] = "gzip";
  create.properties["write.metadata.path"] = "memory:///elsewhere/";
  TableMetadata table = new_table_metadata(create, "memory:///w/t", 1000).value();
  const std::string location = write_metadata(*io, table, "", 0).value();
  EXPECT_TRUE(location.starts_with("memory:///elsewhere/00000-")) << location;
  EXPECT_TRUE(location.ends_with(".gz.metadata.json")) << location;
  EXPECT_EQ(io->read(location)->substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(read_metadata(*io, location)->table_uuid, table.table_uuid);
}

TEST(MetadataFile, CutsTheLogOfEarlierFiles) {
  const auto io = io::make_memory_file_io();
  CreateTable create = request();
  create.properties["write.metadata.previous-versions-max"] = "3";
  TableMetadata table = new_table_metadata(create, "memory:///w/t", 1000).value();
  std::string location = write_metadata(*io, table, "", 0).value();
  for (int i = 0; i < 5; ++i) location = write_metadata(*io, table, location, 1000 + i).value();
  ASSERT_EQ(table.metadata_log.size(), 3U);
  EXPECT_EQ(table.metadata_log[0].timestamp_ms, 1002);
  EXPECT_EQ(metadata_version(location), 5);
}

TEST(MetadataFile, NamesTheFileThatIsDamaged) {
  const auto io = io::make_memory_file_io();
  ASSERT_TRUE(io::write_file(*io, "memory:///x.metadata.json", "{").ok());
  ASSERT_TRUE(io::write_file(*io, "memory:///y.metadata.json", "\x1f\x8b rubbish").ok());
  for (const char* location : {"memory:///x.metadata.json", "memory:///y.metadata.json"}) {
    const auto read = read_metadata(*io, location);
    EXPECT_EQ(read.error().code(), base::Code::kCorrupt);
    EXPECT_NE(read.error().message().find(location), std::string::npos);
  }
}

TEST(MetadataVersion, IsTheNumberInFrontOfTheName) {
  EXPECT_EQ(metadata_version("s3://b/t/metadata/00012-9c12d441.metadata.json"), 12);
  EXPECT_EQ(metadata_version("v3.metadata.json"), 3);
  EXPECT_EQ(metadata_version("s3://b/12-x/metadata/abc.json"), -1);
  EXPECT_EQ(metadata_version(""), -1);
}

TEST(TableProperties, HaveIcebergsDefaults) {
  const auto properties = read_table_properties({}, "s3://b/t").value();
  EXPECT_EQ(properties.data_path, "s3://b/t/data");
  EXPECT_EQ(properties.metadata_path, "s3://b/t/metadata");
  EXPECT_EQ(properties.parquet_codec, "zstd");
  EXPECT_EQ(properties.manifest_min_count_to_merge, 100);
  EXPECT_EQ(properties.metadata_previous_versions_max, 100);
}

TEST(TableProperties, AreReadWithTheirTypes) {
  const auto properties = read_table_properties({{"write.parquet.compression-codec", "SNAPPY"}, {"write.parquet.compression-level", "3"},
                                                 {"write.data.path", "s3://other/"}, {"commit.manifest-merge.enabled", "false"},
                                                 {"write.metadata.metrics.column.a.b", "truncate(4)"},
                                                 {"history.expire.max-snapshot-age-ms", "5"}}, "s3://b/t").value();
  EXPECT_EQ(properties.parquet_codec, "snappy");
  EXPECT_EQ(properties.parquet_level, 3);
  EXPECT_EQ(properties.data_path, "s3://other");
  EXPECT_FALSE(properties.manifest_merge);
  EXPECT_EQ(properties.metrics_by_column.at("a.b"), "truncate(4)");
  EXPECT_EQ(properties.max_snapshot_age_ms, 5);
}

TEST(TableProperties, NameNonsense) {
  for (const auto& [key, value] : Properties{{"write.target-file-size-bytes", "512MB"}, {"write.parquet.page-size-bytes", "-1"},
                                             {"gc.enabled", "maybe"}, {"write.parquet.compression-codec", "zip"},
                                             {"commit.retry.num-retries", "99999999999"}, {"write.data.path", ""},
                                             {"write.metadata.metrics.default", "truncate(0)"}}) {
    const auto read = read_table_properties({{key, value}}, "s3://b/t");
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_EQ(read.error().code(), base::Code::kInvalid);
    EXPECT_NE(read.error().message().find(key), std::string::npos);
  }
}

TEST(TableProperties, TellWhatIsNotHonoured) {
  EXPECT_TRUE(properties_not_honoured({{"write.distribution-mode", "hash"}, {"write.metadata.delete-after-commit.enabled", "true"}}).empty());
  EXPECT_EQ(properties_not_honoured({{"write.distribution-mode", "range"}, {"write.parquet.bloom-filter-enabled.column.a", "true"},
                                     {"write.parquet.compression-codec", "zstd"}, {"comment", "x"}, {"write.format.default", "orc"}}),
            (std::vector<std::string>{"write.distribution-mode", "write.format.default", "write.parquet.bloom-filter-enabled.column.a"}));
}

}  // namespace
}  // namespace frazil::iceberg
