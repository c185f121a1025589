// UploadLanes: a few lanes that carry bytes of growing files to a store in the background, with a bound on what is under way.
//
// One per FileIO, shared by its files. Lanes begin with the first task. Any thread may submit; tasks run in the order of submission, several at
// once. A task must end by itself: it has time limits of its own. The destructor waits for all that was submitted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/sync.h"

namespace frazil::io {

class UploadLanes {
 public:
  // `bytes_in_flight`: what tasks together may hold; a larger one is let in alone.
  UploadLanes(std::string name, int lanes, int64_t bytes_in_flight);
  ~UploadLanes();
  UploadLanes(const UploadLanes&) = delete;
  UploadLanes& operator=(const UploadLanes&) = delete;

  // Waits until `bytes` fit. Never called by a task: it would wait for itself.
  void submit(int64_t bytes, std::function<void()> task);

 private:
  struct Task {
    int64_t bytes = 0;
    std::function<void()> run;
  };
  void work();

  const std::string name_;
  const size_t max_lanes_;
  const int64_t max_bytes_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Task> tasks_;
  std::vector<base::Lane> lanes_;
  int64_t bytes_ = 0;  // of tasks that wait or run
  size_t idle_ = 0;
  bool is_ending_ = false;
};

}  // namespace frazil::io
