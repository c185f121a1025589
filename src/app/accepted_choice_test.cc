#include "app/accepted_choice.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

TEST(AcceptedChoice, ReadsWhatAHaltPrinted) {
  const auto with_choice = parse_accepted_choice("SOURCE_GAP=skip@0123456789ab");
  ASSERT_TRUE(with_choice.ok());
  EXPECT_EQ(with_choice->code, "SOURCE_GAP");
  EXPECT_EQ(with_choice->choice, "skip");
  EXPECT_EQ(with_choice->token, "0123456789ab");
  const auto without = parse_accepted_choice("SOURCE_GAP@0123456789ab");
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->code, "SOURCE_GAP");
  EXPECT_EQ(without->choice, "");
}

TEST(AcceptedChoice, RefusesOtherForms) {
  for (const char* text :
       {"", "SOURCE_GAP", "SOURCE_GAP=skip", "@token", "SOURCE_GAP@", "SOURCE_GAP=@token", "=skip@token"}) {
    EXPECT_FALSE(parse_accepted_choice(text).ok()) << text;
  }
}

TEST(AcceptedChoice, IsPrintedAsItIsRead) {
  const base::Halt halt{"SOURCE_GAP", "records are gone", "orders/0[1,5)", "abc123", {{"skip", "leaves them out"}}};
  const std::string text = describe_halt("orders", halt, "p.yaml");
  const std::string command = "frazil run p.yaml --accept ";
  const size_t at = text.find(command);
  ASSERT_NE(at, std::string::npos) << text;
  const size_t begin = at + command.size();
  const auto accepted = parse_accepted_choice(text.substr(begin, text.find('\n', begin) - begin));
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted->code, halt.code);
  EXPECT_EQ(accepted->choice, "skip");
  EXPECT_EQ(accepted->token, halt.token);
  EXPECT_NE(text.find(halt.range), std::string::npos);
  EXPECT_EQ(text.find("frazil accept"), std::string::npos);
}

TEST(AcceptedChoice, NamesTheSocketOfAProcessThatWaits) {
  const base::Halt halt{"SOURCE_GAP", "records are gone", "orders/0[1,5)", "abc123", {{"skip", "leaves them out"}}};
  const std::string text = describe_halt("orders", halt, "p.yaml", "/run/frazil/a.sock");
  EXPECT_NE(text.find("frazil accept orders SOURCE_GAP=skip@abc123 --socket /run/frazil/a.sock\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace frazil::app
