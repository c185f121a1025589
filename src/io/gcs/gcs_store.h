// GcsStore: the requests of Google Cloud Storage's JSON API, as an ObjectStore. Any thread; errors as in
// io/gcs/gcs_requests.h.
//
// Small objects are one media upload, others a resumable upload; both carry ifGenerationMatch=0. A chunk without a clear
// answer: the session is asked how many bytes it has (308 and Range), and the rest is sent from there. Chunks of an object go
// one after the other, and the answer to the last one is the object.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/gcs/gcs_requests.h"
#include "io/objects/object_store.h"

namespace frazil::io {

class GcsStore : public ObjectStore {
 public:
  explicit GcsStore(std::unique_ptr<GcsRequests> requests);
  const ObjectLimits& limits() const override { return limits_; }
  base::Result<ObjectAddress> address_of(const std::string& location) const override;
  base::Result<StoredObject> look(const ObjectAddress& at, Errand errand, base::Interrupt& interrupt) override;
  base::Result<ObjectPiece> read_piece(const ObjectAddress& at, int64_t offset, int64_t length, const std::string& version,
                                       base::Interrupt& interrupt) override;
  base::Result<ObjectPage> list_page(const ObjectAddress& prefix, const std::string& page) override;
  base::Status remove(const ObjectAddress& at, const std::string& generation, Errand errand,
                      base::Interrupt& interrupt) override;
  base::Status remove_all(const std::vector<ObjectAddress>& objects) override;
  base::Result<Publication> put(const ObjectAddress& at, std::string_view bytes, base::Interrupt& interrupt) override;
  std::unique_ptr<ObjectParts> parts_of(const ObjectAddress& at) override;

 private:
  class Parts;

  const std::unique_ptr<GcsRequests> requests_;
  const ObjectLimits limits_;
};

}  // namespace frazil::io
