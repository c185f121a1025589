#include "tests/simulation/sim_file_io.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/routing.h"

namespace frazil::simulation {
namespace {

// Metadata of a table that rows are routed to; not what an epoch has for it, which is written before its commit.
bool is_of_outbox(const std::string& location) {
  if (location.ends_with("-owed.avro")) return false;
  const auto& tables = routed_tables();
  return std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) { return location.find("/" + table.name + "/metadata/") != std::string::npos; });
}

Phase phase_of(const std::string& location) {
  if (location.find("dead_letters/") != std::string::npos) return Phase::kDeadLetters;
  if (is_of_outbox(location)) return Phase::kRouted;
  return location.find("/data/") != std::string::npos ? Phase::kWriting : Phase::kPreparing;
}

class SimOutputFile : public io::OutputFile {
 public:
  SimOutputFile(std::unique_ptr<io::OutputFile> file, std::shared_ptr<Life> life, Phase phase, const Faults& faults, Tally& tally)
      : file_(std::move(file)), life_(std::move(life)), phase_(phase), faults_(faults), tally_(tally) {}
  base::Status write(std::string_view bytes) override {
    if (life_->is_dead()) return life_->step(phase_);
    bytes_ += bytes;
    return {};
  }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  base::Status close() override {
    TRY(life_->step(phase_));
    TRY(store());
    return life_->step(phase_);
  }
  void abort() override { file_->abort(); }

 private:
  base::Status store() {
    std::string_view kept = bytes_;
    if (chance(faults_.file_damaged)) {
      tally_.add("KI7");
      kept = kept.substr(0, kept.size() / 2);
      if (chance(500)) {
        file_->abort();
        return {};
      }
    }
    TRY(file_->write(kept));
    return file_->close();
  }

  std::unique_ptr<io::OutputFile> file_;
  std::shared_ptr<Life> life_;
  const Phase phase_;
  const Faults& faults_;
  Tally& tally_;
  std::string bytes_;
};

class SimFileIO : public io::FileIO {
 public:
  SimFileIO(std::shared_ptr<io::FileIO> store, std::shared_ptr<Life> life, const Faults& faults, Tally& tally)
      : store_(std::move(store)), life_(std::move(life)), faults_(faults), tally_(tally) {}

  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    TRY(request(location));
    TRY_ASSIGN(auto file, store_->create(location));
    return std::unique_ptr<io::OutputFile>(std::make_unique<SimOutputFile>(std::move(file), life_, phase_of(location), faults_, tally_));
  }
  base::Result<std::string> read(const std::string& location) override {
    TRY(request(location));
    return store_->read(location);
  }
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    TRY(request(location));
    return store_->read_range(location, offset, length);
  }
  base::Result<io::FileStatus> stat(const std::string& location) override {
    TRY(request(location));
    return store_->stat(location);
  }
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override {
    TRY(request(prefix));
    return store_->list(prefix);
  }
  base::Status remove(const std::string& location) override {
    TRY(request(location));
    return store_->remove(location);
  }

 private:
  base::Status request(const std::string& location) {
    TRY(life_->step(phase_of(location)));
    if (chance(faults_.file_failed)) return base::unavailable("the store did not answer for " + location);
    return {};
  }

  const std::shared_ptr<io::FileIO> store_;
  const std::shared_ptr<Life> life_;
  const Faults& faults_;
  Tally& tally_;
};

}  // namespace

std::shared_ptr<io::FileIO> make_sim_file_io(std::shared_ptr<io::FileIO> store, std::shared_ptr<Life> life, const Faults& faults,
                                             Tally& tally) {
  return std::make_shared<SimFileIO>(std::move(store), std::move(life), faults, tally);
}

}  // namespace frazil::simulation
