// TableRows: the rows of a table version, as the names of the records they came from. Files never change, so what was read of a
// manifest or a data file is kept. Reads the store directly; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::simulation {

struct RecordName {
  int32_t partition = 0;
  int64_t offset = 0;
  int64_t epoch = 0;  // of dead letters
};

class TableRows {
 public:
  explicit TableRows(std::shared_ptr<io::FileIO> store) : store_(std::move(store)) {}

  // Rows that the head of `metadata` makes visible. Adds to `problems` what cannot be read.
  std::vector<RecordName> visible(const iceberg::TableMetadata& metadata, std::vector<std::string>& problems);
  // Rows of the files that a manifest adds.
  const std::vector<RecordName>& of_manifest(const std::string& manifest, std::vector<std::string>& problems);
  // Every file that some retained snapshot names, by way of its manifests.
  std::vector<std::string> referenced(const iceberg::TableMetadata& metadata, std::vector<std::string>& problems);

 private:
  const std::vector<std::string>& manifests(const iceberg::Snapshot& snapshot, std::vector<std::string>& problems);
  const std::vector<std::string>& live_files(const std::string& manifest, std::vector<std::string>& problems);
  const std::vector<RecordName>& rows(const std::string& file, std::vector<std::string>& problems);

  std::shared_ptr<io::FileIO> store_;
  std::map<std::string, std::vector<std::string>> manifests_;   // by manifest list
  std::map<std::string, std::vector<std::string>> live_files_;  // by manifest
  std::map<std::string, std::vector<RecordName>> rows_;         // by data file
  std::map<std::string, std::vector<RecordName>> manifest_rows_;
};

}  // namespace frazil::simulation
