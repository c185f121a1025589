#include "clients/kafka/rdkafka_connection.h"

#include <librdkafka/rdkafka.h>
#include <syslog.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace frazil::clients {

namespace {

// A SCRAM user may be created a moment late, so one refusal is no verdict.
constexpr int kRefusalsThatCount = 3;
constexpr int kAttemptMillis = 1000;
constexpr int kPauseMillis = 100;

// What librdkafka calls an error it goes on to retry: for us a warning.
base::LogLevel level_of(int syslog_level) {
  if (syslog_level <= LOG_WARNING) return base::LogLevel::kWarn;
  return syslog_level <= LOG_INFO ? base::LogLevel::kInfo : base::LogLevel::kDebug;
}

void on_log(const rd_kafka_t*, int level, const char* facility, const char* text) {
  base::log(level_of(level), "kafka_client", {{"facility", facility}, {"text", text}});
}

void on_error(rd_kafka_t*, int code, const char* reason, void* opaque) {
  static_cast<RdKafkaConnection*>(opaque)->note_error(code, reason);
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

}  // namespace

base::Result<std::shared_ptr<RdKafkaConnection>> RdKafkaConnection::open(
    Role role, const std::map<std::string, std::string>& properties, int events) {
  std::shared_ptr<RdKafkaConnection> connection(new RdKafkaConnection);
  ConfPtr conf(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  TRY(set_properties(conf.get(), properties));
  rd_kafka_conf_set_opaque(conf.get(), connection.get());
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  rd_kafka_conf_set_events(conf.get(), events);
  char text[512];
  const auto type = role == Role::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
  connection->handle_.reset(rd_kafka_new(type, conf.get(), text, sizeof text));
  if (!connection->handle_) return base::invalid(std::string("Kafka client: ") + text);
  (void)conf.release();  // rd_kafka_new() took it
  return connection;
}

RdKafkaConnection::~RdKafkaConnection() = default;

void RdKafkaConnection::note_error(int code, const std::string& text) {
  base::Lock lock(mutex_);
  last_error_ = std::string(rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code))) + ": " + text;
  if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED) {
    ++refused_authentications_;
  }
}

std::string RdKafkaConnection::last_error() const {
  base::Lock lock(mutex_);
  return last_error_;
}

std::string RdKafkaConnection::fatal_error() const {
  char text[512];
  const auto code = rd_kafka_fatal_error(handle(), text, sizeof text);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : std::string(rd_kafka_err2name(code)) + ": " + text;
}

base::Error RdKafkaConnection::connection_error() const {
  base::Lock lock(mutex_);
  const bool refused = refused_authentications_ > 0;
  std::string text = refused ? "Kafka refused our authentication" : "no Kafka broker answered";
  if (!last_error_.empty()) text += "; last error: " + last_error_;
  text += refused ? ". Check security.protocol and the sasl.* and ssl.* properties"
                  : ". Check bootstrap.servers, security.protocol and the network";
  // Waiting does not mend a wrong password.
  return refused ? base::invalid(std::move(text)) : base::unavailable(std::move(text));
}

base::Status RdKafkaConnection::wait_until_connected(base::MonoMicros deadline) {
  for (;;) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const int wait_ms = millis_until(deadline, kAttemptMillis);
    const auto code = rd_kafka_metadata(handle(), 0, nullptr, &metadata, std::max(wait_ms, 1));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_metadata_destroy(metadata);
      return {};
    }
    rd_kafka_poll(handle(), millis_until(deadline, kPauseMillis));  // serves on_error
    base::Lock lock(mutex_);
    if (refused_authentications_ >= kRefusalsThatCount) break;
    if (base::mono_micros() >= deadline) break;
  }
  return connection_error();
}

}  // namespace frazil::clients
