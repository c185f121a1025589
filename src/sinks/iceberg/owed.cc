#include "sinks/iceberg/owed.h"

#include <nlohmann/json.hpp>

namespace frazil::sinks {
namespace {

using Json = nlohmann::json;

bool read_entry(const Json& json, OwedEntry& entry) {
  if (!json.is_object() || !json.contains("epoch") || !json["epoch"].is_number_integer()) return false;
  if (!json.contains("table") || !json["table"].is_string()) return false;
  entry.epoch = json["epoch"].get<int64_t>();
  entry.table = json["table"].get<std::string>();
  if (json.contains("uuid") && json["uuid"].is_string()) entry.uuid = json["uuid"].get<std::string>();
  if (json.contains("manifest") && json["manifest"].is_string()) {
    entry.manifest = json["manifest"].get<std::string>();
    return true;
  }
  if (!json.contains("void") || !json["void"].is_array() || json["void"].size() != 2) return false;
  const Json& bounds = json["void"];
  if (!bounds[0].is_number_integer() || !bounds[1].is_number_integer()) return false;
  entry.void_epochs.emplace(bounds[0].get<int64_t>(), bounds[1].get<int64_t>());
  return true;
}

}  // namespace

std::string encode_owed(const std::vector<OwedEntry>& owed) {
  Json list = Json::array();
  for (const OwedEntry& entry : owed) {
    Json json{{"epoch", entry.epoch}, {"table", entry.table}};
    if (entry.void_epochs) {
      json["void"] = Json::array({entry.void_epochs->first, entry.void_epochs->second});
    } else {
      json["manifest"] = entry.manifest;
    }
    if (!entry.uuid.empty()) json["uuid"] = entry.uuid;
    list.push_back(std::move(json));
  }
  return list.dump();
}

base::Result<std::vector<OwedEntry>> decode_owed(const std::string& json) {
  const Json list = Json::parse(json, nullptr, false);
  if (!list.is_array()) return base::corrupt("frazil.owed is no JSON array: " + json.substr(0, 200));
  std::vector<OwedEntry> owed;
  for (const Json& item : list) {
    OwedEntry entry;
    if (!read_entry(item, entry)) return base::corrupt("frazil.owed holds an entry that cannot be read: " + item.dump());
    owed.push_back(std::move(entry));
  }
  return owed;
}

std::string encode_known_tables(const KnownTables& tables) { return Json(tables).dump(); }

KnownTables decode_known_tables(const std::string& json) {
  KnownTables tables;
  const Json map = Json::parse(json, nullptr, false);
  if (!map.is_object()) return tables;
  for (const auto& [name, uuid] : map.items()) {
    if (uuid.is_string()) tables[name] = uuid.get<std::string>();
  }
  return tables;
}

}  // namespace frazil::sinks
