// RestVending: the credentials that a REST catalog hands out with its tables, on their way into the FileIO.
//
// Each table's location gets a store of its own with the table's config over our properties; where "storage-credentials" name prefixes,
// each of these gets one. A prefix that is wider than the table is narrowed to it, so that credentials of one table never
// serve another. Stores renew what expires by themselves, through .../credentials when the catalog offers that, else by loading
// the table again; so a table that is loaded often does not get new stores each time. Any thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "iceberg/catalogs/rest_answer.h"
#include "iceberg/catalogs/rest_session.h"
#include "io/scheme_file_io.h"

namespace frazil::iceberg {

class RestVending {
 public:
  RestVending(std::shared_ptr<const RestSession> session, std::shared_ptr<io::SchemeFileIO> files)
      : session_(std::move(session)), files_(std::move(files)) {}

  // False until adopt(): a request for this table should carry headers(), so that its answer brings what the store needs.
  bool knows(const TableId& id);
  // The same, and the table is still where it was: another may have taken its name.
  bool knows(const TableId& id, const TableMetadata& table);
  net::HttpHeaders headers() const;
  // Hands over what came with a table that was asked for with headers().
  base::Status adopt(const TableId& id, const RestTable& table);
  void forget(const TableId& id);

 private:
  const std::shared_ptr<const RestSession> session_;
  const std::shared_ptr<io::SchemeFileIO> files_;
  base::Mutex mutex_;
  std::map<TableId, std::string> locations_;
};

// The store properties for each prefix, pure: what adopt() hands over.
std::map<std::string, io::StoreProperties> stores_of(const RestTable& table, const RestSettings& settings = {});

}  // namespace frazil::iceberg
