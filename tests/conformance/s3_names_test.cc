// Keys of every kind, on a store in memory and on the served one. What a server itself gets wrong is named here, so that a change is noticed.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/s3/s3_file_io.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/s3_server.h"
#include "tests/conformance/scripted_s3.h"

namespace frazil::conformance {
namespace {

using io::FileIO;

std::vector<std::string> nasty_names() {
  std::vector<std::string> names{"two//slashes",      "three///slashes", "dots..",        "dot.",           "...",
                                 " leading",          "trailing ",       "a  b",          "%41",            "%2F",
                                 "%",                 "%%",              "100%25",        "a+b",            "a b+c%20d",
                                 "\xC3\xA4\xC3\xB6",  "a\xCC\x88",       "\xE4\xB8\xAD",  "\xF0\x9F\xA7\x8A", "new\nline",
                                 "tab\there",         "=",               "year=2026/x=%3D", "a:b@c",         "~tilde",
                                 "(paren)[brack]{b}", "<xml>&amp;",      "quote\"'`",     "back\\slash",    "?query=1&b#frag",
                                 "*",                 "|",               "^",             "$HOME",          ";,!"};
  for (char c = ' '; c <= '~'; ++c) {
    if (c != '/' && c != '.') names.push_back(std::string("x") + c + "y");
  }
  return names;
}

struct NamedStore {
  std::string name;
  bool is_served = false;
  bool takes_line_breaks = true;
  // What the server itself makes of a name.
  std::string (*kept_as)(const std::string& name) = [](const std::string& name) { return name; };
};
void PrintTo(const NamedStore& store, std::ostream* out) { *out << store.name; }

class S3Names : public testing::TestWithParam<NamedStore> {
 protected:
  void SetUp() override {
    if (GetParam().is_served) {
      const S3Server server = *S3Server::of_environment();
      io_ = *io::make_file_io("s3", server.properties(), server.options());
      root_ = "s3://" + server.bucket + "/" + base::random_uuid();
    } else {
      io_ = *io::make_s3_file_io({.endpoint = "https://store.example", .path_style = true}, std::make_shared<ScriptedS3>(),
                                 std::make_shared<ScriptedCredentials>());
      root_ = "s3://lake/w";
    }
  }
  std::shared_ptr<FileIO> io_;
  std::string root_;
};

TEST_P(S3Names, AreKeptByteForByte) {
  std::set<std::string> expected, found;
  for (const std::string& name : nasty_names()) {
    if (!GetParam().takes_line_breaks && name.find('\n') != name.npos) continue;
    const std::string location = root_ + "/n/" + name;
    ASSERT_TRUE(is_ok(write_file(*io_, location, name))) << name;
    EXPECT_EQ(*io_->read(location), name);
    EXPECT_EQ(io_->stat(location)->bytes, static_cast<int64_t>(name.size()));
    expected.insert(root_ + "/n/" + GetParam().kept_as(name));
  }
  const auto listed = io_->list(root_ + "/n/");
  ASSERT_TRUE(is_ok(listed));
  for (const io::FileStatus& file : *listed) found.insert(file.location);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(is_ok(io_->remove_all({found.begin(), found.end()})));
  EXPECT_TRUE(io_->list(root_ + "/n/")->empty());
}

// Where names are paths of a file system: a backslash is a slash, and several slashes are one.
std::string kept_in_folders(const std::string& name) {
  std::string kept;
  for (const char c : name) {
    const char slash = c == '\\' ? '/' : c;
    if (slash != '/' || !kept.ends_with('/')) kept += slash;
  }
  return kept;
}

std::vector<NamedStore> stores() {
  std::vector<NamedStore> stores{{"Scripted"}};
  if (const auto server = S3Server::of_environment()) {
    NamedStore served{"Served", true, server->takes_line_breaks()};
    if (!server->keeps_slashes()) served.kept_as = kept_in_folders;
    stores.push_back(served);
  }
  return stores;
}
INSTANTIATE_TEST_SUITE_P(Stores, S3Names, testing::ValuesIn(stores()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace frazil::conformance
