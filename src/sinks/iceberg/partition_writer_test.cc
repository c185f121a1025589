#include "sinks/iceberg/partition_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "io/memory_file_io.h"
#include "sinks/iceberg/partition_router.h"

namespace frazil::sinks {
namespace {

using columnar::Type;
using columnar::TypeId;

// Notes the order of seals and closes, and holds bytes that "leave" when a file is sealed.
class NotingFileIO : public io::FileIO {
 public:
  std::vector<std::string> notes;
  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(auto file, inner_->create(location));
    return std::unique_ptr<io::OutputFile>(std::make_unique<File>(std::move(file), notes));
  }
  base::Result<std::string> read(const std::string& location) override { return inner_->read(location); }
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    return inner_->read_range(location, offset, length);
  }
  base::Result<io::FileStatus> stat(const std::string& location) override { return inner_->stat(location); }
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override { return inner_->list(prefix); }
  base::Status remove(const std::string& location) override { return inner_->remove(location); }

 private:
  class File : public io::OutputFile {
   public:
    File(std::unique_ptr<io::OutputFile> inner, std::vector<std::string>& notes) : inner_(std::move(inner)), notes_(notes) {}
    base::Status write(std::string_view bytes) override { return inner_->write(bytes); }
    int64_t size() const override { return inner_->size(); }
    int64_t buffered_bytes() const override { return is_sealed_ ? 0 : 1'000'000'000; }
    void seal() override {
      is_sealed_ = true;
      notes_.emplace_back("seal");
    }
    base::Status close() override {
      notes_.emplace_back("close");
      return inner_->close();
    }
    void abort() override { inner_->abort(); }

   private:
    std::unique_ptr<io::OutputFile> inner_;
    std::vector<std::string>& notes_;
    bool is_sealed_ = false;
  };
  std::shared_ptr<io::FileIO> inner_ = io::make_memory_file_io();
};

struct Bench {
  explicit Bench(int64_t target_file_bytes = 512 << 20) {
    columnar::Schema fields;
    fields.fields = {{1, "id", false, Type::primitive(TypeId::kLong), ""}};
    schema = std::make_shared<columnar::Schema>(fields);
    target->schema = schema;
    target->spec = *iceberg::parse_partition_spec({"bucket(8, id)"}, *schema);
    target->data_path = "memory://t/data";
    target->target_file_bytes = target_file_bytes;
    target->parquet.row_group_bytes = target_file_bytes;
  }
  void write() {
    auto router = *PartitionRouter::make(schema, target->spec, true, 0, 1);
    columnar::Batch batch(schema);
    for (int64_t i = 0; i < 1000; ++i) batch.columns[0].append_long(i);
    for (const engine::RoutedRows& group : *router->route(batch)) EXPECT_TRUE(writer.write(batch, group).ok());
  }
  std::shared_ptr<NotingFileIO> io = std::make_shared<NotingFileIO>();
  std::shared_ptr<const columnar::Schema> schema;
  std::shared_ptr<WriteTarget> target = std::make_shared<WriteTarget>();
  PartitionWriter writer{io, target, {Type::primitive(TypeId::kInt)}, 0, 1};
};

TEST(PartitionWriter, SealsEveryFileBeforeItWaitsForOne) {
  Bench bench;
  bench.write();
  EXPECT_GT(bench.writer.buffered_bytes(), 0);
  const auto outputs = bench.writer.seal();
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  EXPECT_EQ(outputs->size(), 8u);
  ASSERT_EQ(bench.io->notes.size(), 16u);
  EXPECT_TRUE(std::all_of(bench.io->notes.begin(), bench.io->notes.begin() + 8, [](const auto& note) { return note == "seal"; }));
  EXPECT_EQ(bench.writer.buffered_bytes(), 0) << "what the files held is not counted any more";
}

TEST(PartitionWriter, FollowsAFullFileByAnother) {
  Bench bench(1);
  for (int i = 0; i < 5; ++i) bench.write();
  EXPECT_GE(std::count(bench.io->notes.begin(), bench.io->notes.end(), "close"), 8) << "not all stay open until the end";
  const auto outputs = bench.writer.seal();
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->size(), 40u);
  EXPECT_EQ(bench.io->list("memory://t/data/")->size(), 40u);
}

}  // namespace
}  // namespace frazil::sinks
