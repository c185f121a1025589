// HttpGuests: the open connections of an HttpServer, so that slow ones can be ended: all at the stop, and the one that has been slow for
// longest when somebody else needs its lane. Guest: one of them, whose every byte comes and goes before a deadline. A guest belongs to one
// lane; the list is for any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "base/clock.h"
#include "base/sync.h"
#include "net/local_socket.h"

struct ssl_ctx_st;  // SSL_CTX and SSL of OpenSSL
struct ssl_st;

namespace frazil::net {

class HttpGuests {
 public:
  // So many others have no lane: as many guests that are waited for are ended, the one since longest first; where there are fewer, those
  // that come to be waited for next.
  void make_room_for(size_t others);
  // Ends all, and whoever comes later too.
  void end_all();

 private:
  friend class Guest;
  struct Place {
    int socket = -1;
    base::MonoMicros began = 0;  // the request, or its answer
    bool is_waited_for = false;
    bool is_ended = false;
  };
  void end(Place& place);

  base::Mutex mutex_;
  std::list<Place> places_;
  size_t wanted_ = 0;  // lanes
  size_t ending_ = 0;  // guests that have been ended and still have their lane
  bool is_closed_ = false;
};

class Guest {
 public:
  // Takes the socket, which it closes. `tls` null: plain. `list` outlives it.
  Guest(int socket, ssl_ctx_st* tls, HttpGuests& list);
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Of TLS; true without. To be done first, as part of the first request.
  bool shake_hands();
  // From now on so long, for a request or its answer.
  void begin(int64_t micros);
  void take_at_most(int64_t bytes) { bytes_left_ = bytes; }
  // As recv(): up to `size` bytes, 0 at the end, -1 when there are none in time or too many.
  ssize_t read(char* bytes, size_t size);
  // All of them, or -1.
  ssize_t write(const char* bytes, size_t size);
  int socket() const { return socket_.number(); }

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  // Repeats `step` until it need not wait; `step` says by its argument what for (poll), 0: done.
  template <typename Step>
  ssize_t until_done(Step step);
  bool wait(short events);
  short awaited_by_tls(int result) const;
  ssize_t read_some(char* bytes, size_t size);

  HttpGuests& list_;
  const Descriptor socket_;
  std::unique_ptr<ssl_st, FreeSsl> ssl_;
  std::list<HttpGuests::Place>::iterator place_;
  base::MonoMicros deadline_ = 0;
  int64_t bytes_left_ = 0;
  char ahead_[4096];  // the library reads byte by byte
  size_t ahead_begin_ = 0;
  size_t ahead_end_ = 0;
};

}  // namespace frazil::net
