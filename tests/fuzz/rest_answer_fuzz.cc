// Fuzzes what a REST catalog, or somebody in its place, may answer: every reader takes every body without harm, and what is taken for a
// table can be written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "iceberg/catalogs/rest_answer.h"
#include "iceberg/catalogs/rest_settings.h"
#include "iceberg/catalogs/rest_vending.h"
#include "iceberg/table_metadata_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  using namespace frazil::iceberg;
  if (size == 0) return 0;
  net::HttpResponse response;
  response.status = 200 + 2 * data[0];
  response.body.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  for (const RestCall call : {RestCall::kRead, RestCall::kCreate, RestCall::kChange, RestCall::kCommit}) {
    if (refusal(call, response).message().size() > 2000) std::abort();
  }
  (void)namespaces_of(response.body);
  (void)tables_of(response.body);
  (void)namespace_properties_of(response.body);
  (void)credentials_of(response.body);
  const auto settings = settle("https://catalog.example", {}, response.body);
  if (settings.ok() && settings->table({{"a", "b"}, "t"}).find_first_of(" \r\n?#") != std::string::npos) std::abort();
  const auto table = table_of(response.body);
  if (!table.ok()) return 0;
  (void)stores_of(*table);
  if (table->table.metadata.format_version == 2 && !table_metadata_to_json(table->table.metadata).ok()) std::abort();
  return 0;
}
