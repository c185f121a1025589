#include "io/upload_lanes.h"

#include <utility>

namespace frazil::io {

UploadLanes::UploadLanes(std::string name, int lanes, int64_t bytes_in_flight)
    : name_(std::move(name)), max_lanes_(static_cast<size_t>(lanes < 1 ? 1 : lanes)), max_bytes_(bytes_in_flight) {}

UploadLanes::~UploadLanes() {
  {
    base::Lock lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  for (base::Lane& lane : lanes_) lane.join();
}

void UploadLanes::submit(int64_t bytes, std::function<void()> task) {
  base::Lock lock(mutex_);
  while (bytes_ > 0 && bytes_ + bytes > max_bytes_) changed_.wait(lock);
  bytes_ += bytes;
  tasks_.push_back({bytes, std::move(task)});
  if (idle_ < tasks_.size() && lanes_.size() < max_lanes_) lanes_.emplace_back(name_, [this] { work(); });
  changed_.notify_all();
}

void UploadLanes::work() {
  while (true) {
    Task task;
    {
      base::Lock lock(mutex_);
      ++idle_;
      while (tasks_.empty() && !is_ending_) changed_.wait(lock);
      --idle_;
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task.run();
    task.run = nullptr;  // what it held goes before its bytes are free again
    base::Lock lock(mutex_);
    bytes_ -= task.bytes;
    changed_.notify_all();
  }
}

}  // namespace frazil::io
