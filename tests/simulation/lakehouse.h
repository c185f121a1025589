// Lakehouse: the catalog server and the store behind the network, and the record of every version that tables went through.
//
// It applies commit requests one by one, in the order in which they arrive; couriers bring those that were delayed. The
// record keeps, for each accepted change of a table, the newest metadata of all tables at that very moment (the token does not
// move in between), so that the oracle may judge every state that anybody could have seen. Any lane.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"
#include "iceberg/catalog.h"
#include "tests/simulation/keeping_file_io.h"
#include "tests/simulation/routing.h"
#include "tests/simulation/table_marks.h"
#include "tests/simulation/tally.h"

namespace frazil::simulation {

inline const iceberg::TableId kAnchor{{"db"}, "orders"};
inline const iceberg::TableId kDeadLetters{{"db"}, "orders_dead_letters"};
inline constexpr char kPipeline[] = "sim";

using TableVersion = std::shared_ptr<const iceberg::TableMetadata>;

// All tables after one accepted change; null: does not exist yet.
struct TablesState {
  TableVersion anchor;
  TableVersion dead_letters;
  std::array<TableVersion, kRoutedTables> routed;
  std::string cause;  // "worker", "courier", "foreign …"
};

class Lakehouse {
 public:
  explicit Lakehouse(Tally& tally);
  iceberg::Catalog& catalog() { return *catalog_; }
  std::shared_ptr<KeepingFileIO> store() const { return store_; }

  base::Result<iceberg::LoadedTable> create(const iceberg::TableId& id, const iceberg::CreateTable& request);
  base::Result<iceberg::LoadedTable> apply(const iceberg::TableId& id, const iceberg::TableCommit& commit,
                                           const std::string& cause);
  // Applied by a lane of its own after `micros`; then `count`, if any, is counted.
  void apply_later(const iceberg::TableId& id, const iceberg::TableCommit& commit, int64_t micros, const std::string& count = "");
  // The anchor's name goes, with or without another table under it. Its record ends here.
  base::Status drop_anchor(bool makes_another);
  // Waits for all couriers.
  void settle();

  const std::vector<TablesState>& history() const { return history_; }
  // Of the anchor.
  const KnownSnapshots& known_snapshots() const { return known_; }
  // What the anchor says of its positions now; nullopt: nothing yet.
  std::optional<TableMarks> newest_anchor_marks() const;
  // Entries that the anchor owes now to tables that rows are routed to.
  size_t owed_to_routed() const;

 private:
  void count(const iceberg::TableId& id, const iceberg::TableCommit& commit, bool is_foreign);
  void record(const iceberg::TableId& id, const iceberg::TableMetadata& metadata, const std::string& cause);

  Tally& tally_;
  std::shared_ptr<KeepingFileIO> store_;
  std::unique_ptr<iceberg::Catalog> catalog_;
  std::vector<TablesState> history_;
  KnownSnapshots known_;
  std::vector<base::Lane> couriers_;
  bool is_anchor_gone_ = false;
};

// The id of the snapshot that a commit adds, 0 if none.
int64_t added_snapshot(const iceberg::TableCommit& commit);

}  // namespace frazil::simulation
