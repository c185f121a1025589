// frazil_encode_bench: what encoding costs, our Parquet writer beside Arrow's.
//
// usage: frazil_encode_bench [ROWS_PER_FILE] [ROUNDS] [OPEN CODEC DELTA WRITER]
//        where OPEN is 1 or 64, CODEC none or zstd, DELTA yes or no, WRITER ours or arrow: only that, for a profile
//
// Generated records are decoded to batches of 16,384 rows and dealt out to the files before the clock runs. Prints
// CPU-seconds (user and system) for each 10^9 bytes of JSON, the least of the rounds, and the bytes of the files.
// "open" is the number of files that grow at the same time; with 64 each takes a 64th of every batch. Built on request:
// ninja frazil_encode_bench.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

#include "format/json/json_decoder.h"
#include "format/parquet/parquet_writer.h"
#include "sources/generator/record.h"

namespace frazil {
namespace {

using columnar::Batch;
using Make = decltype(&format::make_parquet_writer);

constexpr int64_t kBatchRows = 16384;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Load {
  std::vector<std::vector<Batch>> steps;  // a batch for each open file
  int64_t json_bytes = 0;
};

class Records {
 public:
  Records()
      : schema_(std::make_shared<columnar::Schema>(sources::generator_schema())),
        writer_(sources::make_record_writer({})),
        decoder_(format::JsonDecoder::make(schema_, {}).value()) {}

  // Appends the next record; its bytes.
  int64_t append(Batch& batch) {
    writer_->write(next_++, text_);
    std::vector<columnar::Column*> columns;
    for (columnar::Column& column : batch.columns) columns.push_back(&column);
    int64_t rows = 0;
    CHECK(!decoder_->decode(text_, columns, &rows));
    return static_cast<int64_t>(text_.size());
  }
  const std::shared_ptr<const columnar::Schema>& schema() const { return schema_; }

 private:
  std::shared_ptr<const columnar::Schema> schema_;
  std::unique_ptr<sources::RecordWriter> writer_;
  std::unique_ptr<format::JsonDecoder> decoder_;
  std::string text_;
  uint64_t next_ = 0;
};

Load make_load(int64_t rows, int open) {
  Load load;
  Records records;
  for (int64_t done = 0; done < rows; done += kBatchRows) {
    Batch batch(records.schema());
    for (int64_t i = 0; i < std::min(kBatchRows, rows - done); ++i) load.json_bytes += records.append(batch);
    std::vector<Batch>& step = load.steps.emplace_back();
    for (int file = 0; file < open; ++file) {
      std::vector<int32_t> dealt;
      for (int64_t i = 0; i < batch.rows(); ++i) {
        if ((static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ULL >> 32) % static_cast<uint64_t>(open) ==
            static_cast<uint64_t>(file)) {
          dealt.push_back(static_cast<int32_t>(i));
        }
      }
      step.emplace_back(records.schema()).append_rows(batch, dealt);
    }
  }
  return load;
}

class Files {
 public:
  Files(Make make, format::ParquetWriterOptions options) : make_(make), options_(std::move(options)) {}

  // Writes the whole load; each file takes `steps` batches and is sealed.
  void write(const Load& load, size_t steps) {
    bytes_ = 0;
    for (size_t i = 0; i < load.steps.size(); ++i) {
      const std::vector<Batch>& step = load.steps[i];
      if (i % steps == 0) open(step);
      for (size_t file = 0; file < step.size(); ++file) CHECK(writers_[file]->write(step[file]).ok());
      if (i % steps == steps - 1 || i + 1 == load.steps.size()) {
        for (const auto& writer : writers_) CHECK(writer->seal().ok());
        writers_.clear();
      }
    }
  }
  int64_t bytes() const { return bytes_; }

 private:
  void open(const std::vector<Batch>& step) {
    for (const Batch& batch : step) {
      writers_.push_back(make_(batch.schema, options_, [this](std::string_view bytes) {
                           bytes_ += static_cast<int64_t>(bytes.size());
                           return base::Status();
                         }).value());
    }
  }

  Make make_;
  format::ParquetWriterOptions options_;
  std::vector<std::unique_ptr<format::ParquetWriter>> writers_;
  int64_t bytes_ = 0;
};

// CPU-seconds a GB, the least of the rounds.
double measure(Files& files, const Load& load, size_t steps, int rounds) {
  double least = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_seconds();
    files.write(load, steps);
    least = std::min(least, cpu_seconds() - begin);
  }
  return least / (static_cast<double>(load.json_bytes) / 1e9);
}

struct Case {
  int open = 1;
  bool has_zstd = false;
  bool uses_delta = false;
};

format::ParquetWriterOptions options_of(const Case& test) {
  format::ParquetWriterOptions options;
  options.codec = test.has_zstd ? format::ParquetCodec::kZstd : format::ParquetCodec::kUncompressed;
  options.uses_delta_encodings = test.uses_delta;
  return options;
}

size_t steps_of(int64_t rows_per_file, int open) {
  return static_cast<size_t>(std::max<int64_t>(1, rows_per_file * open / kBatchRows));
}

void compare(const Case& test, const Load& load, size_t steps, int rounds) {
  Files ours(&format::make_parquet_writer, options_of(test));
  Files arrows(&format::make_arrow_parquet_writer, options_of(test));
  const double our_cost = measure(ours, load, steps, rounds);
  const double arrows_cost = measure(arrows, load, steps, rounds);
  const double megabytes = static_cast<double>(load.json_bytes) / 1e9 * 1e6;
  std::printf("%4d %-5s %-5s  %5.3f %6.3f %5.2f  %7.1f %7.1f\n", test.open, test.has_zstd ? "zstd" : "none",
              test.uses_delta ? "yes" : "no", our_cost, arrows_cost, arrows_cost / our_cost,
              static_cast<double>(ours.bytes()) / megabytes, static_cast<double>(arrows.bytes()) / megabytes);
  std::fflush(stdout);
}

void compare_all(int64_t rows_per_file, int rounds) {
  std::printf("%4s %-5s %-5s  %21s  %15s\n", "", "", "", "CPU-s/GB", "file MB/GB");
  std::printf("%4s %-5s %-5s  %5s %6s %5s  %7s %7s\n", "open", "codec", "delta", "ours", "Arrow", "ratio", "ours",
              "Arrow");
  for (const int open : {1, 64}) {
    const Load load = make_load(rows_per_file * 64, open);
    for (const bool has_zstd : {false, true}) {
      for (const bool uses_delta : {false, true}) {
        compare({open, has_zstd, uses_delta}, load, steps_of(rows_per_file, open), rounds);
      }
    }
  }
}

void run_one(int64_t rows_per_file, int rounds, const Case& test, Make make) {
  const Load load = make_load(rows_per_file * 64, test.open);
  Files files(make, options_of(test));
  std::printf("%.3f CPU-s/GB\n", measure(files, load, steps_of(rows_per_file, test.open), rounds));
}

}  // namespace
}  // namespace frazil

int main(int count, char** arguments) {
  // As the program itself does (src/app/main.cc).
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  const int64_t rows = count > 1 ? std::atoll(arguments[1]) : 16384;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 3;
  if (count < 7) {
    frazil::compare_all(rows, rounds);
    return 0;
  }
  const frazil::Case test{std::atoi(arguments[3]), std::strcmp(arguments[4], "zstd") == 0,
                          std::strcmp(arguments[5], "yes") == 0};
  const bool is_ours = std::strcmp(arguments[6], "ours") == 0;
  frazil::run_one(rows, rounds, test,
                  is_ours ? &frazil::format::make_parquet_writer : &frazil::format::make_arrow_parquet_writer);
}
