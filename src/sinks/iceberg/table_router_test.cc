#include "sinks/iceberg/table_router.h"

#include <gtest/gtest.h>

#include "format/parquet/parquet_writer.h"
#include "io/memory_file_io.h"
#include "sinks/iceberg/data_file_output.h"

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

Field id_field(int32_t id, bool required = true) { return {id, "id", required, Type::primitive(TypeId::kLong), ""}; }
Field kind_field(int32_t id, bool required = false) { return {id, "kind", required, Type::primitive(TypeId::kString), ""}; }

columnar::Schema schema_of(std::vector<Field> fields) {
  columnar::Schema schema;
  schema.fields = std::move(fields);
  return schema;
}

TargetTable table_of(const std::string& name, const columnar::Schema& schema, const RouteCondition& when,
                     const std::vector<std::string>& partition_by = {}) {
  TargetTable table;
  table.id = {{"shop"}, name};
  table.when = when;
  WriteTarget write;
  write.schema = std::make_shared<const columnar::Schema>(schema);
  write.spec = iceberg::parse_partition_spec(partition_by, schema).value();
  write.data_path = "memory://w/" + name;
  write.target_file_bytes = 1 << 20;
  table.write = std::make_shared<const WriteTarget>(std::move(write));
  table.by_hash = !partition_by.empty();
  return table;
}

IcebergSinkConfig config_for(const std::vector<TargetTable>& tables, bool to_all = false) {
  IcebergSinkConfig config;
  config.route_to_all = to_all;
  for (const TargetTable& table : tables) config.targets.push_back({table.id, {}, {}, table.when});
  return config;
}

std::shared_ptr<const TargetTables> targets_of_tables(const std::vector<TargetTable>& tables, bool to_all = false) {
  auto made = TargetTables::make(config_for(tables, to_all), tables);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return made.ok() ? *made : nullptr;
}

TEST(TargetTables, TopicsThatEntriesNameAreIntakesOfTheirOwn) {
  const auto targets = targets_of_tables({table_of("a", schema_of({id_field(1), kind_field(2)}), {"orders", "", {}, ""}),
                                          table_of("b", schema_of({id_field(1)}), {"clicks", "", {}, ""}),
                                          table_of("c", schema_of({id_field(1), kind_field(2)}), {"", "kind", {"x"}, ""})});
  ASSERT_EQ(targets->intakes().size(), 3U);
  const Intake& orders = targets->intakes()[static_cast<size_t>(targets->intake_of("orders"))];
  EXPECT_EQ(orders.tables, (std::vector<size_t>{0}));  // the first takes all of that topic
  const Intake& clicks = targets->intakes()[static_cast<size_t>(targets->intake_of("clicks"))];
  EXPECT_EQ(clicks.rows->fields.size(), 1U);
  EXPECT_EQ(targets->intake_of("anything"), 0);
  EXPECT_EQ(targets->intakes()[0].tables, (std::vector<size_t>{2}));
  EXPECT_FALSE(targets->is_single());
}

TEST(TargetTables, RowsOfSeveralTablesAreRequiredWhereOneOfThemRequires) {
  const auto targets = targets_of_tables({table_of("a", schema_of({id_field(1), kind_field(2)}), {"", "kind", {"x"}, ""}),
                                          table_of("b", schema_of({kind_field(7, true), id_field(9)}), {})});
  const columnar::Schema& rows = *targets->intakes()[0].rows;
  EXPECT_EQ(rows.fields[0].name, "id");
  EXPECT_TRUE(rows.fields[1].required);
  EXPECT_EQ(targets->tables()[1].write->schema->fields, (std::vector<Field>{id_field(9), kind_field(7, true)}));
}

TEST(TargetTables, TablesOfOneTopicWithOtherColumnsAreRefused) {
  const std::vector<TargetTable> tables{table_of("a", schema_of({id_field(1), kind_field(2)}), {"", "kind", {"x"}, ""}),
                                        table_of("b", schema_of({id_field(1)}), {})};
  const auto made = TargetTables::make(config_for(tables), tables);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("shop.a and shop.b"), std::string::npos);
}

// What is in the outputs, as "table id kind".
std::vector<std::string> contents(io::FileIO& io, const TargetTables& targets,
                                  const std::vector<std::unique_ptr<engine::Output>>& outputs) {
  std::vector<std::string> found;
  for (const auto& output : outputs) {
    const auto& file = static_cast<const DataFileOutput&>(*output);
    const auto batches = format::read_parquet(io.read(file.file().file_path).value(), targets.tables()[file.table()].write->schema);
    EXPECT_TRUE(batches.ok());
    for (const auto& batch : *batches) {
      const size_t id = batch.schema->fields[0].name == "id" ? 0 : 1;
      for (int64_t row = 0; row < batch.rows(); ++row) {
        found.push_back(std::to_string(file.table()) + " " + std::to_string(batch.columns[id].long_at(row)) + " " +
                        std::string(batch.columns[1 - id].bytes_at(row)));
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(TableRouter, BringsEachRowIntoItsTablesWhateverTheOrderOfTheirColumns) {
  const auto io = io::make_memory_file_io();
  const auto targets = targets_of_tables(
      {table_of("a", schema_of({id_field(1), kind_field(2)}), {"", "kind", {"x"}, ""}, {"bucket(4, id)"}),
       table_of("b", schema_of({kind_field(5), id_field(6)}), {"", "id", {}, "[0-4]"}, {"kind"})},
      true);
  ASSERT_NE(targets, nullptr);
  auto router = TableRouter::make(targets, 0, {true, {}}, 0, 2);
  ASSERT_TRUE(router.ok()) << router.error().message();
  std::vector<TableWriter> writers;
  writers.emplace_back(io, targets, 0, 1);
  writers.emplace_back(io, targets, 1, 1);
  for (int round = 0; round < 2; ++round) {
    columnar::Batch batch(targets->intakes()[0].rows);
    for (int64_t id = round * 4; id < round * 4 + 4; ++id) {
      batch.columns[0].append_long(id);
      batch.columns[1].append_bytes(id % 2 == 0 ? "x" : "y");
    }
    EXPECT_EQ((*router)->look(batch, 0)->size(), round == 0 ? 0U : 2U);  // 5 and 7 are for nobody
    const auto routed = (*router)->route(batch);
    ASSERT_TRUE(routed.ok()) << routed.error().message();
    for (const auto& rows : *routed) ASSERT_TRUE(writers[static_cast<size_t>(rows.lane)].write(batch, rows).ok());
  }
  std::vector<std::unique_ptr<engine::Output>> outputs;
  for (TableWriter& writer : writers) {
    auto sealed = writer.seal();
    ASSERT_TRUE(sealed.ok()) << sealed.error().message();
    for (auto& output : *sealed) outputs.push_back(std::move(output));
  }
  EXPECT_EQ(contents(*io, *targets, outputs),
            (std::vector<std::string>{"0 0 x", "0 2 x", "0 4 x", "0 6 x", "1 0 x", "1 1 y", "1 2 x", "1 3 y", "1 4 x"}));
}

// Two tables with one struct whose members stand in another order, also within a list.
std::vector<TargetTable> tables_of_turned_structs() {
  const auto text = [](int32_t id, const std::string& name) { return Field{id, name, false, Type::primitive(TypeId::kString), ""}; };
  const auto lines = [&](int32_t id, const Type& line) { return Field{id, "lines", false, Type::list({id + 1, "element", false, line, ""}), ""}; };
  const Type xy = Type::structure({text(3, "x"), text(4, "y")});
  const Type yx = Type::structure({text(13, "y"), text(14, "x")});
  return {table_of("a", schema_of({id_field(1), {2, "v", false, xy, ""}, lines(5, Type::structure({text(7, "p"), text(8, "q")}))}), {}),
          table_of("b", schema_of({lines(15, Type::structure({text(17, "q"), text(18, "p")})), {12, "v", false, yx, ""}, id_field(11)}), {}, {"v.x"})};
}

// A row whose members hold their own names.
columnar::Batch row_of_names(const std::shared_ptr<const columnar::Schema>& schema) {
  columnar::Batch batch(schema);
  batch.columns[0].append_long(7);
  for (size_t member = 0; member < 2; ++member) batch.columns[1].child(member).append_bytes(member == 0 ? "x" : "y");
  batch.columns[1].append_struct_end();
  for (size_t member = 0; member < 2; ++member) batch.columns[2].child(0).child(member).append_bytes(member == 0 ? "p" : "q");
  batch.columns[2].child(0).append_struct_end();
  batch.columns[2].append_list_end();
  return batch;
}

TEST(TargetTables, TablesThatShareRowsByWayOfAThirdHaveOneOrder) {
  const auto targets = targets_of_tables({table_of("a", schema_of({id_field(1), kind_field(2)}), {"orders", "kind", {"x"}, ""}),
                                          table_of("b", schema_of({kind_field(3), id_field(4)}), {"clicks", "kind", {"x"}, ""}),
                                          table_of("c", schema_of({kind_field(5), id_field(6)}), {})});
  for (const TargetTable& table : targets->tables()) EXPECT_EQ(table.write->schema->fields[0].name, "id");
  for (const Intake& intake : targets->intakes()) EXPECT_EQ(intake.rows->fields[0].name, "id");
}

TEST(TableRouter, MembersOfStructsKeepTheirNamesWhateverTheirOrder) {
  const auto io = io::make_memory_file_io();
  const auto targets = targets_of_tables(tables_of_turned_structs(), true);
  ASSERT_NE(targets, nullptr);
  auto router = TableRouter::make(targets, 0, {true, {}}, 0, 1);
  ASSERT_TRUE(router.ok()) << router.error().message();
  const columnar::Batch batch = row_of_names(targets->intakes()[0].rows);
  ASSERT_TRUE((*router)->look(batch, 0)->empty());
  TableWriter writer(io, targets, 0, 1);
  for (const auto& rows : (*router)->route(batch).value()) ASSERT_TRUE(writer.write(batch, rows).ok());
  const auto outputs = writer.seal();
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  ASSERT_EQ(outputs->size(), 2U);
  for (const auto& output : *outputs) {
    const auto& file = static_cast<const DataFileOutput&>(*output);
    const auto& schema = targets->tables()[file.table()].write->schema;
    const auto rows = format::read_parquet(io->read(file.file().file_path).value(), schema).value();
    ASSERT_EQ(rows[0].columns[0].long_at(0), 7);
    const columnar::Column& v = rows[0].columns[1];
    const columnar::Column& line = rows[0].columns[2].child(0);
    for (size_t member = 0; member < 2; ++member) {
      EXPECT_EQ(v.child(member).bytes_at(0), v.type().fields()[member].name);
      EXPECT_EQ(line.child(member).bytes_at(0), line.type().fields()[member].name);
    }
    if (file.table() == 1) {
      EXPECT_NE(file.file().file_path.find("/v.x=x/"), std::string::npos) << file.file().file_path;
    }
  }
}

}  // namespace
}  // namespace frazil::sinks
