#include "tests/simulation/sim_file_io.h"

#include <utility>

namespace frazil::simulation {
namespace {

Phase phase_of(const std::string& location) {
  if (location.find("dead_letters/") != std::string::npos) return Phase::kDeadLetters;
  return location.find("/data/") != std::string::npos ? Phase::kWriting : Phase::kPreparing;
}

class SimOutputFile : public io::OutputFile {
 public:
  SimOutputFile(std::unique_ptr<io::OutputFile> file, std::shared_ptr<Life> life, Phase phase)
      : file_(std::move(file)), life_(std::move(life)), phase_(phase) {}
  base::Status write(std::string_view bytes) override {
    if (life_->is_dead()) return life_->step(phase_);
    return file_->write(bytes);
  }
  int64_t size() const override { return file_->size(); }
  base::Status close() override {
    TRY(life_->step(phase_));
    TRY(file_->close());
    return life_->step(phase_);
  }
  void abort() override { file_->abort(); }

 private:
  std::unique_ptr<io::OutputFile> file_;
  std::shared_ptr<Life> life_;
  const Phase phase_;
};

class SimFileIO : public io::FileIO {
 public:
  SimFileIO(std::shared_ptr<io::FileIO> store, std::shared_ptr<Life> life, const Faults& faults)
      : store_(std::move(store)), life_(std::move(life)), faults_(faults) {}

  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    TRY(request(location));
    TRY_ASSIGN(auto file, store_->create(location));
    return std::unique_ptr<io::OutputFile>(std::make_unique<SimOutputFile>(std::move(file), life_, phase_of(location)));
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
};

}  // namespace

std::shared_ptr<io::FileIO> make_sim_file_io(std::shared_ptr<io::FileIO> store, std::shared_ptr<Life> life,
                                             const Faults& faults) {
  return std::make_shared<SimFileIO>(std::move(store), std::move(life), faults);
}

}  // namespace frazil::simulation
