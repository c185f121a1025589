// ConnectionTroubles: what went wrong with the connections to the brokers, kept for the message that a person reads.
//
// librdkafka tries again for ever and tells each failure on the way. Here the telling ones are kept apart from their echoes
// ("all brokers are down"), and what no patience will mend (a wrong password, a certificate of somebody else) from what may
// pass. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "base/sync.h"

namespace frazil::clients {

class ConnectionTroubles {
 public:
  // An error of librdkafka; `code` is an rd_kafka_resp_err_t.
  void note(int code, const std::string& text);
  // A broker's certificate was refused; `verdict` says what is wrong with it.
  void note_certificate(const std::string& broker, const std::string& verdict);
  // A broker outside of this machine would have been reached without TLS.
  void note_plaintext(const std::string& broker, const std::string& address);

  // Refused some seconds ago, and not accepted since, for a reason that will not go away by itself; without TLS at once.
  bool is_hopeless() const;
  // For a caller that gives up: kInvalid when hopeless, else kUnavailable.
  base::Error error() const;
  // The last telling error, empty when there was none.
  std::string last_error() const;
  // Forgets what was noted: a broker has answered.
  void clear();

 private:
  enum class Kind { kNone, kNetwork, kTls, kToken, kAuthentication, kCertificate, kPlaintext };
  void refuse(Kind kind, std::string text);

  mutable base::Mutex mutex_;
  Kind kind_ = Kind::kNone;  // of last_error_
  std::string last_error_;
  int refusals_ = 0;
  base::MonoMicros first_refusal_ = 0;
};

}  // namespace frazil::clients
