// S3Upload: how one file gets into the store, whole or in parts, and what became of it.
//
// A file without parts:  put_whole                → judge
// A longer one:          put_part, put_part, …    → the last that is done: complete → judge
// judge: the answer was lost, or "exists already"?  Look at the object: ours when size and checksum (the store's, or that of its bytes
// read back) are those that were sent. Else, and for every plain success, the store's size must be ours.
//
// Shared by its OutputFile and the tasks on upload lanes; any thread. cancel() ends what runs, keeps what waits from beginning, and takes back
// what has become visible.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/sync.h"
#include "io/s3/s3_objects.h"
#include "io/s3/s3_requests.h"
#include "io/s3/s3_xml.h"

namespace frazil::io {

class S3Upload {
 public:
  S3Upload(std::shared_ptr<S3Objects> objects, S3File file);

  // The whole file in one request.
  void put_whole(std::string_view bytes);
  base::Status send_whole(const S3Request& request, const S3Digest& digest);
  // Before each part is submitted: its number, from 1 on, in order. After the last was added, the one that is done last completes the file.
  int add_part(bool is_last);
  void put_part(int number, std::string_view bytes);
  // Waits until the file is there, or not: as OutputFile::close().
  base::Status wait();
  // The first failure so far, so that a writer need not go on.
  base::Status failure();
  void cancel();

  // What tasks that wait or run hold of this file.
  int64_t bytes_under_way() const { return bytes_under_way_.load(std::memory_order_relaxed); }
  void add_bytes_under_way(int64_t bytes) { bytes_under_way_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  enum class Start { kNone, kRunning, kDone };

  // False when there is nothing to do any more. Each true needs an end_task().
  bool begin_task();
  void end_task();
  void finish(base::Status outcome);
  base::Status begin_upload();
  base::Result<S3Part> send_part(int number, std::string_view bytes);
  base::Status complete();
  // Of a conditional request: what became of the object.
  base::Status judge(const base::Result<S3Answer>& answer, const S3Digest& sent);
  base::Status check_size(const S3Digest& sent);
  base::Status look(const S3Digest& sent, const base::Error& otherwise);
  base::Error not_known(const S3Answer& answer) const;
  void abort_upload();
  void take_back(bool is_known_to_be_ours);
  S3Digest digest_of_parts();

  const std::shared_ptr<S3Objects> objects_;
  const S3File file_;
  base::Interrupt interrupt_;
  std::atomic<int64_t> bytes_under_way_{0};

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<S3Part> parts_;
  int missing_parts_ = 0;
  int running_ = 0;  // tasks
  bool is_sealed_ = false;
  bool is_cancelled_ = false;
  bool is_publishing_ = false;  // a request that makes the file visible has begun
  Start start_ = Start::kNone;
  std::string upload_id_;
  S3Digest digest_;
  base::Status failure_;
  std::optional<base::Status> outcome_;
};

}  // namespace frazil::io
