#include "net/http_guests.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace frazil::net {

void HttpGuests::end(Place& place) {
  if (!std::exchange(place.is_ended, true)) ++ending_;
  shutdown(place.socket, SHUT_RDWR);
}

void HttpGuests::make_room_for(size_t others) {
  base::Lock lock(mutex_);
  wanted_ = others;
  while (wanted_ > ending_) {
    Place* slowest = nullptr;
    for (Place& place : places_) {
      if (place.is_waited_for && !place.is_ended && (slowest == nullptr || place.began < slowest->began)) slowest = &place;
    }
    if (slowest == nullptr) return;
    end(*slowest);
  }
}

void HttpGuests::end_all() {
  base::Lock lock(mutex_);
  is_closed_ = true;
  for (Place& place : places_) end(place);
}

void Guest::FreeSsl::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Guest::Guest(int socket, SSL_CTX* tls, HttpGuests& list) : list_(list), socket_(socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  if (tls != nullptr) {
    ssl_.reset(SSL_new(tls));
    if (ssl_) SSL_set_fd(ssl_.get(), socket);
  }
  base::Lock lock(list_.mutex_);
  place_ = list_.places_.insert(list_.places_.end(), {.socket = socket});
  if (list_.is_closed_ || (tls != nullptr && !ssl_)) list_.end(*place_);
}

Guest::~Guest() {
  if (ssl_ && SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  base::Lock lock(list_.mutex_);
  list_.end(*place_);
  --list_.ending_;
  list_.places_.erase(place_);
}

void Guest::begin(int64_t micros) {
  deadline_ = base::deadline_after(micros);
  base::Lock lock(list_.mutex_);
  place_->began = base::mono_micros();
}

bool Guest::wait(short events) {
  const auto note = [this](bool is_waited_for) {
    base::Lock lock(list_.mutex_);
    place_->is_waited_for = is_waited_for;
    if (is_waited_for && list_.wanted_ > list_.ending_) list_.end(*place_);
    return !place_->is_ended;
  };
  const bool has_come = note(true) && wait_for_events(socket(), events, deadline_);
  return note(false) && has_come;
}

template <typename Step>
ssize_t Guest::until_done(Step step) {
  while (true) {
    short awaited = 0;
    const ssize_t result = step(awaited);
    if (awaited == 0) return result;
    if (!wait(awaited)) return -1;
  }
}

short Guest::awaited_by_tls(int result) const {
  const int error = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
  return error == SSL_ERROR_WANT_READ ? POLLIN : error == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

bool Guest::shake_hands() {
  if (!ssl_) return true;
  return until_done([&](short& awaited) -> ssize_t {
           ERR_clear_error();
           const int result = SSL_accept(ssl_.get());
           awaited = awaited_by_tls(result);
           return result;
         }) == 1;
}

ssize_t Guest::read_some(char* bytes, size_t size) {
  return until_done([&](short& awaited) -> ssize_t {
    if (ssl_) {
      ERR_clear_error();
      const int got = SSL_read(ssl_.get(), bytes, static_cast<int>(size));
      awaited = awaited_by_tls(got);
      return got;
    }
    const ssize_t got = recv(socket(), bytes, size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) awaited = POLLIN;
    return got;
  });
}

// A drop that comes just in time again and again must not hold up the end, so the clock is looked at before each.
ssize_t Guest::read(char* bytes, size_t size) {
  if (ahead_begin_ == ahead_end_) {
    if (bytes_left_ <= 0 || base::mono_micros() >= deadline_) return -1;
    const ssize_t got = read_some(ahead_, sizeof ahead_);
    if (got <= 0) return got;
    bytes_left_ -= got;
    ahead_begin_ = 0;
    ahead_end_ = static_cast<size_t>(got);
  }
  const size_t given = std::min(size, ahead_end_ - ahead_begin_);
  std::memcpy(bytes, ahead_ + ahead_begin_, given);
  ahead_begin_ += given;
  return static_cast<ssize_t>(given);
}

ssize_t Guest::write(const char* bytes, size_t size) {
  for (size_t sent = 0; sent < size;) {
    if (base::mono_micros() >= deadline_) return -1;
    const ssize_t more = until_done([&](short& awaited) -> ssize_t {
      if (ssl_) {
        ERR_clear_error();
        const int put = SSL_write(ssl_.get(), bytes + sent, static_cast<int>(std::min<size_t>(size - sent, 1 << 14)));
        awaited = awaited_by_tls(put);
        return put;
      }
      const ssize_t put = send(socket(), bytes + sent, size - sent, MSG_NOSIGNAL);
      if (put < 0 && (errno == EAGAIN || errno == EINTR)) awaited = POLLOUT;
      return put;
    });
    if (more <= 0) return -1;
    sent += static_cast<size_t>(more);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace frazil::net
