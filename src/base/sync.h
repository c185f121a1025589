// Mutex, CondVar, Lane: the only threads and locks of Frazil, with two back ends.
//
// In production they are std::mutex, std::condition_variable and std::thread. While a Simulation (base/simulation.h) is
// installed, each lane still has its own thread, but exactly one holds the token; it is handed on by the seed at every
// wait, I/O call and clock read, and waits pass virtual time. Product code is the same object code in both.
//
// Rules: never hold a Mutex across I/O or a clock read of another object's lock order; wait only through CondVar.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace frazil::base {

// A point on the monotonic clock, in microseconds. kForever never comes.
using MonoMicros = int64_t;
inline constexpr MonoMicros kForever = INT64_MAX;

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  void unlock();

 private:
  friend class CondVar;
  std::mutex real_;
  bool simulated_held_ = false;
};

class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Mutex& mutex() { return mutex_; }

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Releases the lock, waits until notified or until `deadline` (monotonic), takes the lock again. May wake early:
  // callers loop over their condition. Returns false when the deadline has passed.
  bool wait_until(Lock& lock, MonoMicros deadline);
  void wait(Lock& lock) { wait_until(lock, kForever); }
  void notify_all();

 private:
  std::condition_variable real_;
};

// A named thread. join() is required before destruction.
class Lane {
 public:
  Lane() = default;
  Lane(std::string name, std::function<void()> body);
  Lane(Lane&&) noexcept = default;
  Lane& operator=(Lane&&) noexcept;
  ~Lane();
  void join();
  bool joinable() const { return thread_.joinable(); }

 private:
  std::thread thread_;
  uint64_t simulated_id_ = 0;
};

// Called by every I/O implementation before it acts; in the simulation the token may move here. Free in production.
void io_point();

}  // namespace frazil::base
