#include "iceberg/catalogs/rest_vending.h"

#include <utility>

#include "base/log.h"

namespace frazil::iceberg {
namespace {

using base::Result;
using base::Status;

constexpr char kCredentials[] = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";
// Where a table may keep files outside of its location.
constexpr const char* kFolderProperties[] = {"write.data.path", "write.metadata.path", "write.object-storage.path",
                                             "write.folder-storage.path"};

std::string as_folder(std::string location) {
  while (location.ends_with('/')) location.pop_back();
  return location;
}

bool is_within(const std::string& location, const std::string& prefix) {
  return location.starts_with(prefix) && (location.size() == prefix.size() || prefix.ends_with('/') || location[prefix.size()] == '/');
}

net::HttpHeaders delegation(const RestSession& session) {
  if (!session.wants_credentials) return {};
  return {{"X-Iceberg-Access-Delegation", "vended-credentials"}};
}

io::StoreProperties merged(io::StoreProperties under, const io::StoreProperties& over) {
  for (const auto& [name, value] : over) under[name] = value;
  return under;
}

// Everything below: with the credentials of the longest prefix that covers `folder`.
io::StoreProperties store_for(const RestTable& table, const std::string& folder, const RestSettings& settings) {
  const Properties* best = nullptr;
  size_t longest = 0;
  for (const auto& [prefix, config] : table.credentials) {
    if (folder.starts_with(prefix) && (best == nullptr || prefix.size() > longest)) {
      best = &config;
      longest = prefix.size();
    }
  }
  io::StoreProperties store = store_properties_from_server(table.config);
  if (best != nullptr) store = merged(std::move(store), store_properties_from_server(*best));
  if (store.empty()) return store;
  return without_foreign_endpoints(merged(settings.sent_store, store), settings.own_store);
}

// New properties for one prefix of a table.
Result<io::StoreProperties> renewed(const RestSession& session, const TableId& id, const std::string& prefix) {
  const std::string path = session.settings.table(id);
  if (session.settings.offers(kCredentials)) {
    RestRequest request{.path = path + "/credentials", .headers = delegation(session)};
    TRY_ASSIGN(const net::HttpResponse answer, session.connection->send(request));
    RestTable only_credentials;
    TRY_ASSIGN(only_credentials.credentials, credentials_of(answer.body));
    return store_for(only_credentials, prefix, session.settings);
  }
  RestRequest request{.path = path, .headers = delegation(session)};
  TRY_ASSIGN(const net::HttpResponse answer, session.connection->send(request));
  TRY_ASSIGN(const RestTable table, table_of(answer.body));
  return store_for(table, prefix, session.settings);
}

}  // namespace

std::map<std::string, io::StoreProperties> stores_of(const RestTable& table, const RestSettings& settings) {
  std::map<std::string, io::StoreProperties> stores;
  const TableMetadata& metadata = table.table.metadata;
  const auto add = [&](const std::string& folder) {
    io::StoreProperties store = store_for(table, folder, settings);
    if (!folder.empty() && !store.empty()) stores[folder] = std::move(store);
  };
  add(as_folder(metadata.location));
  for (const char* name : kFolderProperties) add(as_folder(metadata.property(name)));
  const std::string location = as_folder(metadata.location);
  for (const auto& [prefix, config] : table.credentials) {
    // A wider one has served the table's folders above.
    if (is_within(as_folder(prefix), location)) add(as_folder(prefix));
  }
  return stores;
}

net::HttpHeaders RestVending::headers() const { return delegation(*session_); }

bool RestVending::knows(const TableId& id) {
  base::Lock lock(mutex_);
  return locations_.contains(id);
}

bool RestVending::knows(const TableId& id, const TableMetadata& table) {
  base::Lock lock(mutex_);
  const auto found = locations_.find(id);
  return found != locations_.end() && found->second == table.location;
}

Status RestVending::adopt(const TableId& id, const RestTable& table) {
  for (const auto& [prefix, store] : stores_of(table, session_->settings)) {
    const auto renew = [session = session_, id, prefix = prefix, store = store]() -> Result<io::StoreProperties> {
      Result<io::StoreProperties> fresh = renewed(*session, id, prefix);
      base::log_debug("store_credentials_renewed", {{"table", id.text()}, {"prefix", prefix},
                                                    {"outcome", fresh.ok() ? "ok" : fresh.error().message()}});
      if (!fresh.ok()) return fresh;
      return merged(store, *fresh);
    };
    TRY(files_->set_prefix(prefix, store, renew).in("store of " + prefix + ", as the catalog describes it"));
  }
  base::Lock lock(mutex_);
  locations_[id] = table.table.metadata.location;
  return {};
}

void RestVending::forget(const TableId& id) {
  base::Lock lock(mutex_);
  locations_.erase(id);
}

}  // namespace frazil::iceberg
