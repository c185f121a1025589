// MergeService: how the workers of one pipeline hand epochs to the one that commits for all (docs/protocol, "Merged commits").
//
// Each worker listens for epochs of others and has its client id end in "@<address>"; the worker that reads the group's first
// partition commits for all. Kafka's group tells who that is: asked at most every few seconds, forgotten when no verdict came.
// POST /v1/epochs takes a HandedEpoch and gives a verdict; 503 when there is none, 403 without a proof that the sender is a worker of this
// pipeline (merge_key.h, or a certificate), 400 for an epoch that none would send. Verdicts are believed only with the same proof.
// Without TLS only loopback is listened on, unless plaintext was allowed.
// start() and open() by the pipeline's thread before its worker runs; hand_over() by the committer lane; the server's lanes answer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/config/pipeline_config.h"
#include "base/sync.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "sinks/iceberg/hand_over.h"
#include "sinks/iceberg/merge_desk.h"

namespace frazil::app {

class MergeService : public sinks::HandOver {
 public:
  // Listens. kUnavailable: the address is taken, or there is no place for a key; kInvalid: the files of TLS or the key cannot be used.
  static base::Result<std::unique_ptr<MergeService>> start(const MergeConfig& config);
  ~MergeService() override;

  // host:port under which other workers reach this one.
  const std::string& address() const { return address_; }
  // From now on epochs are taken. `catalog` is for the service alone; `format` outlives it. `first_reader`: as
  // engine::Source::first_reader(), also while hand_over() waits.
  void open(sinks::IcebergSinkConfig sink, std::unique_ptr<iceberg::Catalog> catalog, const engine::PositionFormat& format,
            std::function<base::Result<std::string>()> first_reader);

  base::Result<engine::CommitVerdict> hand_over(const sinks::HandedEpoch& epoch) override;

 private:
  explicit MergeService(MergeConfig config) : config_(std::move(config)) {}
  base::Status listen();
  // What proves membership; empty where certificates do.
  base::Result<std::string> key() const;
  net::HttpReply receive(const net::HttpPost& post);
  net::HttpReply refuse(int status, const std::string& why);
  base::Result<engine::CommitVerdict> judge(const std::string& body);
  base::Result<std::string> who_commits();
  base::Result<engine::CommitVerdict> send(const std::string& address, const sinks::HandedEpoch& epoch);

  const MergeConfig config_;
  std::string address_;
  sinks::IcebergSinkConfig sink_;
  std::unique_ptr<iceberg::Catalog> catalog_;
  const engine::PositionFormat* format_ = nullptr;
  std::function<base::Result<std::string>()> first_reader_;
  std::shared_ptr<net::HttpClient> client_;

  base::Mutex mutex_;
  std::shared_ptr<sinks::MergeDesk> desk_;  // null until open()
  std::string who_commits_;                 // empty: to be asked
  base::MonoMicros ask_again_ = 0;
  base::MonoMicros tell_again_ = 0;  // of what was refused
  int64_t refused_ = 0;              // since it was told

  std::unique_ptr<net::HttpServer> server_;  // last: stops first
};

// The client id by which other workers find this one, and the address in such an id; empty when there is none.
std::string client_id_at(const std::string& client_id, const std::string& address);
std::string address_in(const std::string& client_id);

}  // namespace frazil::app
