#include "sinks/iceberg/row_routes.h"

#include <gtest/gtest.h>

namespace frazil::sinks {
namespace {

using columnar::Type;
using columnar::TypeId;
using Rows = std::vector<int32_t>;

std::shared_ptr<const columnar::Schema> schema() {
  columnar::Schema s;
  s.fields = {{1, "kind", false, Type::primitive(TypeId::kString), ""},
              {2, "n", false, Type::primitive(TypeId::kLong), ""},
              {3, "ok", false, Type::primitive(TypeId::kBoolean), ""},
              {4, "at", false, Type::structure({{5, "country", false, Type::primitive(TypeId::kString), ""}}), ""},
              {6, "id", false, Type::primitive(TypeId::kUuid), ""},
              {7, "share", false, Type::primitive(TypeId::kDouble), ""}};
  return std::make_shared<const columnar::Schema>(s);
}

void append(columnar::Batch& batch, const char* kind, int64_t n, const char* country) {
  kind == nullptr ? batch.columns[0].append_null() : batch.columns[0].append_bytes(kind);
  batch.columns[1].append_long(n);
  batch.columns[2].append_boolean(n % 2 == 0);
  batch.columns[3].child(0).append_bytes(country);
  batch.columns[3].append_struct_end();
  batch.columns[4].append_bytes(std::string("\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40", 15) + static_cast<char>(n));
  batch.columns[5].append_double(0.5);
}

columnar::Batch orders() {
  columnar::Batch batch(schema());
  append(batch, "order", 1, "de");
  append(batch, "refund", -2, "at");
  append(batch, nullptr, 3, "de");
  append(batch, "order", 4, "ch");
  return batch;
}

std::unique_ptr<RowRoutes> routes(const std::vector<RouteCondition>& conditions, const RowRoutes::Policy& policy = {}) {
  auto made = RowRoutes::make(conditions, *schema(), policy);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return std::move(made).value();
}

Rows rows_for(const RouteCondition& when) {
  const auto asked = routes({when});
  asked->look(orders(), 0);
  return asked->rows_of(0);
}

TEST(RowRoutes, ReadsTextsOfEveryTypeThatHasOne) {
  EXPECT_EQ(rows_for({"", "kind", {"order", "x"}, ""}), (Rows{0, 3}));
  EXPECT_EQ(rows_for({"", "n", {"-2", "4"}, ""}), (Rows{1, 3}));
  EXPECT_EQ(rows_for({"", "ok", {"true"}, ""}), (Rows{1, 3}));
  EXPECT_EQ(rows_for({"", "at.country", {"de"}, ""}), (Rows{0, 2}));
  EXPECT_EQ(rows_for({"", "id", {"123e4567-e89b-12d3-a456-426614174003"}, ""}), (Rows{2}));
}

TEST(RowRoutes, APatternMatchesTheWholeText) {
  EXPECT_EQ(rows_for({"", "at.country", {}, "d.|c"}), (Rows{0, 2}));
  EXPECT_EQ(rows_for({"", "kind", {}, "ref.*"}), (Rows{1}));
}

TEST(RowRoutes, ARowGoesToTheFirstThatTakesItOrToAll) {
  const std::vector<RouteCondition> conditions{{"", "kind", {"order"}, ""}, {"", "at.country", {"de"}, ""}, {}};
  const auto first = routes(conditions);
  EXPECT_TRUE(first->look(orders(), 0).empty());
  EXPECT_EQ(first->rows_of(0), (Rows{0, 3}));
  EXPECT_EQ(first->rows_of(1), (Rows{2}));
  EXPECT_EQ(first->rows_of(2), (Rows{1}));
  const auto all = routes(conditions, {true, {}});
  all->look(orders(), 0);
  EXPECT_EQ(all->rows_of(0), (Rows{0, 3}));
  EXPECT_EQ(all->rows_of(1), (Rows{0, 2}));
  EXPECT_EQ(all->rows_of(2), (Rows{0, 1, 2, 3}));
}

TEST(RowRoutes, NamesRowsThatNoTableTakesByTheirPlaceInTheBatch) {
  const auto asked = routes({{"", "kind", {"order"}, ""}}, {false, engine::UnwantedRow::Fate::kSkip});
  columnar::Batch batch = orders();
  auto unwanted = asked->look(batch, 0);
  ASSERT_EQ(unwanted.size(), 2U);
  EXPECT_EQ(unwanted[0].row, 1);
  EXPECT_EQ(unwanted[1].row, 2);
  EXPECT_EQ(unwanted[0].fate, engine::UnwantedRow::Fate::kSkip);
  EXPECT_EQ(unwanted[0].code, "NO_TABLE");
  EXPECT_EQ(unwanted[0].field, "kind");
  append(batch, "order", 5, "de");
  append(batch, "gift", 6, "de");
  unwanted = asked->look(batch, 4);
  ASSERT_EQ(unwanted.size(), 1U);
  EXPECT_EQ(unwanted[0].row, 5);
  asked->leave_out(3, 4);
  EXPECT_EQ(asked->rows_of(0), (Rows{0, 4}));
  asked->clear();
  asked->look(orders(), 0);
  EXPECT_EQ(asked->rows_of(0), (Rows{0, 3}));
}

TEST(RowRoutes, LongTextsMatchAndEqualAsShortOnesDo) {
  const std::string longest(100'000, 'a');
  columnar::Batch batch(schema());
  append(batch, longest.c_str(), 1, "de");
  append(batch, "aaa", 2, "de");
  const auto asked = routes({{"", "kind", {}, "a*"}, {"", "kind", {longest}, ""}});
  EXPECT_TRUE(asked->look(batch, 0).empty());
  EXPECT_EQ(asked->rows_of(0), (Rows{0, 1}));
  EXPECT_TRUE(asked->rows_of(1).empty());
}

TEST(RowRoutes, ManyDistinctTextsAreForgottenNotConfused) {
  columnar::Batch batch(schema());
  for (int i = 0; i < 10'000; ++i) append(batch, std::to_string(i).c_str(), i, "de");
  const auto asked = routes({{"", "kind", {}, "[0-9]*7"}});
  EXPECT_EQ(asked->look(batch, 0).size(), 9000U);
  EXPECT_EQ(asked->rows_of(0).size(), 1000U);
}

TEST(RowRoutes, OneValueMayBeWrittenInSeveralWays) {
  EXPECT_EQ(rows_for({"", "ok", {"True"}, ""}), (Rows{1, 3}));
  EXPECT_EQ(rows_for({"", "ok", {"FALSE"}, ""}), (Rows{0, 2}));
  EXPECT_EQ(rows_for({"", "n", {"+4"}, ""}), (Rows{3}));
  EXPECT_EQ(rows_for({"", "id", {"123E4567-E89B-12D3-A456-426614174003"}, ""}), (Rows{2}));
  EXPECT_EQ(rows_for({"", "kind", {"Order"}, ""}), (Rows{}));  // text is compared as it is
}

TEST(RowRoutes, RefusesValuesThatNoRowCanHave) {
  const auto refusal = [](const std::string& field, const std::string& value) {
    const base::Status checked = check_condition({"", field, {value}, ""}, *schema());
    EXPECT_FALSE(checked.ok()) << field << " " << value;
    EXPECT_FALSE(RowRoutes::make({{"", field, {value}, ""}}, *schema(), {}).ok());
    return checked.ok() ? "" : checked.error().message();
  };
  EXPECT_EQ(refusal("ok", "yes"), "no boolean equals \"yes\": write true or false");
  for (const char* value : {"", "07", "7.0", "7e0", "++7", "+-7", " 7", "seven", "0x7", "9223372036854775808"}) {
    EXPECT_NE(refusal("n", value).find("write a whole number of its range in decimal"), std::string::npos) << value;
  }
  for (const char* value : {"", "123e4567e89b12d3a456426614174003", "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-426614174003}"}) {
    EXPECT_NE(refusal("id", value).find("no uuid equals"), std::string::npos) << value;
  }
  columnar::Schema small;
  small.fields = {{1, "n", false, Type::primitive(TypeId::kInt), ""}};
  EXPECT_TRUE(check_condition({"", "n", {"2147483647", "-2147483648"}, ""}, small).ok());
  EXPECT_NE(check_condition({"", "n", {"2147483648"}, ""}, small).error().message().find("-2147483648 to 2147483647"), std::string::npos);
}

TEST(RowRoutes, RefusesColumnsThatHaveNoTextAndPatternsThatAreNone) {
  EXPECT_NE(check_condition({"", "share", {"0.5"}, ""}, *schema()).error().message().find("double"), std::string::npos);
  EXPECT_NE(check_condition({"", "nothing", {"1"}, ""}, *schema()).error().message().find("no column"), std::string::npos);
  EXPECT_NE(check_condition({"", "kind", {}, "("}, *schema()).error().message().find("regular expression"), std::string::npos);
  EXPECT_TRUE(check_condition({"", "at.country", {}, "d."}, *schema()).ok());
}

}  // namespace
}  // namespace frazil::sinks
