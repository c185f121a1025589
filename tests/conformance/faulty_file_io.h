// A FileIO that fails on demand: the operation with a given number fails before or after it took place, and its power
// can be cut, which loses every file that is not closed. For tests of everything that must survive a failing store.
//
// Operations are numbered from 1 in the order of their calls: create, write, close, read, read_range, stat, list,
// remove.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_io.h"

namespace frazil::conformance {

enum class FaultMoment {
  kBefore,  // nothing happens, kUnavailable
  kAfter,   // it happens, but the answer is kUnknownOutcome
};

// Shared by the FileIO and its growing files. Any thread.
class FaultPlan {
 public:
  void fail_at(int64_t operation, FaultMoment moment) {
    moment_ = moment;
    fail_at_ = operation;
    operations_ = 0;
  }
  void stop_failing() { fail_at_ = 0; }
  void cut_power() { has_power_ = false; }
  void restore_power() { has_power_ = true; }
  // Since fail_at().
  int64_t operations() const { return operations_; }
  bool has_power() const { return has_power_; }

  // Runs one operation under the plan. `T`: Status or Result.
  template <typename T>
  T run(const std::string& what, auto&& operation) {
    const bool fails = ++operations_ == fail_at_;
    if (!has_power_) return base::unavailable(what + ": no power");
    if (fails && moment_ == FaultMoment::kBefore) return base::unavailable(what + ": injected failure");
    T answer = operation();
    if (!has_power_) return base::unavailable(what + ": power was cut");
    if (fails) return base::Error(base::Code::kUnknownOutcome, what + ": injected loss of the answer");
    return answer;
  }

 private:
  std::atomic<int64_t> operations_{0};
  std::atomic<int64_t> fail_at_{0};
  std::atomic<FaultMoment> moment_{FaultMoment::kBefore};
  std::atomic<bool> has_power_{true};
};

class FaultyOutputFile : public io::OutputFile {
 public:
  FaultyOutputFile(std::shared_ptr<FaultPlan> plan, std::unique_ptr<io::OutputFile> inner)
      : plan_(std::move(plan)), inner_(std::move(inner)) {}
  base::Status write(std::string_view bytes) override {
    return plan_->run<base::Status>("write", [&] { return inner_->write(bytes); });
  }
  int64_t size() const override { return inner_->size(); }
  base::Status close() override {
    return plan_->run<base::Status>("close", [&] { return inner_->close(); });
  }
  void abort() override { inner_->abort(); }

 private:
  std::shared_ptr<FaultPlan> plan_;
  std::unique_ptr<io::OutputFile> inner_;
};

class FaultyFileIO : public io::FileIO {
 public:
  FaultyFileIO(std::shared_ptr<io::FileIO> inner, std::shared_ptr<FaultPlan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    using Created = base::Result<std::unique_ptr<io::OutputFile>>;
    return plan_->run<Created>("create", [&]() -> Created {
      TRY_ASSIGN(std::unique_ptr<io::OutputFile> file, inner_->create(location));
      return std::unique_ptr<io::OutputFile>(std::make_unique<FaultyOutputFile>(plan_, std::move(file)));
    });
  }
  base::Result<std::string> read(const std::string& location) override {
    return plan_->run<base::Result<std::string>>("read", [&] { return inner_->read(location); });
  }
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    return plan_->run<base::Result<std::string>>("read_range",
                                                 [&] { return inner_->read_range(location, offset, length); });
  }
  base::Result<io::FileStatus> stat(const std::string& location) override {
    return plan_->run<base::Result<io::FileStatus>>("stat", [&] { return inner_->stat(location); });
  }
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override {
    return plan_->run<base::Result<std::vector<io::FileStatus>>>("list", [&] { return inner_->list(prefix); });
  }
  base::Status remove(const std::string& location) override {
    return plan_->run<base::Status>("remove", [&] { return inner_->remove(location); });
  }

 private:
  std::shared_ptr<io::FileIO> inner_;
  std::shared_ptr<FaultPlan> plan_;
};

}  // namespace frazil::conformance
