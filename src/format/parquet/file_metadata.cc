#include "format/parquet/file_metadata.h"

#include <algorithm>

#include "format/parquet/schema_elements.h"
#include "format/parquet/thrift_writer.h"

namespace frazil::format {
namespace {

using Element = ThriftWriter::Element;

enum PageType { kDataPage = 0, kDictionaryPage = 2 };

// Where a part of the page index lies; 0 bytes: there is none.
struct Place {
  int64_t offset = 0;
  int64_t bytes = 0;
};

struct IndexPlaces {
  Place values;
  Place offsets;
};

bool has_column_index(const ColumnChunk& chunk) {
  return std::all_of(chunk.pages.begin(), chunk.pages.end(), [](const DataPage& page) {
    return !page.has_values || (page.bounds && page.bounds->are_short());
  });
}

void write_column_index(const ColumnChunk& chunk, ThriftWriter& writer) {
  const auto bound = [](const DataPage& page, std::string PlainBounds::*side) {
    return page.has_values ? std::string_view(*page.bounds.*side) : std::string_view();
  };
  writer.begin_struct();
  writer.list_field(1, Element::kBool, chunk.pages.size());
  for (const DataPage& page : chunk.pages) writer.bool_element(!page.has_values);
  writer.list_field(2, Element::kBinary, chunk.pages.size());
  for (const DataPage& page : chunk.pages) writer.binary_element(bound(page, &PlainBounds::low));
  writer.list_field(3, Element::kBinary, chunk.pages.size());
  for (const DataPage& page : chunk.pages) writer.binary_element(bound(page, &PlainBounds::high));
  writer.field_int32(4, static_cast<int32_t>(chunk.order));
  writer.list_field(5, Element::kInt64, chunk.pages.size());
  for (const DataPage& page : chunk.pages) writer.int64_element(page.nulls);
  writer.end_struct();
}

void write_offset_index(const ColumnChunk& chunk, ThriftWriter& writer) {
  writer.begin_struct();
  writer.list_field(1, Element::kStruct, chunk.pages.size());
  for (const DataPage& page : chunk.pages) {
    writer.begin_struct();
    writer.field_int64(1, chunk.offset + chunk.dictionary_bytes + page.offset);
    writer.field_int32(2, page.bytes);
    writer.field_int64(3, page.first_row);
    writer.end_struct();
  }
  writer.end_struct();
}

// Writes the indexes of every chunk to `out`: first those of values, then those of places.
std::vector<std::vector<IndexPlaces>> append_page_index(const FileMetadata& file, int64_t offset, std::string& out) {
  std::vector<std::vector<IndexPlaces>> places;
  const auto append = [&](const ColumnChunk& chunk, auto write) {
    const size_t begin = out.size();
    ThriftWriter writer(out);
    write(chunk, writer);
    return Place{offset + static_cast<int64_t>(begin), static_cast<int64_t>(out.size() - begin)};
  };
  for (const RowGroup& group : file.row_groups) {
    auto& columns = places.emplace_back(group.columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      if (has_column_index(group.columns[i])) columns[i].values = append(group.columns[i], write_column_index);
    }
  }
  for (size_t group = 0; group < places.size(); ++group) {
    const auto& chunks = file.row_groups[group].columns;
    for (size_t i = 0; i < chunks.size(); ++i) places[group][i].offsets = append(chunks[i], write_offset_index);
  }
  return places;
}

void write_statistics(const ColumnChunk& chunk, ThriftWriter& writer) {
  const bool has_low = chunk.bounds && chunk.bounds->low.size() <= kMaxBoundBytes;
  const bool has_high = chunk.bounds && chunk.bounds->high.size() <= kMaxBoundBytes;
  writer.begin_struct_field(12);
  // The fields that old readers know, whose order is that of signed numbers.
  if (has_high && chunk.is_number) writer.field_binary(1, chunk.bounds->high);
  if (has_low && chunk.is_number) writer.field_binary(2, chunk.bounds->low);
  writer.field_int64(3, chunk.nulls);
  if (has_high) writer.field_binary(5, chunk.bounds->high);
  if (has_low) writer.field_binary(6, chunk.bounds->low);
  if (has_high) writer.field_bool(7, true);
  if (has_low) writer.field_bool(8, true);
  writer.end_struct();
}

void write_encodings(const ColumnChunk& chunk, bool has_dictionary, bool has_others, ThriftWriter& writer) {
  std::vector<Encoding> encodings = {Encoding::kRle};  // of the levels
  if (has_dictionary) encodings = {Encoding::kPlain, Encoding::kRle, Encoding::kRleDictionary};
  if (has_others && !(has_dictionary && chunk.encoding == Encoding::kPlain)) encodings.push_back(chunk.encoding);
  writer.list_field(2, Element::kInt32, encodings.size());
  for (const Encoding encoding : encodings) writer.int32_element(static_cast<int32_t>(encoding));
}

void write_encoding_statistics(const ColumnChunk& chunk, ThriftWriter& writer) {
  struct Count {
    PageType type;
    Encoding encoding;
    int64_t pages;
  };
  const auto others = static_cast<int64_t>(chunk.pages.size()) - chunk.dictionary_pages;
  std::vector<Count> counts;
  if (chunk.dictionary_bytes > 0) {
    counts.push_back({kDictionaryPage, Encoding::kPlain, 1});
    counts.push_back({kDataPage, Encoding::kRleDictionary, chunk.dictionary_pages});
  }
  if (others > 0) counts.push_back({kDataPage, chunk.encoding, others});
  writer.list_field(13, Element::kStruct, counts.size());
  for (const Count& count : counts) {
    writer.begin_struct();
    writer.field_int32(1, count.type);
    writer.field_int32(2, static_cast<int32_t>(count.encoding));
    writer.field_int32(3, static_cast<int32_t>(count.pages));
    writer.end_struct();
  }
}

void write_column_metadata(const ColumnChunk& chunk, const std::vector<std::string>& path, int32_t codec,
                           ThriftWriter& writer) {
  const bool has_dictionary = chunk.dictionary_bytes > 0;
  writer.begin_struct_field(3);
  writer.field_int32(1, static_cast<int32_t>(chunk.physical));
  write_encodings(chunk, has_dictionary, static_cast<int64_t>(chunk.pages.size()) > chunk.dictionary_pages, writer);
  writer.list_field(3, Element::kBinary, path.size());
  for (const std::string& name : path) writer.binary_element(name);
  writer.field_int32(4, codec);
  writer.field_int64(5, chunk.values);
  writer.field_int64(6, chunk.unpacked_bytes);
  writer.field_int64(7, chunk.packed_bytes);
  writer.field_int64(9, chunk.offset + chunk.dictionary_bytes);
  if (has_dictionary) writer.field_int64(11, chunk.offset);
  write_statistics(chunk, writer);
  write_encoding_statistics(chunk, writer);
  writer.end_struct();
}

void write_chunk(const ColumnChunk& chunk, const IndexPlaces& places, const std::vector<std::string>& path,
                 int32_t codec, ThriftWriter& writer) {
  writer.begin_struct();
  writer.field_int64(2, 0);
  write_column_metadata(chunk, path, codec, writer);
  if (places.offsets.bytes > 0) {
    writer.field_int64(4, places.offsets.offset);
    writer.field_int32(5, static_cast<int32_t>(places.offsets.bytes));
  }
  if (places.values.bytes > 0) {
    writer.field_int64(6, places.values.offset);
    writer.field_int32(7, static_cast<int32_t>(places.values.bytes));
  }
  writer.end_struct();
}

void write_row_group(const FileMetadata& file, size_t group, const std::vector<std::vector<std::string>>& paths,
                     const std::vector<IndexPlaces>& places, ThriftWriter& writer) {
  const RowGroup& row_group = file.row_groups[group];
  int64_t unpacked = 0;
  int64_t packed = 0;
  writer.begin_struct();
  writer.list_field(1, Element::kStruct, row_group.columns.size());
  for (size_t i = 0; i < row_group.columns.size(); ++i) {
    write_chunk(row_group.columns[i], places.empty() ? IndexPlaces() : places[i], paths[i], file.codec, writer);
    unpacked += row_group.columns[i].unpacked_bytes;
    packed += row_group.columns[i].packed_bytes;
  }
  writer.field_int64(2, unpacked);
  writer.field_int64(3, row_group.rows);
  writer.field_int64(5, row_group.columns[0].offset);
  writer.field_int64(6, packed);
  writer.end_struct();
}

void write_footer(const FileMetadata& file, const std::vector<std::vector<IndexPlaces>>& places, ThriftWriter& writer) {
  const auto paths = leaf_paths(*file.schema);
  int64_t rows = 0;
  for (const RowGroup& group : file.row_groups) rows += group.rows;
  writer.begin_struct();
  writer.field_int32(1, 2);
  write_schema_elements(*file.schema, 2, writer);
  writer.field_int64(3, rows);
  writer.list_field(4, Element::kStruct, file.row_groups.size());
  for (size_t group = 0; group < file.row_groups.size(); ++group) {
    write_row_group(file, group, paths, places.empty() ? std::vector<IndexPlaces>() : places[group], writer);
  }
  if (!file.key_values->empty()) {
    writer.list_field(5, Element::kStruct, file.key_values->size());
    for (const auto& [key, value] : *file.key_values) {
      writer.begin_struct();
      writer.field_binary(1, key);
      writer.field_binary(2, value);
      writer.end_struct();
    }
  }
  writer.field_binary(6, file.created_by);
  writer.list_field(7, Element::kStruct, paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    writer.begin_struct();
    writer.empty_struct_field(1);  // the order that the type defines
    writer.end_struct();
  }
  writer.end_struct();
}

void begin_page_header(PageType type, const PageHeader& header, ThriftWriter& writer) {
  writer.begin_struct();
  writer.field_int32(1, type);
  writer.field_int32(2, header.unpacked_bytes);
  writer.field_int32(3, header.packed_bytes);
}

}  // namespace

void append_data_page_header(const PageHeader& header, std::string& out) {
  ThriftWriter writer(out);
  begin_page_header(kDataPage, header, writer);
  writer.begin_struct_field(5);
  writer.field_int32(1, header.values);
  writer.field_int32(2, static_cast<int32_t>(header.encoding));
  writer.field_int32(3, static_cast<int32_t>(Encoding::kRle));
  writer.field_int32(4, static_cast<int32_t>(Encoding::kRle));
  writer.end_struct();
  writer.end_struct();
}

void append_dictionary_page_header(const PageHeader& header, std::string& out) {
  ThriftWriter writer(out);
  begin_page_header(kDictionaryPage, header, writer);
  writer.begin_struct_field(7);
  writer.field_int32(1, header.values);
  writer.field_int32(2, static_cast<int32_t>(Encoding::kPlain));
  writer.field_bool(3, false);
  writer.end_struct();
  writer.end_struct();
}

std::string file_end(const FileMetadata& file, int64_t offset) {
  std::string out;
  std::vector<std::vector<IndexPlaces>> places;
  if (file.has_page_index) places = append_page_index(file, offset, out);
  const size_t footer = out.size();
  ThriftWriter writer(out);
  write_footer(file, places, writer);
  const auto length = static_cast<uint32_t>(out.size() - footer);
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(length >> shift));
  out += "PAR1";
  return out;
}

}  // namespace frazil::format
