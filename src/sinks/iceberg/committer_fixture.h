// For tests of the committer: a memory catalog whose commits can be told to fail, positions that are plain numbers, and epochs
// made of real Parquet files.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/simulation.h"
#include "engine/dead_letters.h"
#include "format/parquet/parquet_writer.h"
#include "iceberg/scan.h"
#include "io/memory_file_io.h"
#include "sinks/iceberg/data_file_output.h"
#include "sinks/iceberg/iceberg_committer.h"

namespace frazil::sinks {

// Splits are names, positions decimal numbers; text {"identity":{…},"kind":…,"next":{…}} without escapes.
class NumberFormat : public engine::PositionFormat {
 public:
  std::string encode(const engine::SourcePositions& p) const override {
    return "{\"identity\":" + members(p.identity) + ",\"kind\":\"" + p.kind + "\",\"next\":" + members(p.next) + "}";
  }
  base::Result<engine::SourcePositions> decode(const std::string& text) const override {
    std::vector<std::string> words;  // everything in quotes, in order
    for (size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
      const size_t end = text.find('"', at + 1);
      words.push_back(text.substr(at + 1, end - at - 1));
      at = end;
    }
    if (words.empty() || words[0] != "identity") return base::corrupt("no positions: " + text);
    engine::SourcePositions p;
    auto* into = &p.identity;
    for (size_t i = 1; i + 1 < words.size(); i += 2) {
      if (words[i] == "kind") {
        p.kind = words[i + 1];
        into = &p.next;
        ++i;  // the word "next"
      } else {
        (*into)[words[i]] = words[i + 1];
      }
    }
    return p;
  }
  std::string encode_ranges(const std::vector<engine::Range>& ranges) const override {
    std::string text = "{";
    for (const auto& range : ranges) {
      text += (text.size() > 1 ? "," : "") + ("\"" + range.split + "\":[\"" + range.begin + "\",\"" + range.end + "\"]");
    }
    return text + "}";
  }
  base::Result<std::vector<engine::Range>> decode_ranges(const std::string&) const override {
    return std::vector<engine::Range>{};
  }
  engine::Relation relate(const std::string& begin, const std::string& frontier) const override {
    const auto is_number = [](const std::string& text) { return !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == text.npos; };
    if (!is_number(begin) || !is_number(frontier)) return engine::Relation::kIncomparable;
    const long b = std::stol(begin);
    const long f = std::stol(frontier);
    return b == f ? engine::Relation::kAt : b < f ? engine::Relation::kBehind : engine::Relation::kBeyond;
  }

 private:
  static std::string members(const std::map<std::string, std::string>& values) {
    std::string text = "{";
    for (const auto& [key, value] : values) text += (text.size() > 1 ? "," : "") + ("\"" + key + "\":\"" + value + "\"");
    return text + "}";
  }
};

// What happens to a commit request.
enum class Fate { kApply, kLost, kAppliedAnswerLost, kAnsweredWithTheOldTable, kRefused, kUnavailable, kConflict };

class FatefulCatalog : public iceberg::Catalog {
 public:
  explicit FatefulCatalog(std::unique_ptr<iceberg::Catalog> inner) : inner_(std::move(inner)) {}
  base::Status create_namespace(const iceberg::Namespace& ns) override { return inner_->create_namespace(ns); }
  base::Result<std::vector<iceberg::Namespace>> list_namespaces() override { return inner_->list_namespaces(); }
  base::Result<std::vector<iceberg::TableId>> list_tables(const iceberg::Namespace& ns) override { return inner_->list_tables(ns); }
  base::Result<iceberg::LoadedTable> load_table(const iceberg::TableId& id) override {
    if (is_away) return base::unavailable("connection refused");
    return inner_->load_table(id);
  }
  base::Result<iceberg::LoadedTable> create_table(const iceberg::TableId& id, const iceberg::CreateTable& request) override {
    return inner_->create_table(id, request);
  }
  base::Status drop_table(const iceberg::TableId& id) override { return inner_->drop_table(id); }
  std::shared_ptr<io::FileIO> file_io() override { return inner_->file_io(); }
  base::Result<iceberg::LoadedTable> commit_table(const iceberg::TableId& id, const iceberg::TableCommit& commit) override {
    ++requests;
    if (before_commit) std::exchange(before_commit, nullptr)();
    std::deque<Fate>& next = fates_of.contains(id.text()) ? fates_of[id.text()] : fates;
    Fate fate = Fate::kApply;
    if (!next.empty()) {
      fate = next.front();
      next.pop_front();
    }
    if (fate == Fate::kRefused) return base::invalid("the server says no");
    if (fate == Fate::kConflict) return base::Error(base::Code::kConflict, "the head has moved");
    if (fate == Fate::kUnavailable) return base::unavailable("no connection");
    if (fate == Fate::kLost) return base::Error(base::Code::kUnknownOutcome, "reset by peer");
    if (fate == Fate::kAnsweredWithTheOldTable) return inner_->load_table(id);
    auto answer = inner_->commit_table(id, commit);
    if (fate == Fate::kAppliedAnswerLost) return base::Error(base::Code::kUnknownOutcome, "reset by peer");
    return answer;
  }

  std::deque<Fate> fates;               // of the next commit requests; then all are applied
  std::map<std::string, std::deque<Fate>> fates_of;  // the same for requests about one table, instead of `fates`
  std::function<void()> before_commit;  // once, when the next request arrives
  int requests = 0;
  bool is_away = false;

 private:
  std::unique_ptr<iceberg::Catalog> inner_;
};

class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    config_.pipeline = "orders";
    config_.user = "somebody";
    config_.table = {{"shop"}, "orders"};
    config_.dead_letters = {{"shop"}, "orders_dead_letters"};
    columnar::Schema schema;
    schema.fields = {{0, "id", true, columnar::Type::primitive(columnar::TypeId::kLong), ""}};
    config_.schema = schema;
    config_.create = CreateTableConfig{};
    catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", io::make_memory_file_io()));
  }

  std::unique_ptr<IcebergCommitter> committer(std::vector<engine::AcceptedChoice> accepted = {}) {
    return std::make_unique<IcebergCommitter>(config_, *catalog_, format_, std::move(accepted));
  }
  // A committer that has opened the table and begun at 0.
  std::unique_ptr<IcebergCommitter> begun() {
    auto made = committer();
    const auto known = made->open();
    EXPECT_TRUE(known.ok()) << known.error().message();
    if (!known->has_value()) {
      EXPECT_TRUE(made->begin(start()).ok());
    }
    return made;
  }
  static engine::SourcePositions start() { return {"test", {{"cluster", "c"}, {"topic/t", "id-1"}}, {{"t/0", "0"}}}; }

  // Rows begin..end-1 of split t/0, those in `bad` as dead letters.
  engine::StagedEpoch epoch(IcebergCommitter& committer, int64_t begin, int64_t end, const std::vector<int64_t>& bad = {}) {
    engine::StagedEpoch staged;
    staged.number = 1;
    staged.ranges = {{"t/0", std::to_string(begin), std::to_string(end)}};
    staged.identity = start().identity;
    columnar::Batch rows(committer.targets()->tables()[0].write->schema);
    for (int64_t id = begin; id < end; ++id) {
      if (std::find(bad.begin(), bad.end(), id) == bad.end()) {
        rows.columns[0].append_long(id);
      } else {
        add_dead_letter(staged, id);
      }
    }
    staged.rows = rows.rows();
    if (rows.rows() == 0) return staged;
    DataFileWriter writer(catalog_->file_io(), *committer.targets()->tables()[0].write, {}, data_file_location(*committer.targets()->tables()[0].write, {}, 1, 0));
    EXPECT_TRUE(writer.write(rows).ok());
    auto file = writer.close();
    EXPECT_TRUE(file.ok()) << file.error().message();
    staged.outputs.push_back(std::make_unique<DataFileOutput>(std::move(file).value(), 0));
    return staged;
  }
  static void add_dead_letter(engine::StagedEpoch& staged, int64_t offset) {
    engine::RawBatch raw;
    raw.stream = "t";
    raw.records.resize(1);
    raw.records[0].offset = offset;
    if (!staged.dead_letters) staged.dead_letters.emplace(engine::dead_letter_schema());
    engine::append_dead_letter(*staged.dead_letters, raw, {0, "NOT_JSON", "bad", ""}, "orders", 0, 7);
  }
  // Runs `body` where time is virtual, and passes between commits: snapshots get old without waiting.
  static void in_virtual_time(const std::function<void()>& body) {
    base::Simulation simulation(1);
    simulation.run(body);
  }
  engine::CommitVerdict commit(IcebergCommitter& committer, int64_t begin, int64_t end, const std::vector<int64_t>& bad = {}) {
    engine::StagedEpoch staged = epoch(committer, begin, end, bad);
    base::Interrupt never;
    if (base::Simulation::current() != nullptr) never.wait_until(base::deadline_after(10'000));
    auto verdict = committer.commit(staged, never);
    EXPECT_TRUE(verdict.ok()) << verdict.error().message();
    return verdict.ok() ? *verdict : engine::CommitVerdict{engine::CommitVerdict::Kind::kGap, {}, "error"};
  }

  iceberg::TableMetadata metadata(const iceberg::TableId& id) {
    auto loaded = catalog_->load_table(id);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    return loaded->metadata;
  }
  // The column `name` of all live rows, sorted.
  std::vector<int64_t> longs(const iceberg::TableId& id, const std::string& name) {
    std::vector<int64_t> values;
    auto loaded = catalog_->load_table(id);
    if (!loaded.ok() || !loaded->metadata.current_snapshot_id) return values;
    const auto files = iceberg::live_files(*catalog_->file_io(), loaded->metadata, *loaded->metadata.current_snapshot_id);
    EXPECT_TRUE(files.ok()) << files.error().message();
    for (const auto& live : *files) {
      const auto bytes = catalog_->file_io()->read(live.file.file_path);
      EXPECT_TRUE(bytes.ok());
      const auto batches = format::read_parquet(*bytes, loaded->metadata.current_schema());
      EXPECT_TRUE(batches.ok()) << batches.error().message();
      for (const auto& batch : *batches) {
        for (size_t c = 0; c < batch.columns.size(); ++c) {
          if (batch.schema->fields[c].name != name) continue;
          for (int64_t row = 0; row < batch.rows(); ++row) values.push_back(batch.columns[c].long_at(row));
        }
      }
    }
    std::sort(values.begin(), values.end());
    return values;
  }
  std::vector<int64_t> rows() { return longs(config_.table, "id"); }
  std::vector<int64_t> dead() { return longs(config_.dead_letters, "offset"); }
  static std::vector<int64_t> range(int64_t begin, int64_t end) {
    std::vector<int64_t> values(static_cast<size_t>(end - begin));
    std::iota(values.begin(), values.end(), begin);
    return values;
  }

  // Moves the head back by `steps` snapshots, as a user would.
  void roll_back(int steps) {
    const iceberg::TableMetadata now = metadata(config_.table);
    int64_t target = *now.current_snapshot_id;
    for (int i = 0; i < steps; ++i) target = *now.snapshot(target)->parent_snapshot_id;
    const iceberg::TableCommit request{{}, {iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{target, true, {}, {}, {}}}}};
    ASSERT_TRUE(catalog_->commit_table(config_.table, request).ok());
  }
  // The anchor is as `earlier` says, later snapshots are unknown: an older metadata file was registered.
  void put_back(const iceberg::TableMetadata& earlier) {
    const iceberg::TableMetadata now = metadata(config_.table);
    std::vector<int64_t> later;
    for (const iceberg::Snapshot& snapshot : now.snapshots) {
      if (earlier.snapshot(snapshot.snapshot_id) == nullptr) later.push_back(snapshot.snapshot_id);
    }
    iceberg::TableCommit request;
    for (const auto& [name, ref] : earlier.refs) request.updates.push_back(iceberg::SetSnapshotRef{name, ref});
    request.updates.push_back(iceberg::SetProperties{earlier.properties});
    request.updates.push_back(iceberg::RemoveSnapshots{later});
    ASSERT_TRUE(catalog_->commit_table(config_.table, request).ok());
  }
  static std::string halt_code(const base::Error& error) { return error.halt() == nullptr ? "" : error.halt()->code; }

  NumberFormat format_;
  IcebergSinkConfig config_;
  std::unique_ptr<FatefulCatalog> catalog_;
};

}  // namespace frazil::sinks
