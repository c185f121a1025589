#include "io/gcs/gcs_file_io.h"

#include <algorithm>
#include <map>
#include <utility>

#include "io/gcs/gcs_objects.h"
#include "io/gcs/gcs_upload.h"
#include "io/upload_lanes.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

constexpr int64_t kChunkUnit = 256 << 10;
constexpr int64_t kMaxFileBytes = 5LL << 40;

class GcsOutputFile : public OutputFile {
 public:
  GcsOutputFile(std::shared_ptr<UploadLanes> lanes, std::shared_ptr<GcsUpload> upload, std::string location,
                int64_t chunk_bytes)
      : lanes_(std::move(lanes)),
        upload_(std::move(upload)),
        location_(std::move(location)),
        chunk_bytes_(static_cast<size_t>(chunk_bytes)) {}
  ~GcsOutputFile() override { give_up(); }

  Status write(std::string_view bytes) override {
    TRY(state_);
    if (is_sealed_) return base::invalid(location_ + " is sealed");
    if (size_ + static_cast<int64_t>(bytes.size()) > kMaxFileBytes)
      return base::invalid(location_ + ": an object cannot be larger than 5 TiB");
    while (!bytes.empty()) {
      // Not before there are more bytes: the last chunk must be known as such, and a file of exactly one is put whole.
      if (chunk_.size() == chunk_bytes_) {
        TRY(upload_->failure());
        submit_chunk(false);
      }
      const std::string_view taken = bytes.substr(0, chunk_bytes_ - chunk_.size());
      chunk_.append(taken);
      size_ += static_cast<int64_t>(taken.size());
      bytes.remove_prefix(taken.size());
    }
    return {};
  }
  int64_t size() const override { return size_; }
  int64_t buffered_bytes() const override {
    return upload_->bytes_under_way() + (chunk_.empty() ? 0 : static_cast<int64_t>(chunk_.capacity()));
  }

  void seal() override {
    if (!state_.ok() || std::exchange(is_sealed_, true)) return;
    if (has_chunks_) {
      submit_chunk(true);
      return;
    }
    auto bytes = std::make_shared<const std::string>(std::exchange(chunk_, {}));
    lanes_->submit(static_cast<int64_t>(bytes->size()), [upload = upload_, bytes] { upload->put_whole(*bytes); });
  }
  Status close() override {
    TRY(state_);
    if (!is_sealed_ && !has_chunks_) {
      upload_->put_whole(chunk_);
      chunk_ = {};
    } else {
      seal();
    }
    state_ = base::invalid(location_ + " is closed");
    is_closed_ = true;
    return upload_->wait();
  }
  void abort() override { give_up(); }

 private:
  void submit_chunk(bool is_last) {
    has_chunks_ = true;
    const auto count = static_cast<int64_t>(chunk_.size());
    if (upload_->add_chunk(std::exchange(chunk_, {}), is_last)) {
      lanes_->submit(count, [upload = upload_] { upload->run_chunks(); });
    }
  }
  void give_up() {
    if (is_closed_ || !state_.ok()) return;
    state_ = base::invalid(location_ + " was given up before it was closed");
    chunk_ = {};
    if (is_sealed_ || has_chunks_) upload_->cancel();
  }

  const std::shared_ptr<UploadLanes> lanes_;
  const std::shared_ptr<GcsUpload> upload_;
  const std::string location_;
  const size_t chunk_bytes_;
  std::string chunk_;
  int64_t size_ = 0;
  bool has_chunks_ = false;  // submitted
  bool is_sealed_ = false;
  bool is_closed_ = false;
  Status state_;
};

class GcsFileIO : public FileIO {
 public:
  GcsFileIO(std::shared_ptr<GcsRequests> requests, std::shared_ptr<UploadLanes> lanes)
      : objects_(std::make_shared<GcsObjects>(std::move(requests))), lanes_(std::move(lanes)) {}

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(GcsLocation at, parse_file(location));
    const int64_t chunk_bytes = objects_->requests().config().chunk_bytes;
    auto upload = std::make_shared<GcsUpload>(objects_, std::move(at), location);
    return std::unique_ptr<OutputFile>(
        std::make_unique<GcsOutputFile>(lanes_, std::move(upload), location, chunk_bytes));
  }
  Result<std::string> read(const std::string& location) override { return read_range(location, 0, INT64_MAX); }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY_ASSIGN(const GcsLocation at, parse_file(location));
    if (offset < 0 || length < 0) return base::invalid("cannot read " + location + ": the range is negative");
    return objects_->read(at, location, offset, length);
  }
  Result<FileStatus> stat(const std::string& location) override {
    TRY_ASSIGN(const GcsLocation at, parse_file(location));
    base::Interrupt none;
    TRY_ASSIGN(const GcsObject object, objects_->look(at, location, none));
    return FileStatus{location, object.bytes, object.modified_millis};
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override;
  Status remove(const std::string& location) override {
    TRY_ASSIGN(const GcsLocation at, parse_file(location));
    base::Interrupt none;
    return objects_->remove(at, location, "", 0, none);
  }

 private:
  static Result<GcsLocation> parse_file(const std::string& location) {
    TRY_ASSIGN(GcsLocation at, parse_gcs_location(location));
    if (at.object.empty() || at.object.ends_with('/'))
      return base::invalid("'" + location + "': names a folder, not a file");
    return at;
  }

  const std::shared_ptr<GcsObjects> objects_;
  const std::shared_ptr<UploadLanes> lanes_;
};

Result<std::vector<FileStatus>> GcsFileIO::list(const std::string& prefix) {
  TRY_ASSIGN(const GcsLocation parsed, parse_gcs_location(prefix));
  if (!prefix.ends_with('/')) return base::invalid("'" + prefix + "': a prefix to list must end in '/'");
  TRY_ASSIGN(const std::vector<GcsObject> objects, objects_->list(parsed).in("listing " + prefix));
  const std::string bucket_root = prefix.substr(0, prefix.size() - parsed.object.size());
  std::map<std::string, FileStatus> found;  // a page may repeat the end of the one before
  for (const GcsObject& object : objects) {
    if (!object.name.starts_with(parsed.object)) {
      return base::corrupt("listing " + prefix + ": the store lists an object that is not below it");
    }
    // Consoles and gateways mark folders with empty objects.
    if (object.name.ends_with('/')) continue;
    const std::string location = bucket_root + object.name;
    found[location] = {location, object.bytes, object.modified_millis};
  }
  std::vector<FileStatus> files;
  for (auto& [location, status] : found) files.push_back(std::move(status));
  return files;
}

}  // namespace

std::shared_ptr<FileIO> make_gcs_file_io(GcsConfig config, std::shared_ptr<net::HttpClient> http,
                                         std::shared_ptr<net::BearerTokens> tokens) {
  config.chunk_bytes = std::max((config.chunk_bytes + kChunkUnit - 1) / kChunkUnit, int64_t{1}) * kChunkUnit;
  config.upload_lanes = std::max(config.upload_lanes, 1);
  while (config.host.ends_with('/')) config.host.pop_back();
  auto lanes =
      std::make_shared<UploadLanes>("gcs-upload", config.upload_lanes, config.upload_lanes * config.chunk_bytes);
  auto requests = std::make_shared<GcsRequests>(std::move(config), std::move(http), std::move(tokens));
  return std::make_shared<GcsFileIO>(std::move(requests), std::move(lanes));
}

}  // namespace frazil::io
