#include "net/curl_connection.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "net/host_rules.h"
#include "net/http_exchange.h"
#include "net/tls_complaint.h"

namespace frazil::net {

namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// An idle connection is not used again after this time, and none is older than that: renewed certificates come into
// effect.
constexpr long kMaxIdleSeconds = 15;
constexpr long kMaxLifeSeconds = 300;
constexpr int kInterruptCheckMs = 100;
// Up to this size libcurl sends body and headers in one piece.
constexpr size_t kSmallBodyBytes = 64 << 10;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

bool is_header_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f && c != ':'; });
}
bool is_header_value(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos;
}

bool append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

Result<HeaderList> header_list(const HttpRequest& request) {
  HeaderList list;
  bool has_type = false;
  bool fits = append(list, "Expect:");
  for (const auto& [name, value] : request.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return base::invalid("a header of the request holds a character that headers cannot have");
    }
    has_type = has_type || same_name(name, "content-type");
    // The library drops "Name:", and sends an empty header only for "Name;".
    fits = fits && append(list, value.empty() ? name + ";" : name + ": " + value);
  }
  if (!has_type) fits = fits && append(list, "Content-Type:");
  if (!fits) return Error(Code::kExhausted, "no memory for the headers of a request");
  return list;
}

}  // namespace

class CurlConnection::Impl {
 public:
  explicit Impl(const HttpClientConfig& config) : config_(config) {
    easy_ = curl_easy_init();
    multi_ = curl_multi_init();
    // One connection and no other to turn to: what take_socket() stands on.
    if (multi_ != nullptr) curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 1L);
    if (multi_ != nullptr) curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    if (easy_ != nullptr) set_transport();
  }
  ~Impl() {
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
  }

  Result<HttpResponse> send(const HttpRequest& request, const Url& url, const SendRules& rules) {
    if (easy_ == nullptr || multi_ == nullptr) return Error(Code::kExhausted, "no memory for a connection");
    TRY_ASSIGN(const HeaderList headers, header_list(request));
    HttpExchange exchange(request.max_response_bytes);
    exchange_ = &exchange;
    rules_ = rules;
    has_refused_address_ = false;
    has_refused_resend_ = false;
    opened_socket_ = false;
    complaint_.clear();
    error_text_[0] = '\0';
    set_request(request, url, headers.get());
    const Outcome outcome = run(request);
    exchange_ = nullptr;
    return judge(outcome, exchange, url.origin());
  }

 private:
  struct Outcome {
    CURLcode code = CURLE_OK;
    bool is_cancelled = false;
    bool is_too_slow = false;
  };

  template <typename T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(easy_, option, value);
  }

  void set_transport() {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_HTTP09_ALLOWED, 0L);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_MAXAGE_CONN, kMaxIdleSeconds);
    set(CURLOPT_MAXLIFETIME_CONN, kMaxLifeSeconds);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(config_.connect_timeout_ms));
    set(CURLOPT_USERAGENT, "frazil");
    set(CURLOPT_ERRORBUFFER, error_text_);
    set_tls();
    set_callbacks();
  }

  void set_tls() {
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    // Each connection reads the files and verifies anew.
    set(CURLOPT_CA_CACHE_TIMEOUT, 0L);
    set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (!config_.tls.ca_file.empty()) {
      set(CURLOPT_CAINFO, config_.tls.ca_file.c_str());
      set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    if (!config_.tls.certificate_file.empty()) set(CURLOPT_SSLCERT, config_.tls.certificate_file.c_str());
    if (!config_.tls.key_file.empty()) set(CURLOPT_SSLKEY, config_.tls.key_file.c_str());
  }

  void set_callbacks() {
    set(CURLOPT_OPENSOCKETFUNCTION, &Impl::take_socket);
    set(CURLOPT_OPENSOCKETDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Impl::take_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Impl::take_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_VERBOSE, 1L);  // without it there is no trace
    set(CURLOPT_DEBUGFUNCTION, &Impl::take_trace);
    set(CURLOPT_DEBUGDATA, this);
    set(CURLOPT_SSL_CTX_FUNCTION, &Impl::take_tls_context);
    set(CURLOPT_SSL_CTX_DATA, this);
  }

  void set_request(const HttpRequest& request, const Url& url, curl_slist* headers) {
    const std::string target = url.path + (url.query.empty() ? "" : "?" + url.query);
    set(CURLOPT_URL, (url.origin() + "/").c_str());
    set(CURLOPT_REQUEST_TARGET, target.c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.method == "HEAD" ? 0 : request.max_response_bytes));
    set(CURLOPT_FRESH_CONNECT, rules_.takes_kept_connection ? 0L : 1L);
    // Over TLS a first piece of more than one record could be received in part although libcurl counts it as not sent.
    set(CURLOPT_UPLOAD_BUFFERSIZE, request.body.size() < kSmallBodyBytes ? 16L << 10 : 512L << 10);
    set_method(request);
  }

  void set_method(const HttpRequest& request) {
    set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
    set(CURLOPT_POSTFIELDS, static_cast<const char*>(nullptr));
    set(CURLOPT_NOBODY, 0L);
    set(CURLOPT_HTTPGET, 1L);
    if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (request.method == "POST" || request.method == "PUT" || !request.body.empty()) {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }

  Outcome run(const HttpRequest& request) {
    curl_multi_add_handle(multi_, easy_);
    const Outcome outcome = drive(request);
    // A transfer that is not over is cut here, with its connection.
    curl_multi_remove_handle(multi_, easy_);
    set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
    set(CURLOPT_POSTFIELDS, static_cast<const char*>(nullptr));
    return outcome;
  }

  Outcome drive(const HttpRequest& request) {
    base::MonoMicros window_end = next_window();
    int64_t moved_at_window_start = 0;
    int running = 1;
    base::Failpoint* sent_point = request.sent_point;
    while (true) {
      if (curl_multi_perform(multi_, &running) != CURLM_OK) return {CURLE_OUT_OF_MEMORY};
      if (running == 0) break;
      if (sent_point != nullptr && exchange_->body_bytes_sent() == static_cast<int64_t>(request.body.size())) {
        if (!std::exchange(sent_point, nullptr)->pass().ok()) return {CURLE_RECV_ERROR};
      }
      if (is_given_up(request)) return {CURLE_ABORTED_BY_CALLBACK, true};
      if (base::mono_micros() >= window_end) {
        if (exchange_->moved_bytes() - moved_at_window_start < least_bytes())
          return {CURLE_OPERATION_TIMEDOUT, false, true};
        moved_at_window_start = exchange_->moved_bytes();
        window_end = next_window();
      }
      curl_multi_poll(multi_, nullptr, 0, kInterruptCheckMs, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi_, &left);
    return {message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_OUT_OF_MEMORY};
  }

  bool is_given_up(const HttpRequest& request) const {
    if (request.interrupt != nullptr && request.interrupt->raised()) return true;
    return !request.is_clean_up && config_.given_up != nullptr && config_.given_up->raised();
  }

  base::MonoMicros next_window() const {
    return config_.low_speed_ms > 0 ? base::deadline_after(config_.low_speed_ms * 1000) : base::kForever;
  }
  int64_t least_bytes() const { return config_.low_speed_bytes_per_second * config_.low_speed_ms / 1000; }

  Result<HttpResponse> judge(const Outcome& outcome, HttpExchange& exchange, const std::string& origin) {
    if (outcome.code == CURLE_OK && exchange.has_head()) return exchange.take_response();
    if (outcome.is_cancelled) {
      const std::string reason = origin + ": given up before an answer came";
      return exchange.is_sent() ? Error(Code::kUnknownOutcome, reason + " (the request was sent, its outcome is not known)")
                                : Error(Code::kCancelled, reason);
    }
    if (exchange.is_too_large() || outcome.code == CURLE_FILESIZE_EXCEEDED) {
      return Error(Code::kExhausted, origin + ": the answer is larger than allowed");
    }
    if (has_refused_address_ && !exchange.is_sent()) {
      return base::invalid(origin + ": the name leads to an address of this machine or of the cloud's metadata, " +
                           "and the configuration does not list this host");
    }
    const std::string reason = origin + ": " + reason_of(outcome, exchange);
    if (!exchange.is_sent() || is_refused_handshake()) return base::unavailable(reason);
    return Error(Code::kUnknownOutcome, reason + " (the request was sent, its outcome is not known)");
  }

  std::string reason_of(const Outcome& outcome, const HttpExchange& exchange) const {
    if (outcome.is_too_slow) {
      return "less than " + std::to_string(config_.low_speed_bytes_per_second) + " bytes a second for " +
             std::to_string(config_.low_speed_ms) + " ms";
    }
    if (has_refused_resend_) return "the connection was closed before an answer came";
    if (outcome.code == CURLE_OK) return "the answer ended within its headers";
    std::string text = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(outcome.code);
    if (!complaint_.empty() && !exchange.is_sent()) text += "; " + complaint_;
    if (outcome.code == CURLE_SSL_CACERT_BADFILE) text += " (ca_file " + config_.tls.ca_file + ")";
    if (outcome.code == CURLE_SSL_CERTPROBLEM) text += " (certificate_file " + config_.tls.certificate_file + ")";
    if (is_refused_handshake() && config_.tls.certificate_file.empty()) {
      text += "; the server may ask for a certificate: set certificate_file and key_file";
    }
    return text;
  }

  // TLS 1.3 lets the client send before it learns that the server refuses its certificate; the server reads none of
  // that.
  bool is_refused_handshake() const {
    static constexpr std::string_view kAlerts[] = {
        "alert certificate required", "alert bad certificate",         "alert unknown ca",
        "alert certificate expired",  "alert certificate revoked",     "alert certificate unknown",
        "alert handshake failure",    "alert unsupported certificate", "alert access denied"};
    const std::string_view text = error_text_;
    return opened_socket_ && std::any_of(std::begin(kAlerts), std::end(kAlerts),
                                         [&](std::string_view alert) { return text.find(alert) != text.npos; });
  }

  static curl_socket_t take_socket(void* self_pointer, curlsocktype, curl_sockaddr* address) {
    Impl& self = *static_cast<Impl*>(self_pointer);
    if (self.exchange_ == nullptr || self.exchange_->is_sent()) {
      self.has_refused_resend_ = true;
      return CURL_SOCKET_BAD;
    }
    if (self.rules_.guards_addresses && is_guarded_address(address->addr)) {
      self.has_refused_address_ = true;
      return CURL_SOCKET_BAD;
    }
    self.opened_socket_ = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  static size_t take_header(char* data, size_t size, size_t count, void* self_pointer) {
    HttpExchange* exchange = static_cast<Impl*>(self_pointer)->exchange_;
    return exchange != nullptr && exchange->take_header_line({data, size * count}) ? size * count : 0;
  }

  static size_t take_body(char* data, size_t size, size_t count, void* self_pointer) {
    HttpExchange* exchange = static_cast<Impl*>(self_pointer)->exchange_;
    return exchange != nullptr && exchange->take_body({data, size * count}) ? size * count : 0;
  }

  static int take_trace(CURL*, curl_infotype type, char*, size_t size, void* self_pointer) {
    HttpExchange* exchange = static_cast<Impl*>(self_pointer)->exchange_;
    if (exchange == nullptr) return 0;
    if (type == CURLINFO_HEADER_OUT) exchange->count_sent(static_cast<int64_t>(size));
    if (type == CURLINFO_DATA_OUT) exchange->count_body_sent(static_cast<int64_t>(size));
    if (type == CURLINFO_HEADER_IN || type == CURLINFO_DATA_IN) exchange->count_received(static_cast<int64_t>(size));
    return 0;
  }

  static CURLcode take_tls_context(CURL*, void* context, void* self_pointer) {
    record_tls_complaints(static_cast<SSL_CTX*>(context), &static_cast<Impl*>(self_pointer)->complaint_);
    return CURLE_OK;
  }

  const HttpClientConfig& config_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  SendRules rules_;
  HttpExchange* exchange_ = nullptr;  // of the send() that runs
  bool opened_socket_ = false;
  bool has_refused_address_ = false;
  bool has_refused_resend_ = false;
  std::string complaint_;  // outlives the connections that write to it
  char error_text_[CURL_ERROR_SIZE] = {};
};

CurlConnection::CurlConnection(const HttpClientConfig& config) : impl_(std::make_unique<Impl>(config)) {}
CurlConnection::~CurlConnection() = default;

Result<HttpResponse> CurlConnection::send(const HttpRequest& request, const Url& url, const SendRules& rules) {
  return impl_->send(request, url, rules);
}

}  // namespace frazil::net
