#include "io/s3/s3_file_io.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "io/crc32c.h"
#include "io/s3/s3_objects.h"
#include "io/s3/s3_upload.h"
#include "io/upload_lanes.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int64_t kMaxFileBytes = 5LL << 40;
constexpr size_t kRemovalsOfARequest = 1'000;
// The first so many parts are of the configured size, then each further kPartsOfAStep double it: 10,000 parts reach 5 TiB.
constexpr size_t kEqualParts = 5'000;
constexpr size_t kPartsOfAStep = 500;

int64_t bytes_of_part(int64_t part_bytes, size_t parts_before) {
  if (parts_before < kEqualParts) return part_bytes;
  return part_bytes << std::min<size_t>((parts_before - kEqualParts) / kPartsOfAStep + 1, 8);
}

class S3OutputFile : public OutputFile {
 public:
  S3OutputFile(std::shared_ptr<UploadLanes> lanes, std::shared_ptr<S3Upload> upload, std::string location, int64_t part_bytes)
      : lanes_(std::move(lanes)), upload_(std::move(upload)), location_(std::move(location)), part_bytes_(part_bytes) {}
  ~S3OutputFile() override { give_up(); }

  Status write(std::string_view bytes) override {
    TRY(state_);
    if (is_sealed_) return base::invalid(location_ + " is sealed");
    if (size_ + static_cast<int64_t>(bytes.size()) > kMaxFileBytes) return base::invalid(location_ + ": an object cannot be larger than 5 TiB");
    while (!bytes.empty()) {
      const int64_t limit = bytes_of_part(part_bytes_, parts_);
      // Not before there are more bytes: a file of exactly one part is a file without parts.
      if (static_cast<int64_t>(part_.size()) == limit) {
        TRY(upload_->failure());
        submit_part(false);
      }
      const size_t room = static_cast<size_t>(bytes_of_part(part_bytes_, parts_)) - part_.size();
      const std::string_view taken = bytes.substr(0, room);
      part_.append(taken);
      size_ += static_cast<int64_t>(taken.size());
      bytes.remove_prefix(taken.size());
    }
    return {};
  }
  int64_t size() const override { return size_; }
  int64_t buffered_bytes() const override { return upload_->bytes_under_way() + (part_.empty() ? 0 : static_cast<int64_t>(part_.capacity())); }

  void seal() override {
    if (!state_.ok() || std::exchange(is_sealed_, true)) return;
    if (parts_ > 0) {
      submit_part(true);
      return;
    }
    submit([](S3Upload& upload, std::string_view bytes) { upload.put_whole(bytes); });
  }
  Status close() override {
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
  void abort() override { give_up(); }

 private:
  void submit_part(bool is_last) {
    ++parts_;
    submit([number = upload_->add_part(is_last)](S3Upload& upload, std::string_view bytes) { upload.put_part(number, bytes); });
  }
  void submit(std::function<void(S3Upload&, std::string_view)> send) {
    auto bytes = std::make_shared<const std::string>(std::exchange(part_, {}));
    const auto count = static_cast<int64_t>(bytes->size());
    upload_->add_bytes_under_way(count);
    lanes_->submit(count, [upload = upload_, send = std::move(send), bytes, count] {
      send(*upload, *bytes);
      upload->add_bytes_under_way(-count);
    });
  }
  void give_up() {
    if (is_closed_ || !state_.ok()) return;
    state_ = base::invalid(location_ + " was given up before it was closed");
    part_ = {};
    if (is_sealed_ || parts_ > 0) upload_->cancel();
  }

  const std::shared_ptr<UploadLanes> lanes_;
  const std::shared_ptr<S3Upload> upload_;
  const std::string location_;
  const int64_t part_bytes_;
  std::string part_;
  size_t parts_ = 0;  // submitted
  int64_t size_ = 0;
  bool is_sealed_ = false;
  bool is_closed_ = false;
  Status state_;
};

class S3FileIO : public FileIO {
 public:
  S3FileIO(std::shared_ptr<S3Requests> requests, std::shared_ptr<UploadLanes> lanes)
      : objects_(std::make_shared<S3Objects>(std::move(requests))), lanes_(std::move(lanes)) {}

  Result<std::unique_ptr<OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(S3File file, parse_file(location));
    const int64_t part_bytes = objects_->requests().config().part_bytes;
    auto upload = std::make_shared<S3Upload>(objects_, std::move(file));
    return std::unique_ptr<OutputFile>(std::make_unique<S3OutputFile>(lanes_, std::move(upload), location, part_bytes));
  }
  Result<std::string> read(const std::string& location) override { return read_range(location, 0, INT64_MAX); }
  Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY_ASSIGN(const S3File file, parse_file(location));
    if (offset < 0 || length < 0) return base::invalid("cannot read " + location + ": the range is negative");
    base::Interrupt none;
    return objects_->read(file, offset, length, none);
  }
  Result<FileStatus> stat(const std::string& location) override {
    TRY_ASSIGN(const S3File file, parse_file(location));
    base::Interrupt none;
    TRY_ASSIGN(const S3Object object, objects_->look(file, none));
    return FileStatus{location, object.bytes, object.modified_millis};
  }
  Result<std::vector<FileStatus>> list(const std::string& prefix) override;
  Status remove(const std::string& location) override {
    TRY_ASSIGN(const S3File file, parse_file(location));
    base::Interrupt none;
    return objects_->remove(file, 0, none);
  }
  Status remove_all(const std::vector<std::string>& locations) override;

 private:
  static Result<S3File> parse_file(const std::string& location) {
    TRY_ASSIGN(S3Location target, parse_s3_location(location));
    if (target.key.empty() || target.key.ends_with('/')) return base::invalid("'" + location + "': names a folder, not a file");
    return S3File{std::move(target), location};
  }
  Result<S3ListPage> list_page(const S3Location& prefix, const std::string& continuation);
  Status remove_batch(const std::string& bucket, const std::vector<std::string>& keys);

  const std::shared_ptr<S3Objects> objects_;
  const std::shared_ptr<UploadLanes> lanes_;
};

Result<S3ListPage> S3FileIO::list_page(const S3Location& prefix, const std::string& continuation) {
  S3Request request;
  request.method = "GET";
  request.target = {prefix.bucket, ""};
  // Sorted by name, as the signature wants them.
  if (!continuation.empty()) request.query = "continuation-token=" + net::percent_encode(continuation) + "&";
  request.query += "encoding-type=url&list-type=2&max-keys=1000&prefix=" + net::percent_encode(prefix.key);
  base::Interrupt none;
  TRY_ASSIGN(const S3Answer answer, objects_->requests().send(request, none));
  if (!answer.is_success()) return base::unavailable("the store answered a list with " + std::to_string(answer.response.status));
  return read_s3_list(answer.response.body);
}

Result<std::vector<FileStatus>> S3FileIO::list(const std::string& prefix) {
  TRY_ASSIGN(const S3Location parsed, parse_s3_location(prefix));
  if (!prefix.ends_with('/')) return base::invalid("'" + prefix + "': a prefix to list must end in '/'");
  const std::string bucket_root = prefix.substr(0, prefix.size() - parsed.key.size());
  std::map<std::string, FileStatus> found;  // a page may repeat the end of the one before
  std::string continuation;
  while (true) {
    TRY_ASSIGN(S3ListPage page, list_page(parsed, continuation).in("listing " + prefix));
    for (const S3Listed& file : page.files) {
      if (!file.key.starts_with(parsed.key)) {
        return base::corrupt("listing " + prefix + ": the store lists an object that is not below it");
      }
      // Consoles and gateways mark folders with empty objects.
      if (file.key.ends_with('/')) continue;
      const std::string location = bucket_root + file.key;
      found[location] = {location, file.bytes, file.modified_millis};
    }
    if (page.next.empty()) break;
    if (page.next == continuation) return base::corrupt("listing " + prefix + ": the store's list does not end");
    continuation = std::move(page.next);
  }
  std::vector<FileStatus> files;
  for (auto& [location, status] : found) files.push_back(std::move(status));
  return files;
}

Status S3FileIO::remove_all(const std::vector<std::string>& locations) {
  std::map<std::string, std::vector<std::string>> keys_by_bucket;
  for (const std::string& location : locations) {
    TRY_ASSIGN(S3File file, parse_file(location));
    if (!fits_into_xml(file.target.key)) {
      TRY(remove(location));
      continue;
    }
    objects_->forget(location);
    keys_by_bucket[file.target.bucket].push_back(std::move(file.target.key));
  }
  for (const auto& [bucket, keys] : keys_by_bucket) {
    for (size_t from = 0; from < keys.size(); from += kRemovalsOfARequest) {
      const size_t to = std::min(from + kRemovalsOfARequest, keys.size());
      TRY(remove_batch(bucket, {keys.begin() + static_cast<ptrdiff_t>(from), keys.begin() + static_cast<ptrdiff_t>(to)}));
    }
  }
  return {};
}

Status S3FileIO::remove_batch(const std::string& bucket, const std::vector<std::string>& keys) {
  const std::string body = write_s3_delete(keys);
  S3Request request;
  request.method = "POST";
  request.target = {bucket, ""};
  request.query = "delete=";
  request.body = body;
  request.changes_something = true;
  request.may_fail_late = true;
  request.headers = {{"content-type", "application/xml"}, {"x-amz-checksum-crc32c", crc32c_base64(crc32c(body))}};
  base::Interrupt none;
  TRY_ASSIGN(const S3Answer answer, objects_->requests().send(request, none));
  if (!answer.is_success()) return base::unavailable("the store answered a removal with " + std::to_string(answer.response.status));
  TRY_ASSIGN(const std::vector<S3DeleteFailure> failures, read_s3_delete_failures(answer.response.body, answer.secrets));
  // One at a time, those that the store has not done have the tries of their own.
  for (const S3DeleteFailure& failure : failures) {
    if (failure.error.code == "NoSuchKey") continue;
    TRY(objects_->remove({{bucket, failure.key}, "s3://" + bucket + "/" + failure.key}, 0, none));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<FileIO>> make_s3_file_io(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                std::shared_ptr<net::AwsCredentialsProvider> credentials) {
  auto lanes = std::make_shared<UploadLanes>("s3-upload", config.upload_lanes, config.upload_lanes * config.part_bytes);
  TRY_ASSIGN(std::shared_ptr<S3Requests> requests, S3Requests::make(std::move(config), std::move(http), std::move(credentials)));
  return std::shared_ptr<FileIO>(std::make_shared<S3FileIO>(std::move(requests), std::move(lanes)));
}

}  // namespace frazil::io
