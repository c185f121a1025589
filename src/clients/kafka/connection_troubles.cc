#include "clients/kafka/connection_troubles.h"

#include <librdkafka/rdkafka.h>

#include "base/clock.h"

namespace frazil::clients {

namespace {

// A user or a certificate may come a moment late, and another broker may answer. librdkafka tries again meanwhile, but does
// not tell an error again that it has just told.
constexpr int64_t kPatienceMicros = 3'000'000;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The broker has looked at our certificate, or missed it.
bool is_refused_certificate(const std::string& text) {
  return has(text, "SSL alert") && (has(text, "certificate") || has(text, "unknown ca"));
}

bool is_authentication_code(int code) {
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED ||
         code == RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM || code == RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE;
}

// A connection that ends while it authenticates is reported in the same way as a refusal.
bool is_authentication(int code, const std::string& text) {
  return is_authentication_code(code) && !has(text, "Broker transport failure");
}

}  // namespace

void ConnectionTroubles::note(int code, const std::string& text) {
  const std::string named = std::string(rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code))) + ": " + text;
  if (is_authentication(code, text) && !has(text, "Failed to acquire")) return refuse(Kind::kAuthentication, named);
  if (is_refused_certificate(text)) return refuse(Kind::kTls, named);
  base::Lock lock(mutex_);
  // The echo of errors that say more.
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !last_error_.empty()) return;
  // A verdict stays: librdkafka goes on to tell how the connection ended.
  if (refusals_ > 0) return;
  kind_ = is_authentication(code, text) ? Kind::kToken : has(text, "SSL") ? Kind::kTls : Kind::kNetwork;
  last_error_ = named;
}

void ConnectionTroubles::note_certificate(const std::string& broker, const std::string& verdict) {
  refuse(Kind::kCertificate, "broker " + broker + ": " + verdict);
}

void ConnectionTroubles::note_plaintext(const std::string& broker, const std::string& address) {
  refuse(Kind::kPlaintext, "broker " + broker + " is at " + address + ", outside of this machine, and would be reached without TLS");
}

void ConnectionTroubles::refuse(Kind kind, std::string text) {
  base::Lock lock(mutex_);
  kind_ = kind;
  last_error_ = std::move(text);
  if (refusals_++ == 0) first_refusal_ = base::mono_micros();
}

bool ConnectionTroubles::is_hopeless() const {
  base::Lock lock(mutex_);
  if (kind_ == Kind::kPlaintext) return true;
  return refusals_ > 0 && base::mono_micros() - first_refusal_ >= kPatienceMicros;
}

base::Error ConnectionTroubles::error() const {
  const bool has_no_hope = is_hopeless();
  base::Lock lock(mutex_);
  const std::string last = last_error_.empty() ? "" : "; last error: " + last_error_;
  std::string text;
  switch (kind_) {
    case Kind::kNone:
    case Kind::kNetwork:
      text = "no Kafka broker answered" + last + ". Check bootstrap.servers, security.protocol and the network";
      break;
    case Kind::kTls:
      text = "no TLS with the Kafka brokers" + last +
             ". Check that this port of the broker speaks TLS, and whether it asks for a client certificate "
             "(ssl.certificate.location, ssl.key.location)";
      break;
    case Kind::kToken:
      text = "no token for Kafka" + last +
             ". Check sasl.oauthbearer.token.endpoint.url, the client's id and secret, and https.ca.location";
      break;
    case Kind::kAuthentication:
      text = "Kafka refused our authentication" + last + ". Check security.protocol and the sasl.* and ssl.* properties";
      break;
    case Kind::kCertificate:
      text = last_error_ + ". Check ssl.ca.location, the name in bootstrap.servers, and the broker's certificate";
      break;
    case Kind::kPlaintext:
      text = last_error_ + ": set security.protocol to ssl or sasl_ssl, or allow_plaintext: true on this source";
      break;
  }
  return has_no_hope ? base::invalid(std::move(text)) : base::unavailable(std::move(text));
}

std::string ConnectionTroubles::last_error() const {
  base::Lock lock(mutex_);
  return last_error_;
}

void ConnectionTroubles::clear() {
  base::Lock lock(mutex_);
  kind_ = Kind::kNone;
  last_error_.clear();
  refusals_ = 0;
}

}  // namespace frazil::clients
