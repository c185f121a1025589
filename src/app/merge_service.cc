#include "app/merge_service.h"

#include <utility>

#include "app/merge_key.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/digest.h"
#include "net/foreign_answer.h"

namespace frazil::app {
namespace {

constexpr char kPath[] = "/v1/epochs";
constexpr int64_t kWindowMs = 100;               // epochs that come within it share a snapshot
constexpr int64_t kAskEveryMicros = 5'000'000;   // who commits
constexpr int64_t kTellEveryMicros = 60'000'000;
constexpr int64_t kMaxBodyBytes = 8LL << 20;

net::HttpReply no_verdict(const base::Error& error) { return {503, "text/plain; charset=utf-8", error.message() + "\n"}; }

std::string host_and_port(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool is_loopback(const std::string& host) { return host == "127.0.0.1" || host == "::1" || host == "localhost"; }

}  // namespace

std::string client_id_at(const std::string& client_id, const std::string& address) { return client_id + "@" + address; }

std::string address_in(const std::string& client_id) {
  const size_t at = client_id.rfind('@');
  return at == std::string::npos ? "" : client_id.substr(at + 1);
}

base::Result<std::unique_ptr<MergeService>> MergeService::start(const MergeConfig& config) {
  std::unique_ptr<MergeService> service(new MergeService(config));
  TRY(service->key().status());
  TRY(service->listen());
  net::HttpClientConfig client;
  client.tls = {config.ca_file, config.certificate_file, config.key_file};
  client.allow_plaintext = config.allow_plaintext;
  // The group's members say where they listen; to this machine it goes only when this worker listens here too.
  if (is_loopback(config.listen.host)) client.allowed_hosts = {"127.0.0.1", "localhost", "::1"};
  TRY_ASSIGN(service->client_, net::make_http_client(std::move(client)));
  return service;
}

base::Status MergeService::listen() {
  net::HttpServerConfig server;
  server.host = config_.listen.host;
  server.port = config_.listen.port;
  server.max_body_bytes = kMaxBodyBytes;
  server.receivers[kPath] = [this](const net::HttpPost& post) { return receive(post); };
  if (config_.has_certificates()) server.tls = net::ServerTls{config_.certificate_file, config_.key_file, config_.ca_file};
  base::Result<std::unique_ptr<net::HttpServer>> started = net::HttpServer::start(std::move(server));
  TRY(started.status().in("commit.merge.listen"));
  server_ = std::move(started).value();
  address_ = config_.advertise.empty() ? host_and_port(config_.listen.host, server_->port()) : config_.advertise;
  return {};
}

MergeService::~MergeService() {
  // Calls that wait for the desk end first, then the server that carries them.
  {
    base::Lock lock(mutex_);
    if (desk_) desk_->close();
  }
  if (server_) server_->stop();
}

void MergeService::open(sinks::IcebergSinkConfig sink, std::unique_ptr<iceberg::Catalog> catalog,
                        const engine::PositionFormat& format, std::function<base::Result<std::string>()> first_reader) {
  base::Lock lock(mutex_);
  sink_ = std::move(sink);
  catalog_ = std::move(catalog);
  format_ = &format;
  first_reader_ = std::move(first_reader);
  desk_ = std::make_shared<sinks::MergeDesk>(sink_, *catalog_, format, kWindowMs);
  base::log_info("merge_ready", {{"pipeline", sink_.pipeline}, {"address", address_}});
}

base::Result<std::string> MergeService::key() const {
  if (!config_.secret.empty()) return config_.secret;
  if (config_.has_certificates()) return std::string();
  return merge_key_of_user().in("commit.merge.secret");
}

net::HttpReply MergeService::receive(const net::HttpPost& post) {
  const base::Result<std::string> key = this->key();
  if (!key.ok()) return no_verdict(key.error());
  if (!key->empty() && !net::is_same_secret(post.authorization, epoch_proof(*key, post.body))) {
    return refuse(403, "no proof that a worker of this pipeline sent it: workers of several users or machines need the same \"commit.merge.secret\"");
  }
  const base::Result<engine::CommitVerdict> verdict = judge(post.body);
  if (!verdict.ok()) {
    const bool is_nonsense = verdict.error().code() == base::Code::kInvalid || verdict.error().code() == base::Code::kUnsupported;
    return is_nonsense ? refuse(400, verdict.error().message()) : no_verdict(verdict.error());
  }
  net::HttpReply reply{200, "application/json", sinks::to_message(*verdict, *format_)};
  if (!key->empty()) reply.headers[kVerdictProof] = verdict_proof(*key, post.authorization, reply.body);
  return reply;
}

base::Result<engine::CommitVerdict> MergeService::judge(const std::string& body) {
  std::shared_ptr<sinks::MergeDesk> desk;
  {
    base::Lock lock(mutex_);
    desk = desk_;
  }
  if (!desk) return base::unavailable("this worker is starting");
  TRY_ASSIGN(sinks::HandedEpoch epoch, sinks::read_handed_epoch(body));
  return desk->submit(std::move(epoch), base::deadline_after(config_.patience_ms * 1000));
}

net::HttpReply MergeService::refuse(int status, const std::string& why) {
  const std::string text = net::tamed(why, {config_.secret});
  base::Lock lock(mutex_);
  ++refused_;
  if (base::mono_micros() >= tell_again_) {
    base::log_warn("handed_epoch_refused", {{"pipeline", sink_.pipeline}, {"status", status}, {"why", text}, {"times", std::exchange(refused_, 0)}});
    tell_again_ = base::deadline_after(kTellEveryMicros);
  }
  return {status, "text/plain; charset=utf-8", text + "\n"};
}

base::Result<std::string> MergeService::who_commits() {
  {
    base::Lock lock(mutex_);
    if (base::mono_micros() < ask_again_) return who_commits_;
  }
  base::Result<std::string> reader = first_reader_();
  const std::string address = reader.ok() ? address_in(*reader) : "";
  base::Lock lock(mutex_);
  who_commits_ = address;
  ask_again_ = base::deadline_after(kAskEveryMicros);
  TRY(reader.status());
  return address;
}

base::Result<engine::CommitVerdict> MergeService::hand_over(const sinks::HandedEpoch& epoch) {
  TRY_ASSIGN(const std::string address, who_commits());
  if (address.empty()) return base::unavailable("the group does not say who commits for all");
  base::Result<engine::CommitVerdict> verdict =
      address == address_ ? desk_->submit(epoch, base::deadline_after(config_.patience_ms * 1000)) : send(address, epoch);
  if (!verdict.ok()) {
    base::Lock lock(mutex_);
    ask_again_ = 0;
  }
  return std::move(verdict).in("worker " + address);
}

base::Result<engine::CommitVerdict> MergeService::send(const std::string& address, const sinks::HandedEpoch& epoch) {
  const std::string body = sinks::to_message(epoch);
  net::HttpRequest request;
  request.method = "POST";
  request.url = (!config_.has_certificates() ? "http://" : "https://") + address + kPath;
  request.headers = {{"Content-Type", "application/json"}};
  TRY_ASSIGN(const std::string key, this->key());
  const std::string proof = key.empty() ? "" : epoch_proof(key, body);
  if (!key.empty()) request.headers.emplace_back("Authorization", proof);
  request.body = body;
  request.timeout_ms = config_.patience_ms;
  request.max_response_bytes = kMaxBodyBytes;
  TRY_ASSIGN(const net::HttpResponse answer, client_->send(request));
  if (answer.status != 200) {
    return base::unavailable("answered " + std::to_string(answer.status) + ": " + net::tamed(answer.body, {config_.secret}));
  }
  const std::string* shown = answer.header(kVerdictProof);
  if (!key.empty() && (shown == nullptr || !net::is_same_secret(*shown, verdict_proof(key, proof, answer.body)))) {
    return base::unavailable("its verdict comes without a proof that a worker of this pipeline gave it");
  }
  return sinks::read_verdict(answer.body, *format_);
}

}  // namespace frazil::app
