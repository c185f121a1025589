// Avro schemas of manifests and manifest lists, format version 2 (Iceberg specification, sections "Manifests" and "Manifest
// Lists"), and the numbers of their fields. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/avro/avro_schema.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {

// Field ids: what readers go by, whatever the names and the order.
struct ManifestField {
  static constexpr int32_t kStatus = 0;
  static constexpr int32_t kSnapshotId = 1;
  static constexpr int32_t kDataFile = 2;
  static constexpr int32_t kSequenceNumber = 3;
  static constexpr int32_t kFileSequenceNumber = 4;
  static constexpr int32_t kFilePath = 100;
  static constexpr int32_t kFileFormat = 101;
  static constexpr int32_t kPartition = 102;
  static constexpr int32_t kRecordCount = 103;
  static constexpr int32_t kFileSize = 104;
  static constexpr int32_t kColumnSizes = 108;
  static constexpr int32_t kValueCounts = 109;
  static constexpr int32_t kNullValueCounts = 110;
  static constexpr int32_t kLowerBounds = 125;
  static constexpr int32_t kUpperBounds = 128;
  static constexpr int32_t kKeyMetadata = 131;
  static constexpr int32_t kSplitOffsets = 132;
  static constexpr int32_t kContent = 134;
  static constexpr int32_t kEqualityIds = 135;
  static constexpr int32_t kNanValueCounts = 137;
  static constexpr int32_t kSortOrderId = 140;
  static constexpr int32_t kReferencedDataFile = 143;
};

struct ManifestListField {
  static constexpr int32_t kPath = 500;
  static constexpr int32_t kLength = 501;
  static constexpr int32_t kSpecId = 502;
  static constexpr int32_t kAddedSnapshotId = 503;
  static constexpr int32_t kAddedFiles = 504;
  static constexpr int32_t kExistingFiles = 505;
  static constexpr int32_t kDeletedFiles = 506;
  static constexpr int32_t kPartitions = 507;
  static constexpr int32_t kContainsNull = 509;
  static constexpr int32_t kLowerBound = 510;
  static constexpr int32_t kUpperBound = 511;
  static constexpr int32_t kAddedRows = 512;
  static constexpr int32_t kExistingRows = 513;
  static constexpr int32_t kDeletedRows = 514;
  static constexpr int32_t kSequenceNumber = 515;
  static constexpr int32_t kMinSequenceNumber = 516;
  static constexpr int32_t kContent = 517;
  static constexpr int32_t kContainsNan = 518;
  static constexpr int32_t kKeyMetadata = 519;
};

// `types`: result types of the spec's fields. Partition field names are escaped for Avro; the true ones stand beside them.
std::string manifest_entry_schema(const PartitionSpec& spec, const std::vector<columnar::Type>& types);
const std::string& manifest_list_schema();
// The field's id; files without ids (of careless writers) are read by the specification's names.
int32_t manifest_field_id(const format::AvroField& field);
// Bytes of the Avro fixed that holds a decimal of that precision.
int decimal_fixed_bytes(int precision);

}  // namespace frazil::iceberg
