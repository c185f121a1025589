// What a Parquet file says of itself: page headers, the page index and the footer, as values and as bytes.
//
// Source: apache/parquet-format, parquet.thrift; PageIndex.md for the order of the indexes. Pure, no failures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/schema.h"
#include "format/parquet/page_values.h"
#include "format/parquet/plain_bounds.h"

namespace frazil::format {

struct DataPage {
  int64_t offset = 0;  // within the pages of its chunk
  int32_t bytes = 0;   // with its header
  int64_t first_row = 0;
  int64_t nulls = 0;
  bool has_values = false;
  std::optional<PlainBounds> bounds;
};

enum class PageOrder { kUnordered = 0, kAscending = 1, kDescending = 2 };

struct ColumnChunk {
  Physical physical = Physical::kBoolean;
  bool is_number = true;
  int64_t offset = 0;  // in the file
  int64_t values = 0;
  int64_t nulls = 0;
  int64_t unpacked_bytes = 0;  // headers included, as in packed_bytes
  int64_t packed_bytes = 0;
  int64_t dictionary_bytes = 0;          // of the dictionary page in front; 0: there is none
  int64_t dictionary_pages = 0;          // data pages of ids
  Encoding encoding = Encoding::kPlain;  // of the other data pages
  std::optional<PlainBounds> bounds;
  std::vector<DataPage> pages;
  PageOrder order = PageOrder::kUnordered;
};

struct RowGroup {
  int64_t rows = 0;
  std::vector<ColumnChunk> columns;
};

struct FileMetadata {
  const columnar::Schema* schema = nullptr;
  std::string_view created_by;
  int32_t codec = 0;
  bool has_page_index = true;
  const std::map<std::string, std::string>* key_values = nullptr;
  std::vector<RowGroup> row_groups;
};

struct PageHeader {
  int32_t unpacked_bytes = 0;
  int32_t packed_bytes = 0;
  int32_t values = 0;
  Encoding encoding = Encoding::kPlain;
};

void append_data_page_header(const PageHeader& header, std::string& out);
void append_dictionary_page_header(const PageHeader& header, std::string& out);

// Everything behind the row groups: the column indexes, the offset indexes, the footer, its length and the magic.
// `offset` is where it begins in the file.
std::string file_end(const FileMetadata& file, int64_t offset);

}  // namespace frazil::format
