#include "io/gcs/gcs_file_io.h"

#include <algorithm>
#include <utility>

#include "io/gcs/gcs_requests.h"
#include "io/gcs/gcs_store.h"
#include "io/objects/object_file_io.h"

namespace frazil::io {
namespace {

constexpr int64_t kChunkUnit = 256 << 10;

}  // namespace

std::shared_ptr<FileIO> make_gcs_file_io(GcsConfig config, std::shared_ptr<net::HttpClient> http,
                                         std::shared_ptr<net::BearerTokens> tokens) {
  config.chunk_bytes = std::max((config.chunk_bytes + kChunkUnit - 1) / kChunkUnit, int64_t{1}) * kChunkUnit;
  config.upload_lanes = std::max(config.upload_lanes, 1);
  while (config.host.ends_with('/')) config.host.pop_back();
  auto requests = std::make_unique<GcsRequests>(std::move(config), std::move(http), std::move(tokens));
  return make_object_file_io(std::make_shared<GcsStore>(std::move(requests)));
}

}  // namespace frazil::io
