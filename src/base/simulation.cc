#include "base/simulation.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>

#include <chrono>

#include "base/check.h"

namespace frazil::base {
namespace {

std::atomic<Simulation*> installed{nullptr};
thread_local uint64_t this_task = 0;

}  // namespace

Simulation::Simulation(uint64_t seed) : random_state_(seed * 0x9e3779b97f4a7c15ULL + 0x1234567) {}

Simulation::~Simulation() { CHECK(installed.load() != this); }

Simulation* Simulation::current() { return installed.load(std::memory_order_acquire); }

void Simulation::run(const std::function<void()>& body) {
  CHECK(current() == nullptr);
  this_task = add_task("main");
  current_task_ = this_task;
  installed.store(this, std::memory_order_release);
  body();
  for (const auto& task : tasks_) CHECK(task->id == this_task || task->state == Task::State::kDone);
  installed.store(nullptr, std::memory_order_release);
}

uint64_t Simulation::next_random() {  // splitmix64
  uint64_t z = (random_state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

uint64_t Simulation::random() {
  std::lock_guard lock(mutex_);
  return next_random();
}

void Simulation::note(std::string_view event) {
  std::lock_guard lock(mutex_);
  for (const char c : event) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  hash_ = (hash_ ^ static_cast<uint64_t>(now_)) * 0x100000001b3ULL;
  if (echo_) {
    std::fprintf(stderr, "%10.6f %-12s %.*s\n", static_cast<double>(now_) / 1e6, task(this_task).name.c_str(),
                 static_cast<int>(event.size()), event.data());
  }
}

uint64_t Simulation::add_task(std::string name) {
  std::lock_guard lock(mutex_);
  auto task = std::make_unique<Task>();
  task->id = tasks_.size();
  task->name = std::move(name);
  tasks_.push_back(std::move(task));
  return tasks_.size() - 1;
}

void Simulation::enter(uint64_t id) {
  this_task = id;
  std::unique_lock lock(mutex_);
  wait_for_turn(lock, id);
}

void Simulation::finish(uint64_t id) {
  std::unique_lock lock(mutex_);
  Task& self = task(id);
  self.state = Task::State::kDone;
  for (auto& other : tasks_) {
    if (other->state == Task::State::kWaiting && other->channel == &self) other->state = Task::State::kRunnable;
  }
  hand_on(lock);
}

bool Simulation::is_done(uint64_t id) {
  std::lock_guard lock(mutex_);
  return task(id).state == Task::State::kDone;
}

void Simulation::wait_for_turn(std::unique_lock<std::mutex>& lock, uint64_t id) {
  Task& self = task(id);
  self.turn.wait(lock, [&] { return current_task_ == id; });
}

void Simulation::wake_due() {
  for (auto& task : tasks_) {
    if (task->state == Task::State::kWaiting && task->deadline <= now_) task->state = Task::State::kRunnable;
  }
}

void Simulation::hand_on(std::unique_lock<std::mutex>&) {
  wake_due();
  std::vector<uint64_t> ready;
  MonoMicros nearest = kForever;
  for (const auto& task : tasks_) {
    if (task->state == Task::State::kRunnable) ready.push_back(task->id);
    if (task->state == Task::State::kWaiting && task->deadline < nearest) nearest = task->deadline;
  }
  if (ready.empty()) {
    if (nearest == kForever) report_deadlock();
    now_ = nearest;
    wake_due();
    for (const auto& task : tasks_) {
      if (task->state == Task::State::kRunnable) ready.push_back(task->id);
    }
  }
  current_task_ = ready[next_random() % ready.size()];
  ++switches_;
  task(current_task_).turn.notify_one();
}

void Simulation::report_deadlock() {
  std::fprintf(stderr, "simulation: deadlock at %.6f s; every lane waits without a deadline:\n",
               static_cast<double>(now_) / 1e6);
  for (const auto& task : tasks_) {
    if (task->state != Task::State::kDone) std::fprintf(stderr, "  %s on %p\n", task->name.c_str(), task->channel);
  }
  std::abort();
}

void Simulation::yield(int64_t micros) {
  std::unique_lock lock(mutex_);
  now_ += micros;
  hand_on(lock);
  wait_for_turn(lock, this_task);
}

bool Simulation::block(const void* channel, MonoMicros deadline) {
  std::unique_lock lock(mutex_);
  Task& self = task(this_task);
  self.state = Task::State::kWaiting;
  self.channel = channel;
  self.deadline = deadline;
  hand_on(lock);
  wait_for_turn(lock, this_task);
  self.channel = nullptr;
  self.deadline = kForever;
  return deadline == kForever || now_ < deadline;
}

void Simulation::wake_all(const void* channel) {
  std::lock_guard lock(mutex_);
  for (auto& task : tasks_) {
    if (task->state == Task::State::kWaiting && task->channel == channel) task->state = Task::State::kRunnable;
  }
}

MonoMicros Simulation::read_clock() {
  bool move = false;
  {
    std::lock_guard lock(mutex_);
    now_ += 1 + static_cast<int64_t>(next_random() % 5);
    move = next_random() % 4 == 0;
  }
  if (move) yield(0);
  return now_;
}

// --- sync.h: the two back ends -------------------------------------------------------------------------------------------

void Mutex::lock() {
  if (Simulation* simulation = Simulation::current()) {
    while (simulated_held_) simulation->block(this, kForever);
    simulated_held_ = true;
    return;
  }
  real_.lock();
}

void Mutex::unlock() {
  if (Simulation* simulation = Simulation::current()) {
    simulated_held_ = false;
    simulation->wake_all(this);
    return;
  }
  real_.unlock();
}

void CondVar::notify_all() {
  if (Simulation* simulation = Simulation::current()) {
    simulation->wake_all(this);
    return;
  }
  real_.notify_all();
}

bool CondVar::wait_until(Lock& lock, MonoMicros deadline) {
  if (Simulation* simulation = Simulation::current()) {
    lock.mutex().unlock();
    const bool in_time = simulation->block(this, deadline);
    lock.mutex().lock();
    return in_time;
  }
  std::unique_lock<std::mutex> real(lock.mutex().real_, std::adopt_lock);
  bool in_time = true;
  if (deadline == kForever) {
    real_.wait(real);
  } else {
    const auto until = std::chrono::steady_clock::time_point(std::chrono::microseconds(deadline));
    in_time = real_.wait_until(real, until) == std::cv_status::no_timeout;
  }
  real.release();
  return in_time;
}

Lane::Lane(std::string name, std::function<void()> body) {
  Simulation* simulation = Simulation::current();
  if (simulation == nullptr) {
    thread_ = std::thread([name = std::move(name), body = std::move(body)] {
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      body();
    });
    return;
  }
  simulated_id_ = simulation->add_task(std::move(name));
  thread_ = std::thread([simulation, id = simulated_id_, body = std::move(body)] {
    simulation->enter(id);
    body();
    simulation->finish(id);
  });
}

Lane& Lane::operator=(Lane&& other) noexcept {
  CHECK(!thread_.joinable());
  thread_ = std::move(other.thread_);
  simulated_id_ = other.simulated_id_;
  return *this;
}

Lane::~Lane() { CHECK(!thread_.joinable()); }

void Lane::join() {
  if (Simulation* simulation = Simulation::current(); simulation != nullptr && thread_.joinable()) {
    while (!simulation->is_done(simulated_id_)) simulation->block(&simulation->task(simulated_id_), kForever);
  }
  thread_.join();
}

void io_point() {
  if (Simulation* simulation = Simulation::current()) {
    simulation->yield(static_cast<int64_t>(simulation->random() % 500));
  }
}

}  // namespace frazil::base
