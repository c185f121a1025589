#include "clients/kafka/rdkafka_connection.h"

#include <librdkafka/rdkafka.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "clients/kafka/connection_rules.h"
#include "clients/kafka/log_thinner.h"
#include "clients/kafka/plaintext_guard.h"
#include "net/certificate_verdict.h"

namespace frazil::clients {

namespace {

constexpr int kAttemptMillis = 1000;
constexpr int kPauseMillis = 100;

// What librdkafka calls an error it goes on to retry: for us a warning.
base::LogLevel level_of(int syslog_level) {
  if (syslog_level <= LOG_WARNING) return base::LogLevel::kWarn;
  return syslog_level <= LOG_INFO ? base::LogLevel::kInfo : base::LogLevel::kDebug;
}

void on_log(const rd_kafka_t*, int level, const char* facility, const char* text) {
  if (tells_of_a_lost_topic(facility, text)) return log_thinned(base::LogLevel::kWarn, "kafka_topic_gone", facility, text);
  log_thinned(level_of(level), "kafka_client", facility, text);
}

void on_error(rd_kafka_t*, int code, const char* reason, void* opaque) {
  static_cast<RdKafkaConnection*>(opaque)->note_error(code, reason);
}

int on_certificate(rd_kafka_t*, const char* broker, int32_t, int* verify_error, int depth, const char* der, size_t der_size,
                   char* text, size_t text_size, void* opaque) {
  std::string verdict;
  auto* connection = static_cast<RdKafkaConnection*>(opaque);
  if (connection->judge_certificate(broker, *verify_error, depth, std::string(der, der_size), verdict)) return 1;
  std::snprintf(text, text_size, "%s", verdict.c_str());
  return 0;
}

int on_connect(int socket, const struct sockaddr* address, int length, const char* broker, void* opaque) {
  return static_cast<RdKafkaConnection*>(opaque)->connect_on_loopback(socket, *address, length, broker);
}

using ConfPtr = std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)>;

base::Status set_properties(rd_kafka_conf_t* conf, const std::map<std::string, std::string>& properties) {
  char text[512];
  for (const auto& [name, value] : properties) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text) == RD_KAFKA_CONF_OK) continue;
    // The text of librdkafka may repeat the value, which may be a secret.
    return base::invalid("Kafka property '" + name + "': librdkafka does not accept its value");
  }
  return {};
}

// librdkafka names no file when it cannot read one.
base::Status check_files(const std::map<std::string, std::string>& properties) {
  for (const std::string& name : kafka_file_properties()) {
    const auto found = properties.find(name);
    if (found == properties.end() || found->second.empty() || found->second == "probe") continue;
    if (access(found->second.c_str(), R_OK) == 0) continue;
    return base::invalid("Kafka property '" + name + "': " + found->second + " cannot be read: " + std::strerror(errno));
  }
  return {};
}

bool verifies_certificates(rd_kafka_conf_t* conf) {
  char text[16];
  size_t size = sizeof text;
  const auto code = rd_kafka_conf_get(conf, "enable.ssl.certificate.verification", text, &size);
  return code != RD_KAFKA_CONF_OK || std::string(text) != "false";
}

}  // namespace

base::Result<std::shared_ptr<RdKafkaConnection>> RdKafkaConnection::open(
    Role role, const std::map<std::string, std::string>& properties, int events, bool allow_plaintext) {
  std::shared_ptr<RdKafkaConnection> connection(new RdKafkaConnection);
  ConfPtr conf(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  TRY(set_properties(conf.get(), properties));
  TRY(check_files(properties));
  rd_kafka_conf_set_opaque(conf.get(), connection.get());
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  rd_kafka_conf_set_events(conf.get(), events);
  if (verifies_certificates(conf.get())) rd_kafka_conf_set_ssl_cert_verify_cb(conf.get(), on_certificate);
  // Other brokers are in the list only with somebody's consent.
  connection->is_guarded_ = !allow_plaintext && is_plaintext(properties) && has_loopback_brokers_only(properties);
  if (connection->is_guarded_) rd_kafka_conf_set_connect_cb(conf.get(), on_connect);
  char text[512];
  const auto type = role == Role::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
  connection->handle_.reset(rd_kafka_new(type, conf.get(), text, sizeof text));
  if (!connection->handle_) return base::invalid(std::string("Kafka client: ") + text);
  (void)conf.release();  // rd_kafka_new() took it
  return connection;
}

RdKafkaConnection::~RdKafkaConnection() = default;

bool RdKafkaConnection::judge_certificate(const std::string& broker, int verify_error, int depth, const std::string& der,
                                          std::string& verdict) {
  if (verify_error == 0) return true;
  verdict = net::certificate_verdict(der, verify_error, depth);
  troubles_.note_certificate(broker, verdict);
  return false;
}

int RdKafkaConnection::connect_on_loopback(int socket, const sockaddr& address, int length, const std::string& broker) {
  if (is_loopback_address(address)) return begin_connect(socket, address, length);
  troubles_.note_plaintext(broker, address_text(address));
  return EACCES;
}

std::string RdKafkaConnection::fatal_error() const {
  char text[512];
  const auto code = rd_kafka_fatal_error(handle(), text, sizeof text);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : std::string(rd_kafka_err2name(code)) + ": " + text;
}

// A broker on this machine may send us on to brokers that are not.
void RdKafkaConnection::look_at_advertised(const rd_kafka_metadata_t& metadata) {
  for (int i = 0; is_guarded_ && i < metadata.broker_cnt; ++i) {
    const auto& broker = metadata.brokers[i];
    const auto outside = outside_address(broker.host);
    if (outside) troubles_.note_plaintext(std::string(broker.host) + ":" + std::to_string(broker.port), *outside);
  }
}

base::Status RdKafkaConnection::wait_until_connected(base::MonoMicros deadline) {
  for (;;) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const int wait_ms = millis_until(deadline, kAttemptMillis);
    const auto code = rd_kafka_metadata(handle(), 0, nullptr, &metadata, std::max(wait_ms, 1));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      troubles_.clear();
      look_at_advertised(*metadata);
      rd_kafka_metadata_destroy(metadata);
      if (troubles_.is_hopeless()) return troubles_.error();
      return {};
    }
    rd_kafka_poll(handle(), millis_until(deadline, kPauseMillis));  // serves on_error
    if (troubles_.is_hopeless() || base::mono_micros() >= deadline) return troubles_.error();
  }
}

}  // namespace frazil::clients
