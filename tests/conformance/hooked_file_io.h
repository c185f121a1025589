// A FileIO that calls a test back once, just before the next close() of a file: the moment between what a writer has
// read and what it publishes, where a rival has to act for a race to be lost without luck.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_io.h"

namespace frazil::conformance {

class HookedFileIO : public io::FileIO {
 public:
  explicit HookedFileIO(std::shared_ptr<io::FileIO> inner) : inner_(std::move(inner)) {}
  void before_next_close(std::function<void()> hook) { *hook_ = std::move(hook); }

  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(std::unique_ptr<io::OutputFile> file, inner_->create(location));
    return std::unique_ptr<io::OutputFile>(std::make_unique<File>(std::move(file), hook_));
  }
  base::Result<std::string> read(const std::string& location) override { return inner_->read(location); }
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    return inner_->read_range(location, offset, length);
  }
  base::Result<io::FileStatus> stat(const std::string& location) override { return inner_->stat(location); }
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override { return inner_->list(prefix); }
  base::Status remove(const std::string& location) override { return inner_->remove(location); }

 private:
  using Hook = std::shared_ptr<std::function<void()>>;

  class File : public io::OutputFile {
   public:
    File(std::unique_ptr<io::OutputFile> inner, Hook hook) : inner_(std::move(inner)), hook_(std::move(hook)) {}
    base::Status write(std::string_view bytes) override { return inner_->write(bytes); }
    int64_t size() const override { return inner_->size(); }
    base::Status close() override {
      if (const auto hook = std::exchange(*hook_, nullptr)) hook();
      return inner_->close();
    }
    void abort() override { inner_->abort(); }

   private:
    std::unique_ptr<io::OutputFile> inner_;
    Hook hook_;
  };

  std::shared_ptr<io::FileIO> inner_;
  Hook hook_ = std::make_shared<std::function<void()>>();
};

}  // namespace frazil::conformance
