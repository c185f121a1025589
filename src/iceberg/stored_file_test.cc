#include "iceberg/stored_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "iceberg/manifest.h"
#include "iceberg/metadata_file.h"
#include "io/memory_file_io.h"

namespace frazil::iceberg {
namespace {

base::Code code_of_reading(const std::string& bytes, const std::function<base::Status(io::FileIO&, const std::string&)>& read) {
  const auto io = io::make_memory_file_io();
  EXPECT_TRUE(io::write_file(*io, "memory://x/f", bytes).ok());
  const base::Status status = read(*io, "memory://x/f");
  EXPECT_FALSE(status.ok());
  return status.ok() ? base::Code::kBug : status.error().code();
}

TEST(StoredFile, APageInItsPlaceIsAFailureThatMayPassAndDamageIsNone) {
  const std::vector<std::function<base::Status(io::FileIO&, const std::string&)>> readers = {
      [](io::FileIO& io, const std::string& location) { return read_manifest_list(io, location).status(); },
      [](io::FileIO& io, const std::string& location) { return read_manifest(io, location).status(); },
      [](io::FileIO& io, const std::string& location) { return read_metadata(io, location).status(); }};
  for (const auto& read : readers) {
    for (const char* page : {"<html><body>Sign in</body></html>", "\n  <!DOCTYPE html>", "<?xml version=\"1.0\"?><Error/>"}) {
      EXPECT_EQ(code_of_reading(page, read), base::Code::kUnavailable) << page;
    }
    for (const char* damage : {"", "Obj\x02", "Obj\x01", "garbage", "\x1f\x8b garbage", "{\"format-version\":"}) {
      EXPECT_EQ(code_of_reading(damage, read), base::Code::kCorrupt) << damage;
    }
  }
}

}  // namespace
}  // namespace frazil::iceberg
