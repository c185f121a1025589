#include <algorithm>

#include "io/store_properties.h"

namespace frazil::io {
namespace {

struct StoreProperty {
  std::string_view name;
  bool is_secret = false;
};

// Sorted.
constexpr StoreProperty kProperties[] = {
    {"client.region"},
    {"gcs.credentials-file"},
    {"gcs.instance-metadata"},
    {"gcs.no-auth"},
    {"gcs.oauth2.token", true},
    {"gcs.oauth2.token-expires-at"},
    {"gcs.project-id"},
    {"gcs.service.host"},
    {"gcs.user-project"},
    {"s3.access-key-id"},
    {"s3.anonymous"},
    {"s3.connect-timeout-ms"},
    {"s3.endpoint"},
    {"s3.force-virtual-addressing"},
    {"s3.instance-metadata"},
    {"s3.multipart.size"},
    {"s3.path-style-access"},
    {"s3.region"},
    {"s3.request-timeout-ms"},
    {"s3.retry-total-ms"},
    {"s3.secret-access-key", true},
    {"s3.session-token", true},
    {"s3.session-token-expires-at-ms"},
    {"s3.sts-endpoint"},
    {"s3.upload-threads"},
};

const StoreProperty* find(const std::string& name) {
  for (const StoreProperty& property : kProperties) {
    if (property.name == name) return &property;
  }
  return nullptr;
}

// Of one store, the first that is there says whose they are.
const std::vector<std::vector<std::string>> kCredentials = {
    {"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms", "s3.anonymous", "s3.instance-metadata"},
    {"gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.credentials-file", "gcs.no-auth", "gcs.instance-metadata"}};

}  // namespace

StoreProperties layered(StoreProperties upper, const StoreProperties& lower) {
  std::vector<std::string> left_out;
  for (const std::vector<std::string>& names : kCredentials) {
    const bool brings = std::any_of(names.begin(), names.end(), [&](const std::string& name) { return upper.contains(name); });
    if (brings) left_out.insert(left_out.end(), names.begin(), names.end());
  }
  for (const auto& [name, value] : lower) {
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) upper.emplace(name, value);
  }
  return upper;
}

std::vector<std::string> store_property_names() {
  std::vector<std::string> names;
  for (const StoreProperty& property : kProperties) names.emplace_back(property.name);
  return names;
}

bool is_store_property(const std::string& name) { return find(name) != nullptr; }

bool is_secret_store_property(const std::string& name) {
  const StoreProperty* property = find(name);
  return property != nullptr && property->is_secret;
}

}  // namespace frazil::io
