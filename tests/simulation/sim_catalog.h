// SimCatalog: the catalog as one process sees it over a bad network.
//
// A commit request may never leave, be lost, be applied with its answer lost, be applied later, when the process has been told that
// nothing is known, be throttled, be refused for good, or be applied twice, where the process may get the first or the second
// answer. What comes back is an answer as REST catalogs and the servers before them give it; the product's own
// iceberg/catalogs/rest_answer.h says what it means. Loads may fail. The process may crash before a request, while it is on its
// way, or before it sees the answer.
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
  enum class Fate { kNotSent, kLost, kAnswerLost, kDelayed, kThrottled, kRejected, kDoubled, kArrives };
  // An outage of its commits is on.
  bool is_out(const iceberg::TableId& id) const;
  Fate draw_fate(const iceberg::TableId& id) const;
  base::Result<iceberg::LoadedTable> send(const iceberg::TableId& id, const iceberg::TableCommit& commit, Fate fate);
  // Nothing is known of the request, whether or not it was or will be applied.
  base::Result<iceberg::LoadedTable> unknown(const iceberg::TableId& id, const iceberg::TableCommit& commit);
  base::Error rejected();
  // The server's own word, as it comes over the network.
  base::Result<iceberg::LoadedTable> answered(const iceberg::TableId& id, base::Result<iceberg::LoadedTable> applied);

  Lakehouse& house_;
  const std::shared_ptr<Life> life_;
  const Faults& faults_;
  Tally& tally_;
  const std::shared_ptr<io::FileIO> file_io_;
  int conflicts_ = 0;                         // of the anchor, one after the other
  std::map<iceberg::TableId, int64_t> open_;  // snapshots whose outcome this process does not know
};

}  // namespace frazil::simulation
