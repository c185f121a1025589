#include "io/scheme_file_io.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/sync.h"
#include "io/location.h"
#include "io/property_reader.h"
#include "io/rooted_file_io.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

// One name for the schemes of one store.
std::string store_of(const std::string& scheme) {
  if (scheme == "s3a" || scheme == "s3n") return "s3";
  return scheme.empty() ? "file" : scheme;
}

// The location with its store's own scheme: prefixes are compared by it.
std::string comparable(const std::string& location) {
  const std::string scheme = scheme_of(location);
  return scheme.empty() ? location : store_of(scheme) + location.substr(scheme.size());
}

bool is_below(const std::string& location, const std::string& prefix) {
  if (!location.starts_with(prefix)) return false;
  return prefix.ends_with('/') || location.size() == prefix.size() || location[prefix.size()] == '/';
}

class StoresByScheme : public SchemeFileIO {
 public:
  explicit StoresByScheme(SchemeFileIOConfig config) : config_(std::move(config)) {}

  Status set_prefix(const std::string& prefix, const StoreProperties& properties, RenewProperties renew) override {
    const std::string key = comparable(prefix);
    base::Lock lock(mutex_);
    const auto known = prefixes_.find(key);
    if (known != prefixes_.end() && known->second.properties == properties) return {};
    TRY_ASSIGN(std::shared_ptr<FileIO> store,
               make_store(scheme_of(prefix), layered(properties, config_.properties), std::move(renew)));
    prefixes_[key] = {properties, std::move(store)};
    return {};
  }

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(const auto store, store_for(location));
    return store->create(location);
  }
  Result<std::string> read(const std::string& location) override {
    TRY_ASSIGN(const auto store, store_for(location));
    return store->read(location);
  }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY_ASSIGN(const auto store, store_for(location));
    return store->read_range(location, offset, length);
  }
  Result<FileStatus> stat(const std::string& location) override {
    TRY_ASSIGN(const auto store, store_for(location));
    return store->stat(location);
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override {
    TRY_ASSIGN(const auto store, store_for(prefix));
    return store->list(prefix);
  }
  Status remove(const std::string& location) override {
    TRY_ASSIGN(const auto store, store_for(location));
    return store->remove(location);
  }
  Status remove_all(const std::vector<std::string>& locations) override {
    std::vector<std::pair<std::shared_ptr<FileIO>, std::vector<std::string>>> by_store;
    for (const std::string& location : locations) {
      TRY_ASSIGN(std::shared_ptr<FileIO> store, store_for(location));
      auto found = std::find_if(by_store.begin(), by_store.end(), [&](const auto& entry) { return entry.first == store; });
      if (found == by_store.end()) found = by_store.insert(found, {std::move(store), {}});
      found->second.push_back(location);
    }
    for (const auto& [store, below] : by_store) TRY(store->remove_all(below));
    return {};
  }

 private:
  struct Prefixed {
    StoreProperties properties;
    std::shared_ptr<FileIO> store;
  };

  Result<std::shared_ptr<FileIO>> store_for(const std::string& location) {
    const std::string key = comparable(location);
    base::Lock lock(mutex_);
    const Prefixed* nearest = nullptr;
    size_t longest = 0;
    for (const auto& [prefix, prefixed] : prefixes_) {
      if (prefix.size() < longest || !is_below(key, prefix)) continue;
      longest = prefix.size();
      nearest = &prefixed;
    }
    if (nearest != nullptr) return nearest->store;
    const std::string scheme = scheme_of(location);
    auto& store = stores_[store_of(scheme)];
    if (store != nullptr) return store;
    Result<std::shared_ptr<FileIO>> made = make_store(scheme, config_.properties, {});
    if (made.ok()) store = *made;
    return std::move(made).in("'" + location + "'");
  }

  // Under the lock. All stores share one client, and so its connections.
  Result<std::shared_ptr<FileIO>> make_store(const std::string& scheme, const StoreProperties& properties, RenewProperties renew) {
    if (scheme == "memory" && !config_.has_memory)
      return base::invalid("memory: holds files only until the end of this process; it belongs to a catalog of type memory");
    const bool is_local = store_of(scheme) == "file";
    if (!is_local && config_.options.http == nullptr) {
      net::HttpClientConfig http;
      http.tls = config_.options.tls;
      http.allow_plaintext = config_.options.allow_plaintext;
      http.allowed_hosts = config_.options.allowed_hosts;
      http.given_up = config_.options.given_up;
      PropertyReader read(config_.properties);
      http.connect_timeout_ms = read.number("s3.connect-timeout-ms", http.connect_timeout_ms, 1, 86'400'000);
      TRY(read.status());
      TRY_ASSIGN(config_.options.http, net::make_http_client(std::move(http)));
    }
    TRY_ASSIGN(std::shared_ptr<FileIO> store, make_file_io(scheme, properties, config_.options, std::move(renew)));
    const bool is_rooted = is_local && (config_.local_is_restricted || !config_.allowed_roots.empty());
    return is_rooted ? make_rooted_file_io(std::move(store), config_.allowed_roots) : store;
  }

  SchemeFileIOConfig config_;
  base::Mutex mutex_;
  std::map<std::string, std::shared_ptr<FileIO>> stores_;
  std::map<std::string, Prefixed> prefixes_;
};

}  // namespace

std::shared_ptr<SchemeFileIO> make_scheme_file_io(SchemeFileIOConfig config) {
  return std::make_shared<StoresByScheme>(std::move(config));
}

}  // namespace frazil::io
