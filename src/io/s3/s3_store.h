// S3Store: the requests of S3 and what speaks its protocol, as an ObjectStore. Any thread; errors as in io/s3/s3_requests.h.
//
//  - Puts and completions of uploads carry If-None-Match; every byte has a CRC32C that the store checks.
//  - An object that was written through here and is not found is asked for again for some seconds: some stores know a new name late.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/sync.h"
#include "io/objects/object_store.h"
#include "io/s3/s3_requests.h"

namespace frazil::io {

class S3Store : public ObjectStore {
 public:
  explicit S3Store(std::unique_ptr<S3Requests> requests);
  const ObjectLimits& limits() const override { return limits_; }
  base::Result<ObjectAddress> address_of(const std::string& location) const override;
  base::Result<StoredObject> look(const ObjectAddress& at, Errand errand, base::Interrupt& interrupt) override;
  base::Result<ObjectPiece> read_piece(const ObjectAddress& at, int64_t offset, int64_t length, const std::string& version,
                                       base::Interrupt& interrupt) override;
  base::Result<ObjectPage> list_page(const ObjectAddress& prefix, const std::string& page) override;
  base::Status remove(const ObjectAddress& at, const std::string& generation, Errand errand, base::Interrupt& interrupt) override;
  // A thousand in a request.
  base::Status remove_all(const std::vector<ObjectAddress>& objects) override;
  base::Result<Publication> put(const ObjectAddress& at, std::string_view bytes, base::Interrupt& interrupt) override;
  std::unique_ptr<ObjectParts> parts_of(const ObjectAddress& at) override;

 private:
  class Parts;

  base::Result<StoreAnswer> send_until_found(const S3Request& request, const std::string& location, base::Interrupt& interrupt);
  base::Result<Publication> publish(const S3Request& request, const ObjectAddress& at, base::Interrupt& interrupt);
  base::Status remove_batch(const std::string& bucket, const std::vector<std::string>& keys);
  void remember(const std::string& location);
  void forget(const std::string& location);
  bool is_remembered(const std::string& location);

  const std::unique_ptr<S3Requests> requests_;
  const ObjectLimits limits_;
  base::Mutex mutex_;
  std::unordered_set<std::string> written_;  // the newest of them
  std::deque<std::string> order_;
};

}  // namespace frazil::io
