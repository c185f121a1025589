// HttpExchange: what is known of one request while it is under way, fed by the transport. Pure; one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/http_client.h"

namespace frazil::net {

class HttpExchange {
 public:
  explicit HttpExchange(int64_t max_response_bytes) : max_bytes_(max_response_bytes) {}

  // Bytes of the request have left, or of the answer have come.
  void count_sent(int64_t bytes) {
    sent_bytes_ += bytes;
    moved_bytes_ += bytes;
  }
  void count_body_sent(int64_t bytes) {
    body_bytes_sent_ += bytes;
    count_sent(bytes);
  }
  void count_received(int64_t bytes) { moved_bytes_ += bytes; }
  // One line of the answer's head, with its line end. False: too much.
  bool take_header_line(std::string_view line);
  // A piece of the body. False: too much.
  bool take_body(std::string_view bytes);

  bool is_sent() const { return sent_bytes_ > 0; }
  int64_t body_bytes_sent() const { return body_bytes_sent_; }
  bool is_too_large() const { return is_too_large_; }
  void call_too_large() { is_too_large_ = true; }
  int64_t moved_bytes() const { return moved_bytes_; }
  // The head of a final answer (not 1xx) has come whole.
  bool has_head() const { return has_head_; }
  HttpResponse take_response() { return std::move(response_); }

 private:
  void begin_answer(std::string_view status_line);

  const int64_t max_bytes_;
  int64_t sent_bytes_ = 0;
  int64_t body_bytes_sent_ = 0;
  int64_t moved_bytes_ = 0;
  int64_t head_bytes_ = 0;
  bool has_head_ = false;
  bool is_too_large_ = false;
  HttpResponse response_;
};

}  // namespace frazil::net
