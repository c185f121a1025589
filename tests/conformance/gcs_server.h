// The emulator of Google Cloud Storage that tests/servers/fake_gcs.py runs this program beside, as its environment
// names it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "io/gcs/gcs_file_io.h"
#include "net/http_client.h"

namespace frazil::conformance {

struct GcsServer {
  std::string endpoint, bucket;

  // Nothing when there is none: it belongs to the long tests.
  static std::optional<GcsServer> of_environment() {
    const char* endpoint = std::getenv("FRAZIL_GCS_ENDPOINT");
    const char* bucket = std::getenv("FRAZIL_GCS_BUCKET");
    if (endpoint == nullptr || bucket == nullptr) return std::nullopt;
    return GcsServer{endpoint, bucket};
  }
  // Over a real connection. Small chunks: larger files go in sessions.
  std::shared_ptr<io::FileIO> open() const {
    net::HttpClientConfig client;
    client.allowed_hosts = {"127.0.0.1"};
    io::GcsConfig config;
    config.host = endpoint;
    config.chunk_bytes = 1 << 20;
    config.retry_total_ms = 20'000;
    return io::make_gcs_file_io(config, *net::make_http_client(client), nullptr);
  }
};

}  // namespace frazil::conformance
