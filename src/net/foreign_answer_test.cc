#include "net/foreign_answer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/utf8.h"
#include "net/digest.h"
#include "net/url.h"

namespace frazil::net {
namespace {

TEST(ForeignAnswer, HidesSecretsWhereverBase64PutsThem) {
  const std::string secret = "?>?>~~~{secret}\xff\xfe";
  for (const std::string before : {"", "a", "ab", "abc", "client-1:", "client-12:"}) {
    for (const std::string after : {"", "z", "zz"}) {
      std::string text = base64_url(before + secret + after);
      for (const bool is_url : {true, false}) {
        if (!is_url) {
          std::replace(text.begin(), text.end(), '-', '+');
          std::replace(text.begin(), text.end(), '_', '/');
        }
        for (const std::string& sent : {text, percent_encode(text)}) {
          const std::string shown = without_secrets("sent " + sent, {secret});
          EXPECT_NE(shown.find("***"), std::string::npos) << shown;
          // No more than the neighbours is left.
          EXPECT_LE(shown.size(), std::string("sent ***==").size() + (before.size() + after.size()) * 4 / 3) << shown;
        }
      }
    }
  }
}

TEST(ForeignAnswer, HidesWhatFollowsTheNamesOfSecrets) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Authorization: Bearer abc.def-ghi_j== was seen", "Authorization: Bearer *** was seen"},
      {"authorization: bearer\r\n abc", "authorization: bearer\r\n ***"},
      {"{\"Authorization\":\"Bearer abc\"}", "{\"Authorization\":\"Bearer ***\"}"},
      {"Authorization=Basic%20YTpi%3D&x=1", "Authorization=Basic%20***&x=1"},
      {"x-amz-security-token:IQoJ/b3+=\nhost:h", "x-amz-security-token:***\nhost:h"},
      {"?X-Amz-Security-Token=IQoJ%2Fb3&X-Amz-Signature=abcd&a=b", "?X-Amz-Security-Token=***&X-Amz-Signature=***&a=b"},
      {R"("x-amz-security-token": "IQoJ")", R"("x-amz-security-token": "***")"},
      {"SignedHeaders=host;x-amz-security-token, Signature=ab12", "SignedHeaders=host;x-amz-security-token, Signature=***"},
      {"no Bearer", "no Bearer"},
      {"Basic ", "Basic "},
      {"SignatureDoesNotMatch: look at it", "SignatureDoesNotMatch: look at it"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(without_secrets(text, {}), shown);
}

TEST(ForeignAnswer, LeavesWordsThatAreNoSecrets) {
  EXPECT_EQ(without_secrets("an abc of the lake", {"", "a", "abc"}), "an abc of the lake");
  EXPECT_EQ(without_secrets("an abcd of the lake", {"abcd"}), "an *** of the lake");
  EXPECT_EQ(without_secrets("100% \\ & &amp; %zz %", {"secret"}), "100% \\ & &amp; %zz %");
  EXPECT_EQ(without_secrets("longer-secret", {"longer", "longer-secret"}), "***") << "the longer one first";
  EXPECT_EQ(without_secrets("%25%41bc and %Abc", {"%Abc"}), "*** and ***");
}

TEST(ForeignAnswer, IsCutBetweenCharactersAndNeverInsideASecret) {
  for (size_t at_most = 3; at_most < 40; ++at_most) {
    const std::string shown = tamed("aéé€€😀😀 the-secret-of-somebody and more of it", {"the-secret-of-somebody"}, at_most);
    EXPECT_LE(shown.size(), at_most);
    EXPECT_TRUE(base::is_valid_utf8(shown)) << shown;
    EXPECT_EQ(shown.find("the-s"), std::string::npos);
  }
  EXPECT_EQ(tamed("a\nb\x1b[31m\x7f\xc2\x9b" "c\xff", {}), "a b [31m  c\xEF\xBF\xBD");
  EXPECT_EQ(tamed("short", {}, 5), "short");
}

TEST(ForeignAnswer, ReadsTimes) {
  EXPECT_EQ(parse_utc_ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_utc_ms("2013-05-24T00:00:00Z"), 1'369'353'600'000);
  EXPECT_EQ(parse_utc_ms("2024-02-29T23:59:59.123Z"), 1'709'251'199'000);
  for (const char* text : {"", "now", "2024-13-01T00:00:00Z", "2024-01-01T00:00:00", "2024-01-01"})
    EXPECT_EQ(parse_utc_ms(text), 0) << text;
}

}  // namespace
}  // namespace frazil::net
