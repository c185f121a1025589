// ObjectUpload: how one file gets into a store, whole or in parts, and what became of it.
//
// A file without parts:  put_whole                    → judge
// A longer one:          part, part, …, the last done → publish → judge
// judge: the answer was lost, or the name was taken? Look at the object: ours when size and checksum (the store's, or those of its bytes
// read back) are those that were sent. Else, and for every plain success, the store must keep what was sent.
// An object that has our bytes already is taken for ours, whoever wrote it.
//
// Shared by its OutputFile and the tasks on upload lanes; any thread. cancel() ends what runs, keeps what waits from
// beginning, and takes back what has become visible.
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
#include "io/objects/object_digest.h"
#include "io/objects/object_store.h"

namespace frazil::io {

class ObjectUpload {
 public:
  ObjectUpload(std::shared_ptr<ObjectStore> store, ObjectAddress at);

  // The whole file in one request.
  void put_whole(std::string_view bytes);
  // The next part. Where the store takes one at a time, waits while one waits already, unless it is the last. True: the
  // caller must have run_parts() called by a lane.
  bool add_part(std::string bytes, bool is_last);
  void run_parts();
  // Waits until the file is there, or not: as OutputFile::close().
  base::Status wait();
  // The first failure so far, so that a writer need not go on.
  base::Status failure();
  void cancel();
  // What waits or is under way.
  int64_t bytes_under_way();

 private:
  enum class Start { kNone, kRunning, kDone };
  struct Part {
    int number = 0;
    int64_t offset = 0;
    std::string bytes;
    bool is_last = false;
  };

  // False when there is nothing to do any more. Each true needs an end_task().
  bool begin_task();
  void end_task(int64_t bytes);
  std::optional<Part> next_part();
  void run_part(const Part& part);
  base::Status begin_parts();
  base::Status publish();
  base::Status send_whole(std::string_view bytes, const ObjectDigest& digest);
  // Of a request that makes the file visible: what became of the object.
  base::Status judge(const base::Result<Publication>& answer, const ObjectDigest& sent);
  base::Status check(const StoredObject& object, const ObjectDigest& sent);
  base::Status look(const ObjectDigest& sent, const base::Error& otherwise);
  base::Result<bool> is_ours(const StoredObject& object, const ObjectDigest& sent);
  void finish(base::Status outcome);
  void take_back(bool is_known_to_be_ours);
  ObjectDigest digest_of_parts();

  const std::shared_ptr<ObjectStore> store_;
  const ObjectAddress at_;
  const std::unique_ptr<ObjectParts> parts_;
  base::Interrupt interrupt_;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Part> waiting_;
  std::vector<ObjectDigest::Piece> pieces_;  // of all parts that were added
  int64_t added_bytes_ = 0;
  int64_t under_way_ = 0;
  int tasks_ = 0;          // on lanes: they run or wait there
  int running_ = 0;        // of them, and of callers
  int missing_parts_ = 0;  // added and not done
  bool is_sealed_ = false;
  bool is_cancelled_ = false;
  bool is_publishing_ = false;  // a request that makes the file visible has begun
  Start start_ = Start::kNone;
  ObjectDigest digest_;     // of what is published
  std::string generation_;  // of the object, once it is known to be ours
  base::Status failure_;
  std::optional<base::Status> outcome_;
};

}  // namespace frazil::io
