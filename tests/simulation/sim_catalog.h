// SimCatalog: the catalog as one process sees it over a bad network.
//
// A commit request may be refused at once (kUnavailable), be lost, be applied with its answer lost, be applied later, when the
// process has got kUnknownOutcome already, or be applied twice, where the process may get the first or the second answer.
// Loads may fail. The process may crash before a request, while it is on its way, or before it sees the answer.
#pragma once

#include <map>
#include <memory>

#include "iceberg/catalog.h"
#include "tests/simulation/lakehouse.h"
#include "tests/simulation/life.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

class SimCatalog : public iceberg::Catalog {
 public:
  // `house`, `faults` and `tally` outlive the catalog.
  SimCatalog(Lakehouse& house, std::shared_ptr<Life> life, const Faults& faults, Tally& tally);

  base::Status create_namespace(const iceberg::Namespace& ns) override;
  base::Result<std::vector<iceberg::Namespace>> list_namespaces() override;
  base::Result<std::vector<iceberg::TableId>> list_tables(const iceberg::Namespace& ns) override;
  base::Result<iceberg::LoadedTable> load_table(const iceberg::TableId& id) override;
  base::Result<iceberg::LoadedTable> create_table(const iceberg::TableId& id, const iceberg::CreateTable& request) override;
  base::Result<iceberg::LoadedTable> commit_table(const iceberg::TableId& id, const iceberg::TableCommit& commit) override;
  base::Status drop_table(const iceberg::TableId& id) override;
  std::shared_ptr<io::FileIO> file_io() override { return file_io_; }

 private:
  enum class Fate { kRefused, kLost, kAnswerLost, kDelayed, kDoubled, kArrives };
  Fate draw_fate(const iceberg::TableId& id) const;
  base::Result<iceberg::LoadedTable> send(const iceberg::TableId& id, const iceberg::TableCommit& commit, Fate fate);
  base::Result<iceberg::LoadedTable> unknown(const iceberg::TableId& id, const iceberg::TableCommit& commit);

  Lakehouse& house_;
  const std::shared_ptr<Life> life_;
  const Faults& faults_;
  Tally& tally_;
  const std::shared_ptr<io::FileIO> file_io_;
  std::map<iceberg::TableId, int64_t> open_;  // snapshots whose outcome this process does not know
};

}  // namespace frazil::simulation
