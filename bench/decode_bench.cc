// frazil_decode_bench: what the JSON decoder of a reader lane costs, in CPU-seconds per 10^9 bytes of documents.
//
// usage: frazil_decode_bench [SET...]
//
// Sets: "orders" (the generator's records), "shuffled" (their keys in another order each time), "narrow" (5 columns), "wide" (300
// columns, 70 % nulls, an order of keys that drifts), "envelope" (images before and after in structs), "escapes" (in half of the
// strings), "pretty" (white space). FRAZIL_BENCH_DOCUMENTS (16384) of each lie in memory, in batches as Kafka has them, and are
// decoded FRAZIL_BENCH_ROUNDS (15) times; the best and the median round are told. FRAZIL_BENCH_PATH is a number of format::JsonPath.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "columnar/schema.h"
#include "decoders/json/json_record_decoder.h"
#include "engine/decoder.h"
#include "sources/generator/record.h"
#include "sources/generator/record_random.h"

namespace frazil::bench {
namespace {

using sources::RecordRandom;

struct Documents {
  columnar::Schema schema;
  std::vector<std::string> texts;
};

std::vector<std::string> orders(size_t count, bool shuffle_keys) {
  sources::RecordOptions options;
  options.shuffle_keys = shuffle_keys;
  const auto writer = sources::make_record_writer(options);
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) writer->write(i, texts[i]);
  return texts;
}

columnar::Schema schema_of(const std::string& type) {
  columnar::Schema schema;
  schema.fields = columnar::parse_type(type).value().fields();
  return columnar::assign_fresh_ids(schema);
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string word(RecordRandom& random, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random.next() % 26);
  return text;
}

Documents narrow(size_t count) {
  Documents documents{schema_of("struct<id: long, name: string, price: double, at: timestamptz, is_paid: boolean>"), {}};
  RecordRandom random(1, 0);
  for (size_t i = 0; i < count; ++i) {
    documents.texts.push_back("{\"id\":" + std::to_string(i * 7) + ",\"name\":" + quoted(word(random, 5 + random.next() % 12)) +
                              ",\"price\":" + std::to_string(random.next() % 5000) + "." + std::to_string(10 + random.next() % 90) +
                              ",\"at\":\"2026-01-01T10:" + std::to_string(10 + random.next() % 50) + ":30.123456Z\",\"is_paid\":" +
                              (random.next() % 2 == 0 ? "true" : "false") + "}");
  }
  return documents;
}

std::string wide_value(size_t column, RecordRandom& random) {
  if (random.next() % 10 < 7) return "null";
  if (column % 3 == 0) return std::to_string(random.next() % 1'000'000);
  if (column % 3 == 1) return std::to_string(random.next() % 10'000) + ".25";
  return quoted(word(random, 1 + random.next() % 20));
}

Documents wide(size_t count) {
  constexpr size_t kColumns = 300;
  static const char* const kTypes[] = {"long", "double", "string"};
  std::string type = "struct<";
  std::vector<size_t> order;
  for (size_t i = 0; i < kColumns; ++i) {
    type += (i == 0 ? "" : ", ") + std::string("column_") + std::to_string(i) + ": " + kTypes[i % 3];
    order.push_back(i);
  }
  Documents documents{schema_of(type + ">"), {}};
  RecordRandom random(2, 0);
  for (size_t i = 0; i < count; ++i) {
    if (random.next() % 4 == 0) std::swap(order[random.next() % kColumns], order[random.next() % kColumns]);
    std::string text = "{";
    for (const size_t column : order) {
      text += (text.size() == 1 ? "" : ",") + quoted("column_" + std::to_string(column)) + ":" + wide_value(column, random);
    }
    documents.texts.push_back(text + "}");
  }
  return documents;
}

std::string image(size_t id, RecordRandom& random) {
  return "{\"id\":" + std::to_string(id) + ",\"first_name\":" + quoted(word(random, 4 + random.next() % 6)) + ",\"email\":" +
         quoted(word(random, 12) + "@example.org") + ",\"balance\":" + std::to_string(random.next() % 100'000) + ".5}";
}

Documents envelope(size_t count) {
  const std::string row = "struct<id: long, first_name: string, email: string, balance: double>";
  Documents documents{schema_of("struct<before: " + row + ", after: " + row +
                                ", source: struct<version: string, connector: string, name: string, ts_ms: long, db: string, table: "
                                "string, server_id: long, file: string, pos: long, row: int>, op: string, ts_ms: long>"),
                      {}};
  RecordRandom random(3, 0);
  for (size_t i = 0; i < count; ++i) {
    const bool is_insert = random.next() % 3 == 0;
    documents.texts.push_back(
        "{\"before\":" + (is_insert ? "null" : image(i, random)) + ",\"after\":" + image(i, random) +
        ",\"source\":{\"version\":\"2.7.0.Final\",\"connector\":\"mysql\",\"name\":\"shop\",\"ts_ms\":" +
        std::to_string(1'767'225'600'000 + i) + ",\"db\":\"inventory\",\"table\":\"customers\",\"server_id\":223344,\"file\":"
        "\"mysql-bin.000003\",\"pos\":" + std::to_string(154 + i * 300) + ",\"row\":0},\"op\":" + (is_insert ? "\"c\"" : "\"u\"") +
        ",\"ts_ms\":" + std::to_string(1'767'225'600'123 + i) + "}");
  }
  return documents;
}

// Writes a document anew, with white space or with escapes at the start of half of its strings. Strings as the generator has them.
class Rewriter {
 public:
  Rewriter(bool is_pretty, bool has_escapes) : is_pretty_(is_pretty), has_escapes_(has_escapes) {}

  std::string rewrite(const std::string& text) {
    out_.clear();
    size_t depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') {
        i = copy_string(text, i);
        continue;
      }
      if (c == '}' || c == ']') new_line(--depth);
      out_ += c;
      if (c == '{' || c == '[') new_line(++depth);
      if (c == ',') new_line(depth);
      if (c == ':' && is_pretty_) out_ += ' ';
    }
    return out_;
  }

 private:
  void new_line(size_t depth) {
    if (is_pretty_) out_ += '\n' + std::string(2 * depth, ' ');
  }

  // Returns where the string that begins at `first` ends.
  size_t copy_string(const std::string& text, size_t first) {
    size_t end = first + 1;
    while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    std::string string = text.substr(first, end + 1 - first);
    const bool is_value = text[first - 1] == ':' || text[first - 1] == '[';
    const bool is_text = string.find("-4") == std::string::npos && !string.starts_with("\"202");
    if (has_escapes_ && is_value && is_text && random_.next() % 2 == 0) string.insert(1, "\\n");
    out_ += string;
    return end;
  }

  const bool is_pretty_;
  const bool has_escapes_;
  std::string out_;
  RecordRandom random_{4, 0};
};

// Each is the same on every run.
const std::vector<std::string>& document_sets() {
  static const std::vector<std::string> sets = {"orders", "shuffled", "narrow", "wide", "envelope", "escapes", "pretty"};
  return sets;
}

Documents make_documents(std::string_view set, size_t count) {
  if (set == "narrow") return narrow(count);
  if (set == "wide") return wide(count / 8 + 1);
  if (set == "envelope") return envelope(count);
  Documents documents{columnar::assign_fresh_ids(sources::generator_schema()), orders(count, set == "shuffled")};
  Rewriter rewriter(set == "pretty", set == "escapes");
  if (set == "pretty" || set == "escapes") {
    for (std::string& text : documents.texts) text = rewriter.rewrite(text);
  }
  return documents;
}

constexpr size_t kBatchRecords = 512;

int64_t setting(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Documents one behind the other in one piece of memory for each batch.
std::vector<engine::RawBatch> batches_of(const std::vector<std::string>& texts) {
  std::vector<engine::RawBatch> batches;
  for (size_t first = 0; first < texts.size(); first += kBatchRecords) {
    const size_t last = std::min(texts.size(), first + kBatchRecords);
    auto memory = std::make_shared<std::string>();
    for (size_t i = first; i < last; ++i) *memory += texts[i];
    engine::RawBatch batch;
    size_t at = 0;
    for (size_t i = first; i < last; ++i) {
      engine::RawRecord record;
      record.value = std::string_view(*memory).substr(at, texts[i].size());
      record.has_value = true;
      at += texts[i].size();
      batch.records.push_back(record);
    }
    batch.bytes = static_cast<int64_t>(memory->size());
    batch.memory = std::move(memory);
    batches.push_back(std::move(batch));
  }
  return batches;
}

double cpu_seconds() { return static_cast<double>(base::process_cpu_micros()) / 1e6; }

int measure(const std::string& set) {
  const Documents documents = make_documents(set, static_cast<size_t>(setting("FRAZIL_BENCH_DOCUMENTS", 16384)));
  const std::vector<engine::RawBatch> batches = batches_of(documents.texts);
  decoders::JsonDecoderConfig config;
  config.json.path = static_cast<format::JsonPath>(setting("FRAZIL_BENCH_PATH", 0));
  auto decoder = decoders::make_json_decoder(config, std::make_shared<columnar::Schema>(documents.schema)).value();
  columnar::Batch rows(decoder->schema());
  std::vector<engine::Rejected> rejects;
  engine::DecodeCounts counts;
  std::vector<double> seconds;
  int64_t bytes = 0;
  for (const auto& batch : batches) bytes += batch.bytes;
  for (int64_t round = setting("FRAZIL_BENCH_ROUNDS", 15); round > 0; --round) {
    rows.clear();
    const double start = cpu_seconds();
    for (const auto& batch : batches) {
      for (size_t next = 0; next < batch.records.size();) {
        next = decoder->decode(batch, next, batch.records.size(), rows, rejects, counts).value();
      }
    }
    seconds.push_back(cpu_seconds() - start);
  }
  if (!rejects.empty() || rows.rows() != static_cast<int64_t>(documents.texts.size())) {
    fprintf(stderr, "%s: %zu rejects, the first: %s\n", set.c_str(), rejects.size(), rejects[0].message.c_str());
    return 1;
  }
  std::sort(seconds.begin(), seconds.end());
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  const double median = seconds[seconds.size() / 2];
  printf("%-9s %6.0f bytes  best %.3f  median %.3f CPU-s/GB  %5.0f MB/s\n", set.c_str(),
         static_cast<double>(bytes) / static_cast<double>(documents.texts.size()), seconds[0] / gigabytes, median / gigabytes,
         gigabytes / median * 1e3);
  return 0;
}

}  // namespace
}  // namespace frazil::bench

int main(int count, char** names) {
  std::vector<std::string> sets(names + 1, names + count);
  if (sets.empty()) sets = frazil::bench::document_sets();
  int failures = 0;
  for (const std::string& set : sets) failures += frazil::bench::measure(set);
  return failures == 0 ? 0 : 1;
}
