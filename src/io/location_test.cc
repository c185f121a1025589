#include "io/location.h"

#include <gtest/gtest.h>

namespace frazil::io {
namespace {

using base::Code;

TEST(Location, TakesEveryFormOfALocalPath) {
  for (const char* form : {"/a/b", "file:/a/b", "file:///a/b", "file://localhost/a/b", "FILE:///a/b"}) {
    const auto path = local_path(form);
    ASSERT_TRUE(path.ok()) << form;
    EXPECT_EQ(*path, "/a/b") << form;
  }
}

TEST(Location, DecodesNothing) {
  EXPECT_EQ(*local_path("file:///a b%20c?d#e"), "/a b%20c?d#e");
  EXPECT_EQ(canonical_location("/a b%20c?d#e"), "file:///a b%20c?d#e");
}

TEST(Location, RefusesWhatIsNotLocal) {
  EXPECT_EQ(local_path("a/b").error().code(), Code::kInvalid);
  EXPECT_EQ(local_path("").error().code(), Code::kInvalid);
  EXPECT_EQ(local_path("file:a").error().code(), Code::kInvalid);
  EXPECT_EQ(local_path("file://").error().code(), Code::kInvalid);
  EXPECT_EQ(local_path("file://server/a").error().code(), Code::kInvalid);
  EXPECT_EQ(local_path(std::string_view("/a\0b", 4)).error().code(), Code::kInvalid);
  EXPECT_EQ(local_path("s3://bucket/a").error().code(), Code::kUnsupported);
}

TEST(Location, NamesTheScheme) {
  EXPECT_EQ(scheme_of("s3://bucket/a"), "s3");
  EXPECT_EQ(scheme_of("S3A://bucket/a"), "s3a");
  EXPECT_EQ(scheme_of("/a:b"), "");
  EXPECT_EQ(scheme_of("1:b"), "");
  EXPECT_EQ(scheme_of(":b"), "");
}

TEST(Location, WritesOneForm) {
  EXPECT_EQ(canonical_location("file:/a/b/"), "file:///a/b");
  EXPECT_EQ(canonical_location("//a"), "file:///a");
  EXPECT_EQ(canonical_location("/"), "file:///");
  EXPECT_EQ(canonical_location("memory://w/"), "memory://w");
  EXPECT_EQ(canonical_location("s3://bucket/a//"), "s3://bucket/a");
  EXPECT_EQ(canonical_location("relative/"), "relative");
}

TEST(Location, SeesDotParts) {
  EXPECT_TRUE(has_dot_parts("/a/../b"));
  EXPECT_TRUE(has_dot_parts("/a/.."));
  EXPECT_TRUE(has_dot_parts("./a"));
  EXPECT_FALSE(has_dot_parts("/a/..b/c../.d"));
}

}  // namespace
}  // namespace frazil::io
