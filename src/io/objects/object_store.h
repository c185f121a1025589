// ObjectStore: what a store of objects must be able to do, one operation a function; and the values that go in and out.
//
// An implementation speaks its store's requests, each with the tries that io/objects/request_loop.h gives it. What is the
// same for all stores stands on top: how files grow (growing_object.h), what became of one whose answer was lost
// (object_upload.h), reading, listing and removing (object_file_io.h). Any thread; every function blocks for requests.
// Errors as in request_loop.h; kNotFound names the location.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"

namespace frazil::io {

struct ObjectAddress {
  std::string bucket;
  std::string key;       // byte for byte; of a prefix perhaps empty
  std::string location;  // as it was asked for
};

// What a store says of an object.
struct StoredObject {
  int64_t bytes = 0;
  int64_t modified_millis = 0;
  std::string checksum;    // CRC32C as the store writes it; may be empty
  std::string generation;  // one for each content that the name has had; empty where the store has none
};

struct ObjectPiece {
  std::string bytes;
  int64_t total = 0;    // of the object
  std::string version;  // for the next piece of the same object
};

struct ObjectPage {
  struct Entry {
    std::string key;
    int64_t bytes = 0;
    int64_t modified_millis = 0;
  };
  std::vector<Entry> entries;
  std::string next;  // empty: this was the last page
};

// How a request that makes an object visible was answered.
struct Publication {
  enum class Kind {
    kStored,
    kTaken,  // the name was taken, perhaps by ourselves: by an earlier try, or by a copy of this request
    kGone,   // the store does not know the upload: ended by somebody, or completed by an earlier try
  } kind = Kind::kStored;
  std::optional<StoredObject> object;  // of kStored, where the answer describes it
  std::string words;                   // of kGone
};

// What a request is for: the bytes and names that somebody waits for, or taking back what nobody will ask for, which is
// not worth waiting long.
enum class Errand { kWork, kCleanUp };

// A part of an object that is uploaded in parts.
struct ObjectPart {
  int number = 0;  // from 1 on
  int64_t offset = 0;
  std::string_view bytes;
  bool is_last = false;
};

// One object on its way into the store, in parts. send() may be called by several threads at once where the store's
// limits allow it, the others by one.
class ObjectParts {
 public:
  virtual ~ObjectParts() = default;
  virtual base::Status begin(base::Interrupt& interrupt) = 0;
  virtual base::Status send(const ObjectPart& part, base::Interrupt& interrupt) = 0;
  // After all were sent: makes the object visible, unless its name is taken.
  virtual base::Result<Publication> publish(base::Interrupt& interrupt) = 0;
  // Of all that was sent, as the store writes it for an object in parts.
  virtual std::string checksum() = 0;
  // The store forgets what it has of the upload; once it is published that does nothing.
  virtual void abandon() = 0;
};

struct ObjectLimits {
  std::string store;      // "s3", for names of lanes
  int64_t part_bytes = 0;
  int parts_at_once = 0;  // of one object
  int lanes = 0;          // of all objects
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual const ObjectLimits& limits() const = 0;
  // Of a location or a prefix. kUnsupported: another store's scheme; kInvalid: what nothing can be called.
  virtual base::Result<ObjectAddress> address_of(const std::string& location) const = 0;
  virtual base::Result<StoredObject> look(const ObjectAddress& at, Errand errand, base::Interrupt& interrupt) = 0;
  // Bytes [offset, offset + length) in one request, perhaps fewer. `version`: of the pieces before, or empty; kCorrupt
  // when the object is another one by now.
  virtual base::Result<ObjectPiece> read_piece(const ObjectAddress& at, int64_t offset, int64_t length,
                                               const std::string& version, base::Interrupt& interrupt) = 0;
  // Objects whose keys begin with the prefix's, in the store's order.
  virtual base::Result<ObjectPage> list_page(const ObjectAddress& prefix, const std::string& page) = 0;
  // What is absent is removed already. With a generation: only that one.
  virtual base::Status remove(const ObjectAddress& at, const std::string& generation, Errand errand,
                              base::Interrupt& interrupt) = 0;
  virtual base::Status remove_all(const std::vector<ObjectAddress>& objects) = 0;
  // A whole object in one request, unless its name is taken.
  virtual base::Result<Publication> put(const ObjectAddress& at, std::string_view bytes, base::Interrupt& interrupt) = 0;
  virtual std::unique_ptr<ObjectParts> parts_of(const ObjectAddress& at) = 0;
};

}  // namespace frazil::io
