// Simulation: the second back end of base. One seed decides every interleaving, random number and clock reading.
//
// 1. Each lane keeps its own thread, but only the holder of the token runs.
// 2. At every wait, io_point() and clock read the token may be handed on; the seed picks among the lanes that can run.
// 3. When none can run, virtual time jumps to the nearest deadline; when there is no deadline either, the lanes are
//    deadlocked: the program prints who waits and aborts.
// 4. Log events, and whatever tests note(), go into an event hash: equal seeds must give equal hashes.
//
// Installed by run(), at most one at a time in a process; for tests only. Product code never asks whether it is simulated.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"

namespace frazil::base {

class Simulation {
 public:
  explicit Simulation(uint64_t seed);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs `body` as the first lane on the calling thread. Every lane it starts must have been joined when it returns.
  void run(const std::function<void()>& body);

  static Simulation* current();

  uint64_t random();
  // Mixes an event into the hash; with echo on, prints it with its virtual time.
  void note(std::string_view event);
  uint64_t event_hash() const { return hash_; }
  uint64_t switches() const { return switches_; }
  void set_echo(bool on) { echo_ = on; }
  MonoMicros now() const { return now_; }

 private:
  friend class Mutex;
  friend class CondVar;
  friend class Lane;
  friend void io_point();
  friend int64_t wall_micros();
  friend MonoMicros mono_micros();

  struct Task {
    uint64_t id = 0;
    std::string name;
    enum class State { kRunnable, kWaiting, kDone } state = State::kRunnable;
    const void* channel = nullptr;
    MonoMicros deadline = kForever;
    std::condition_variable turn;
  };

  // The token may move to another lane; comes back later. `micros` of virtual time pass.
  void yield(int64_t micros);
  // Waits on a channel until woken or the deadline; false when the deadline passed.
  bool block(const void* channel, MonoMicros deadline);
  void wake_all(const void* channel);
  uint64_t add_task(std::string name);
  void enter(uint64_t id);   // first thing on a lane's thread
  void finish(uint64_t id);  // last thing on a lane's thread
  bool is_done(uint64_t id);
  MonoMicros read_clock();

  Task& task(uint64_t id) { return *tasks_[id]; }
  void hand_on(std::unique_lock<std::mutex>& lock);
  void wait_for_turn(std::unique_lock<std::mutex>& lock, uint64_t id);
  void wake_due();
  uint64_t next_random();
  [[noreturn]] void report_deadlock();

  std::mutex mutex_;
  std::vector<std::unique_ptr<Task>> tasks_;
  uint64_t current_task_ = 0;
  MonoMicros now_ = 1'000'000;
  uint64_t random_state_;
  uint64_t hash_ = 0xcbf29ce484222325ULL;
  uint64_t switches_ = 0;
  bool echo_ = false;
};

}  // namespace frazil::base
