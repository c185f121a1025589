// HandedEpoch: one worker's epoch as another worker may commit it: ranges, and a manifest of files that are durable and that no
// snapshot names yet. Plain value; any thread.
//
// What arrives is believed only after a proof of its sender (app/merge_proof.h) and these checks: it may come from anybody.
// The manifest is a file of the table's store; its digest ties the request to its bytes. As a message it is JSON of version 1:
//   {"v":1,"pipeline":…,"table":<uuid>,"schema_id":…,"spec_id":…,"identity":{…},"ranges":[{"split":…,"begin":…,"end":…,"first":…}],
//    "manifest":…,"digest":…,"rows":…,"times":[[min,mean,max,rows],…]}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/sink.h"
#include "iceberg/manifest.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::sinks {

struct HandedEpoch {
  std::string pipeline;
  std::string table_uuid;
  int32_t schema_id = 0;
  int32_t spec_id = 0;
  std::vector<engine::Range> ranges;
  std::map<std::string, std::string> identity;
  std::string manifest;  // location
  std::string digest;    // xxh128 of the manifest's bytes, in hex
  int64_t rows = 0;
  std::vector<engine::RecordTimes> record_times;
};

std::string to_message(const HandedEpoch& epoch);
// kInvalid when it is none, kUnsupported when it is of another version.
base::Result<HandedEpoch> read_handed_epoch(const std::string& message);

// Epochs as no worker makes them: kInvalid says why. A worker hands over rows only, each range forwards, of a split that appears once.
base::Status check_handed_epoch(const HandedEpoch& epoch, const engine::PositionFormat& format);

// Writes the manifest of an epoch's data files (DataFileOutput) below the table's metadata folder. Location and digest.
struct WrittenManifest {
  std::string location;
  std::string digest;
};
base::Result<WrittenManifest> write_handed_manifest(io::FileIO& io, const iceberg::TableMetadata& metadata, const engine::StagedEpoch& epoch);
// The manifest's entries: new data files of the table's folders, each once, whose rows are as many as were handed over. kInvalid
// when it is another one or says anything else.
base::Result<iceberg::Manifest> read_handed_manifest(io::FileIO& io, const iceberg::TableMetadata& metadata, const HandedEpoch& epoch);

// What a verdict looks like as a message: {"v":1,"verdict":"done|stale|gap","reason":…,"positions":{…}}.
std::string to_message(const engine::CommitVerdict& verdict, const engine::PositionFormat& format);
base::Result<engine::CommitVerdict> read_verdict(const std::string& message, const engine::PositionFormat& format);

}  // namespace frazil::sinks
