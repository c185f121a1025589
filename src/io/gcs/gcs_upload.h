// GcsUpload: how one file gets into the store, whole or in a resumable session, and what became of it.
//
// A file that fits into a chunk:  put_whole                      → judge
// A longer one:                   begin session, chunk, chunk, … → the answer to the last chunk is the object → judge
// A chunk without a clear answer: ask the session how many bytes it has (308 and Range), send on from there.
// judge: the answer was lost, or "exists already"?  Look at the object: ours when size and checksum are those that were
// sent. For every plain success, the size and checksum that the store reports must be ours.
//
// Chunks of a file go one after the other, by one task at a time on the upload lanes. Shared by its OutputFile and that
// task; any thread. cancel() ends what runs, and takes back what has become visible.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/sync.h"
#include "io/gcs/gcs_objects.h"

namespace frazil::io {

class GcsUpload {
 public:
  GcsUpload(std::shared_ptr<GcsObjects> objects, GcsLocation at, std::string location);

  // The whole file in one request.
  void put_whole(std::string_view bytes);
  // The next chunk: all but the last have the size of a chunk. Waits while one waits already, unless it is the last.
  // True: the caller must have run_chunks() called by a lane.
  bool add_chunk(std::string bytes, bool is_last);
  // Sends chunks until none waits.
  void run_chunks();
  // Waits until the file is there, or not: as OutputFile::close().
  base::Status wait();
  // The first failure so far, so that a writer need not go on.
  base::Status failure();
  void cancel();
  // What waits or is under way.
  int64_t bytes_under_way();

 private:
  struct Chunk {
    std::string bytes;
    int64_t offset = 0;
    bool is_last = false;
  };
  // What the whole file's bytes are.
  struct Digest {
    int64_t bytes = 0;
    uint32_t checksum = 0;
  };
  // What the store says of a session: how many bytes it has, or the object when it is complete.
  struct Progress {
    int64_t bytes = 0;
    bool is_complete = false;
    GcsAnswer answer;
  };

  base::Status send_chunk(const Chunk& chunk);
  base::Status begin_session();
  base::Result<Progress> read_progress(const GcsAnswer& answer) const;
  GcsRequest chunk_request(const Chunk& chunk, int64_t from) const;
  GcsRequest status_request(const Chunk& chunk) const;
  // Of a request that makes the file visible: what became of the object.
  base::Status judge(const base::Result<GcsAnswer>& answer);
  base::Status check(const GcsObject& object) const;
  base::Status look(const base::Error& otherwise);
  bool is_ours(const GcsObject& object);
  void finish(base::Status outcome);
  void end_session();
  void take_back();

  const std::shared_ptr<GcsObjects> objects_;
  const GcsLocation at_;
  const std::string location_;
  base::Interrupt interrupt_;

  // Of the task that runs; others read them when none does.
  std::string session_;
  Digest sent_;
  std::string generation_;  // of the object, once it is known to be ours

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Chunk> waiting_;
  int64_t added_bytes_ = 0;
  int64_t under_way_ = 0;
  bool is_running_ = false;
  bool is_cancelled_ = false;
  bool may_be_visible_ = false;  // a request that makes the file visible has begun
  base::Status failure_;
  std::optional<base::Status> outcome_;
};

}  // namespace frazil::io
