#include "iceberg/catalogs/rest_answer.h"

#include <gtest/gtest.h>

namespace frazil::iceberg {
namespace {

using base::Code;

net::HttpResponse answer(int status, std::string body = "", net::HttpHeaders headers = {}) {
  net::HttpResponse response;
  response.status = status;
  response.headers = std::move(headers);
  response.body = std::move(body);
  return response;
}

std::string words(const std::string& type, const std::string& message) {
  return R"({"error":{"message":")" + message + R"(","type":")" + type + R"(","code":1,"stack":["java.lang.Secret"]}})";
}

struct Verdict {
  int status;
  std::string body;
  Code read, create, change, commit;
};

const std::string kJson = words("SomeException", "some words");
const std::string kHtml = "<html>Bad Gateway</html>";

TEST(RestAnswer, SaysOfEachRefusalWhatTheCallerCanDo) {
  const Code invalid = Code::kInvalid, unknown = Code::kUnknownOutcome, later = Code::kUnavailable, absent = Code::kNotFound,
             no = Code::kUnsupported;
  const Verdict verdicts[] = {
      {400, kJson, invalid, invalid, invalid, invalid},
      {400, words("BadRequestException", "Cannot add snapshot with sequence number 3 older than last sequence number 3"), invalid,
       invalid, invalid, Code::kConflict},
      {400, words("BadRequestException", "sequence number 1 must be > than last sequence number 1"), invalid, invalid, invalid,
       Code::kConflict},
      {400, words("ValidationException", "stale first-row-id 7"), invalid, invalid, invalid, Code::kConflict},
      {401, kJson, invalid, invalid, invalid, invalid},
      {403, kHtml, invalid, invalid, invalid, invalid},
      {404, kJson, absent, absent, absent, absent},
      {404, "", absent, absent, absent, absent},
      {404, kHtml, later, unknown, unknown, unknown},
      {405, "", no, no, no, no},
      {406, kJson, no, no, no, no},
      {408, "", later, unknown, unknown, unknown},
      {409, kJson, invalid, Code::kExists, invalid, Code::kConflict},
      {409, kHtml, invalid, Code::kExists, invalid, Code::kConflict},
      {413, kHtml, invalid, invalid, invalid, invalid},
      {419, kJson, invalid, invalid, invalid, invalid},
      {422, kJson, invalid, invalid, invalid, invalid},
      {429, kJson, later, unknown, unknown, unknown},
      {302, "", invalid, invalid, invalid, invalid},
      {500, kJson, later, unknown, unknown, unknown},
      {500, words("CommitStateUnknownException", "sequence number"), later, unknown, unknown, unknown},
      {501, kJson, no, no, no, no},
      {502, kHtml, later, unknown, unknown, unknown},
      {503, "", later, unknown, unknown, unknown},
      {504, kHtml, later, unknown, unknown, unknown},
      {599, "", later, unknown, unknown, unknown},
  };
  for (const Verdict& verdict : verdicts) {
    const auto response = answer(verdict.status, verdict.body);
    EXPECT_EQ(refusal(RestCall::kRead, response).code(), verdict.read) << verdict.status << verdict.body;
    EXPECT_EQ(refusal(RestCall::kCreate, response).code(), verdict.create) << verdict.status << verdict.body;
    EXPECT_EQ(refusal(RestCall::kChange, response).code(), verdict.change) << verdict.status << verdict.body;
    EXPECT_EQ(refusal(RestCall::kCommit, response).code(), verdict.commit) << verdict.status << verdict.body;
  }
}

TEST(RestAnswer, SaysOfALostAnswerWhetherTheServerMayHaveActed) {
  const base::Error lost(Code::kUnknownOutcome, "reset"), never_sent(Code::kUnavailable, "no connection"), huge(Code::kExhausted, "huge");
  for (const RestCall call : {RestCall::kCreate, RestCall::kChange, RestCall::kCommit}) {
    EXPECT_EQ(no_answer(call, lost).code(), Code::kUnknownOutcome);
    EXPECT_EQ(no_answer(call, never_sent).code(), Code::kUnavailable);
    EXPECT_EQ(no_answer(call, huge).code(), Code::kUnknownOutcome);
    EXPECT_EQ(unreadable(call, "cut").code(), Code::kUnknownOutcome);
  }
  EXPECT_EQ(no_answer(RestCall::kRead, lost).code(), Code::kUnavailable);
  EXPECT_EQ(no_answer(RestCall::kRead, huge).code(), Code::kExhausted);
  EXPECT_EQ(unreadable(RestCall::kRead, "cut").code(), Code::kUnavailable);
}

TEST(RestAnswer, RepeatsTheServersWordsWithoutItsStack) {
  const std::string text = refusal(RestCall::kCommit, answer(409, words("CommitFailedException", "expected 1 found 2"))).message();
  EXPECT_EQ(text, "the catalog answers 409: CommitFailedException: expected 1 found 2");
  EXPECT_EQ(refusal(RestCall::kRead, answer(502, kHtml)).message(), "the catalog answers 502: Bad Gateway");
  EXPECT_EQ(refusal(RestCall::kRead, answer(503)).message(), "the catalog answers 503");
  EXPECT_EQ(refusal(RestCall::kRead, answer(400, "<html>\n<h1>Ambiguous</h1><p>URI \xff path<")).message(),
            "the catalog answers 400: Ambiguous URI \xEF\xBF\xBD path");
  const std::string longer = refusal(RestCall::kRead, answer(400, words("E", std::string(5000, 'x')))).message();
  EXPECT_LT(longer.size(), 600U);
  EXPECT_EQ(refusal(RestCall::kRead, answer(401, R"({"error":"invalid_client"})")).message(), "the catalog answers 401: invalid_client");
}

TEST(RestAnswer, HidesWhatAPageRepeatsOfTheRequest) {
  const std::string token = "eyJhbGciOi.canary/token+1";
  for (const std::string& body :
       {"<html><h1>Denied</h1><pre>GET /v1\nAuthorization: Bearer " + token + "\n</pre></html>", "<p>Bearer <b>" + token + "</b>",
        "<p>token=" + std::string("eyJhbGciOi.canary%2ftoken%2B1") + "</p>", words("Forbidden", "no " + token),
        words(token, std::string(470, 'x') + token), std::string(150, 'x') + token, R"({"error":")" + token + "\"}"}) {
    for (const int status : {403, 502}) {
      const std::string text = refusal(RestCall::kCommit, answer(status, body), {"", token}).message();
      EXPECT_EQ(text.find("canary"), std::string::npos) << text;
      EXPECT_EQ(text.find("eyJ"), std::string::npos) << text;
      EXPECT_NE(text.find("***"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(refusal(RestCall::kRead, answer(502, "<p>Authorization: Bearer another")).message(),
            "the catalog answers 502: Authorization: Bearer ***");
}

TEST(RestAnswer, ReadsHowLongToWait) {
  const auto with = [](const std::string& value) { return retry_after_ms(answer(503, "", {{"retry-after", value}})); };
  EXPECT_EQ(with("2"), 2'000);
  EXPECT_EQ(with("0"), 0);
  EXPECT_EQ(with("100000"), 300'000);
  EXPECT_EQ(with("9223372036854775807"), 300'000);
  EXPECT_EQ(with("-5"), 0);
  EXPECT_EQ(with("Mon, 30 Nov 2026 05:00:31 GMT"), 0);
  EXPECT_EQ(retry_after_ms(answer(503)), 0);
}

constexpr char kMetadata[] = R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
  "last-sequence-number":1,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,
  "schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":true}]}],
  "default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,
  "default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"current-snapshot-id":9007199254740993,
  "refs":{"main":{"snapshot-id":9007199254740993,"type":"branch"}},
  "snapshots":[{"snapshot-id":9007199254740993,"sequence-number":1,"timestamp-ms":1700000000000,"manifest-list":"s3://b/t/m.avro",
    "summary":{"operation":"append"},"schema-id":0}]})";

TEST(RestAnswer, ReadsATableWithWhatCameAlong) {
  const auto table = table_of(std::string(R"({"metadata-location":"s3://b/t/metadata/1.json","metadata":)") + kMetadata +
                              R"(,"config":{"s3.region":"x","number":7},"storage-credentials":[{"prefix":"s3://b/t","config":{"s3.access-key-id":"k"}}]})");
  ASSERT_TRUE(table.ok()) << table.error().message();
  EXPECT_EQ(table->table.metadata_location, "s3://b/t/metadata/1.json");
  EXPECT_EQ(table->table.metadata.current_snapshot_id, 9007199254740993);
  EXPECT_EQ(table->config, (Properties{{"s3.region", "x"}}));
  ASSERT_EQ(table->credentials.size(), 1U);
  EXPECT_EQ(table->credentials[0].first, "s3://b/t");
  EXPECT_EQ(table->credentials[0].second.at("s3.access-key-id"), "k");
}

TEST(RestAnswer, TakesNothingElseForATable) {
  EXPECT_EQ(table_of(kHtml).error().code(), Code::kInvalid);
  EXPECT_EQ(table_of("").error().code(), Code::kInvalid);
  EXPECT_EQ(table_of("[]").error().code(), Code::kInvalid);
  EXPECT_EQ(table_of(std::string(R"({"metadata":)") + kMetadata).error().code(), Code::kInvalid);  // cut
  EXPECT_EQ(table_of("{}").error().code(), Code::kCorrupt);
  EXPECT_EQ(table_of(R"({"metadata":{"format-version":2}})").error().code(), Code::kCorrupt);
}

TEST(RestAnswer, ReadsPagesOfLists) {
  const auto namespaces = namespaces_of(R"({"namespaces":[["a"],["a","b"]],"next-page-token":"t"})");
  ASSERT_TRUE(namespaces.ok());
  EXPECT_EQ(namespaces->entries, (std::vector<Namespace>{{"a"}, {"a", "b"}}));
  EXPECT_EQ(namespaces->next_token, "t");
  const auto tables = tables_of(R"({"identifiers":[{"namespace":["a"],"name":"t"}],"next-page-token":null})");
  ASSERT_TRUE(tables.ok());
  EXPECT_EQ(tables->entries, (std::vector<TableId>{{{"a"}, "t"}}));
  EXPECT_EQ(tables->next_token, "");
  EXPECT_FALSE(tables_of(R"({"identifiers":[{"name":"t"}]})").ok());
  EXPECT_FALSE(namespaces_of(R"({"namespaces":[[1]]})").ok());
}

TEST(RestAnswer, NoticesATableThatLacksWhatWasCommitted) {
  const auto table = table_of(std::string(R"({"metadata":)") + kMetadata + "}");
  ASSERT_TRUE(table.ok());
  const auto commit = [](int64_t snapshot_id, int64_t main) {
    SetSnapshotRef ref{"main", {}};
    ref.ref.snapshot_id = main;
    AddSnapshot add;
    add.snapshot.snapshot_id = snapshot_id;
    return TableCommit{.requirements = {}, .updates = {add, ref}};
  };
  EXPECT_TRUE(holds(table->table.metadata, commit(9007199254740993, 9007199254740993)));
  EXPECT_FALSE(holds(table->table.metadata, commit(9007199254740992, 9007199254740993)));
  EXPECT_FALSE(holds(table->table.metadata, commit(9007199254740993, 9007199254740992)));
  TableCommit moved = commit(9007199254740993, 1);
  moved.updates.push_back(RemoveSnapshotRef{"main"});
  EXPECT_TRUE(holds(table->table.metadata, moved));
}

}  // namespace
}  // namespace frazil::iceberg
