// The S3 server that tests/servers/seaweedfs.py (or moto.py) runs this program beside, as its environment names it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "io/store_properties.h"
#include "net/url.h"

namespace frazil::conformance {

struct S3Server {
  std::string endpoint, access_key, secret_key, bucket;
  std::string kind;  // "moto", or empty: SeaweedFS

  // What the servers themselves do: SeaweedFS keeps files in folders; moto matches URLs line by line and checks nothing.
  bool keeps_slashes() const { return kind == "moto"; }
  bool checks_signatures() const { return kind != "moto"; }
  bool takes_line_breaks() const { return kind != "moto"; }

  // Nothing when there is none; the runner of the tests always starts one.
  static std::optional<S3Server> of_environment() {
    const auto value = [](const char* name) -> std::string {
      const char* text = std::getenv(name);
      return text == nullptr ? "" : text;
    };
    S3Server server{value("FRAZIL_S3_ENDPOINT"), value("FRAZIL_S3_ACCESS_KEY"), value("FRAZIL_S3_SECRET_KEY"), value("FRAZIL_S3_BUCKET"),
                    value("FRAZIL_S3_KIND")};
    if (server.endpoint.empty()) return std::nullopt;
    return server;
  }
  io::StoreProperties properties() const {
    return {{"s3.endpoint", endpoint}, {"s3.access-key-id", access_key}, {"s3.secret-access-key", secret_key}, {"s3.retry-total-ms", "20000"},
            {"s3.multipart.size", "5242880"}};
  }
  io::StoreOptions options() const {
    io::StoreOptions options;
    options.allowed_hosts = {"127.0.0.1"};
    return options;
  }
};

}  // namespace frazil::conformance
