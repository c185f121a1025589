// GrowingObject: an OutputFile in a store of objects.
//
// Bytes are gathered to parts; a file that fits into one part is one conditional put, a longer one is sent in parts while
// it grows. seal() lets the last requests go in the background, on lanes that all files of a store share; close() waits for
// them and judges. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_io.h"
#include "io/objects/object_upload.h"
#include "io/upload_lanes.h"

namespace frazil::io {

class GrowingObject : public OutputFile {
 public:
  GrowingObject(std::shared_ptr<UploadLanes> lanes, std::shared_ptr<ObjectUpload> upload, std::string location,
                int64_t part_bytes);
  ~GrowingObject() override { give_up(); }

  base::Status write(std::string_view bytes) override;
  int64_t size() const override { return size_; }
  int64_t buffered_bytes() const override;
  void seal() override;
  base::Status close() override;
  void abort() override { give_up(); }

 private:
  int64_t bytes_of_part() const;
  void submit_part(bool is_last);
  void give_up();

  const std::shared_ptr<UploadLanes> lanes_;
  const std::shared_ptr<ObjectUpload> upload_;
  const std::string location_;
  const int64_t part_bytes_;
  std::string part_;
  size_t parts_ = 0;  // submitted
  int64_t size_ = 0;
  bool is_sealed_ = false;
  bool is_closed_ = false;
  base::Status state_;
};

}  // namespace frazil::io
