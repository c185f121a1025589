#include "io/objects/growing_object.h"

#include <algorithm>
#include <utility>

namespace frazil::io {
namespace {

using base::Status;

constexpr int64_t kMaxFileBytes = 5LL << 40;
// The first so many parts are of the configured size, then each further kPartsOfAStep double it: 10,000 parts reach 5 TiB.
constexpr size_t kEqualParts = 5'000;
constexpr size_t kPartsOfAStep = 500;

}  // namespace

GrowingObject::GrowingObject(std::shared_ptr<UploadLanes> lanes, std::shared_ptr<ObjectUpload> upload,
                             std::string location, int64_t part_bytes)
    : lanes_(std::move(lanes)), upload_(std::move(upload)), location_(std::move(location)), part_bytes_(part_bytes) {}

int64_t GrowingObject::bytes_of_part() const {
  if (parts_ < kEqualParts) return part_bytes_;
  return part_bytes_ << std::min<size_t>((parts_ - kEqualParts) / kPartsOfAStep + 1, 8);
}

Status GrowingObject::write(std::string_view bytes) {
  TRY(state_);
  if (is_sealed_) return base::invalid(location_ + " is sealed");
  if (size_ + static_cast<int64_t>(bytes.size()) > kMaxFileBytes) {
    return base::invalid(location_ + ": an object cannot be larger than 5 TiB");
  }
  while (!bytes.empty()) {
    // Not before there are more bytes: the last part must be known as such, and a file of exactly one is put whole.
    if (static_cast<int64_t>(part_.size()) == bytes_of_part()) {
      TRY(upload_->failure());
      submit_part(false);
    }
    const std::string_view taken = bytes.substr(0, static_cast<size_t>(bytes_of_part()) - part_.size());
    part_.append(taken);
    size_ += static_cast<int64_t>(taken.size());
    bytes.remove_prefix(taken.size());
  }
  return {};
}

int64_t GrowingObject::buffered_bytes() const {
  return upload_->bytes_under_way() + (part_.empty() ? 0 : static_cast<int64_t>(part_.capacity()));
}

void GrowingObject::submit_part(bool is_last) {
  ++parts_;
  const auto count = static_cast<int64_t>(part_.size());
  if (upload_->add_part(std::exchange(part_, {}), is_last)) {
    lanes_->submit(count, [upload = upload_] { upload->run_parts(); });
  }
}

void GrowingObject::seal() {
  if (!state_.ok() || std::exchange(is_sealed_, true)) return;
  if (parts_ > 0) {
    submit_part(true);
    return;
  }
  auto bytes = std::make_shared<const std::string>(std::exchange(part_, {}));
  lanes_->submit(static_cast<int64_t>(bytes->size()), [upload = upload_, bytes] { upload->put_whole(*bytes); });
}

Status GrowingObject::close() {
  TRY(state_);
  if (!is_sealed_ && parts_ == 0) {
    upload_->put_whole(part_);
    part_ = {};
  } else {
    seal();
  }
  state_ = base::invalid(location_ + " is closed");
  is_closed_ = true;
  return upload_->wait();
}

void GrowingObject::give_up() {
  if (is_closed_ || !state_.ok()) return;
  state_ = base::invalid(location_ + " was given up before it was closed");
  part_ = {};
  if (is_sealed_ || parts_ > 0) upload_->cancel();
}

}  // namespace frazil::io
