// The REST catalog against a scripted server: what leaves, how often, and what each answer is taken for. Real servers are in
// tests/conformance and tests/end_to_end.
#include "iceberg/catalogs/rest_catalog.h"

#include <gtest/gtest.h>

#include <deque>

#include "iceberg/json_view.h"
#include "iceberg/new_table.h"
#include "iceberg/table_metadata_json.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;

const TableId kOrders{{"db"}, "orders"};

// Answers in order; what was asked stays.
class ScriptedServer : public net::HttpClient {
 public:
  struct Asked {
    std::string method, url, body;
    net::HttpHeaders headers;
    std::string header(const std::string& name) const {
      for (const auto& [key, value] : headers) {
        if (key == name) return value;
      }
      return "";
    }
  };

  void answer(int status, std::string body, net::HttpHeaders headers = {}) {
    net::HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    response.headers = std::move(headers);
    script_.emplace_back(std::move(response));
  }
  void fail(Code code) { script_.emplace_back(Error(code, "on the way")); }
  // The same answer to everything from here on.
  void answer_always(int status, std::string body) {
    answer(status, std::move(body));
    repeats_last_ = true;
  }

  Result<net::HttpResponse> send(const net::HttpRequest& request) override {
    asked.push_back({request.method, request.url, std::string(request.body), request.headers});
    if (script_.empty()) return Error(Code::kBug, "nothing scripted for " + request.method + " " + request.url);
    auto next = script_.front();
    if (script_.size() > 1 || !repeats_last_) script_.pop_front();
    return next;
  }

  std::vector<Asked> asked;

 private:
  std::deque<Result<net::HttpResponse>> script_;
  bool repeats_last_ = false;
};

class RecordedFiles : public io::SchemeFileIO {
 public:
  struct Prefix {
    io::StoreProperties properties;
    io::RenewProperties renew;
  };

  base::Status set_prefix(const std::string& prefix, const io::StoreProperties& properties, io::RenewProperties renew) override {
    prefixes[prefix] = {properties, std::move(renew)};
    ++set;
    return {};
  }
  Result<std::unique_ptr<io::OutputFile>> create(const std::string&) override { return base::unsupported("none"); }
  Result<std::string> read(const std::string&) override { return base::unsupported("none"); }
  Result<std::string> read_range(const std::string& location, int64_t, int64_t) override {
    last_read = location;
    return answer_to_reads;
  }
  Result<io::FileStatus> stat(const std::string&) override { return base::unsupported("none"); }
  Result<std::vector<io::FileStatus>> list(const std::string&) override { return base::unsupported("none"); }
  base::Status remove(const std::string&) override { return {}; }

  std::map<std::string, Prefix> prefixes;
  int set = 0;
  base::Error answer_to_reads = base::unsupported("none");
  std::string last_read;
};

TableMetadata sample_metadata() {
  CreateTable create;
  create.schema.fields = {{.id = 1, .name = "id", .required = true, .type = columnar::Type::primitive(columnar::TypeId::kLong)}};
  auto metadata = new_table_metadata(create, "s3://lake/db/orders", 1'700'000'000'000);
  EXPECT_TRUE(metadata.ok());
  metadata->table_uuid = "9c12d441-03fe-4693-9a96-a0705ddf69c1";
  return *metadata;
}

std::string table_body(const TableMetadata& metadata, const std::string& rest = "") {
  return R"({"metadata-location":"s3://lake/db/orders/metadata/1.metadata.json","metadata":)" + *table_metadata_to_json(metadata) + rest + "}";
}

std::string error_body(const std::string& type) { return R"({"error":{"message":"words","type":")" + type + R"(","code":1}})"; }

TableCommit some_commit() { return {.requirements = {}, .updates = {SetProperties{{{"k", "v"}}}}}; }

class RestCatalogScript : public testing::Test {
 protected:
  RestCatalogScript() {
    config_.uri = "https://catalog.example";
    config_.token = "fixed-token";
    config_.read_retry_ms = 1;
  }
  Catalog& open(const std::string& answer_to_config = "{}") {
    server_->answer(200, answer_to_config);
    auto catalog = open_rest_catalog(config_, server_, [&](io::SchemeFileIOConfig files) {
      files_config_ = std::move(files);
      return files_;
    });
    EXPECT_TRUE(catalog.ok()) << catalog.error().message();
    catalog_ = std::move(catalog).value();
    server_->asked.clear();
    return *catalog_;
  }

  RestCatalogConfig config_;
  std::shared_ptr<ScriptedServer> server_ = std::make_shared<ScriptedServer>();
  std::shared_ptr<RecordedFiles> files_ = std::make_shared<RecordedFiles>();
  io::SchemeFileIOConfig files_config_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(RestCatalogScript, GreetsWithItsWarehouseAndWhoItIs) {
  config_.warehouse = "s3://lake/w h";
  config_.properties = {{"header.X-Project", "p"}, {"s3.region", "here"}};
  server_->answer(200, R"({"overrides":{"s3.endpoint":"https://s3.example"}})");
  const auto catalog = open_rest_catalog(config_, server_, [&](io::SchemeFileIOConfig files) {
    files_config_ = std::move(files);
    return files_;
  });
  ASSERT_TRUE(catalog.ok());
  ASSERT_EQ(server_->asked.size(), 1U);
  EXPECT_EQ(server_->asked[0].url, "https://catalog.example/v1/config?warehouse=s3%3A%2F%2Flake%2Fw%20h");
  EXPECT_EQ(server_->asked[0].header("Authorization"), "Bearer fixed-token");
  EXPECT_EQ(server_->asked[0].header("X-Project"), "p");
  // The endpoint comes without credentials of its own: nothing of ours goes there.
  EXPECT_EQ(files_config_.properties, (io::StoreProperties{{"s3.region", "here"}}));
  EXPECT_TRUE(files_config_.local_is_restricted);
}

TEST_F(RestCatalogScript, SaysWhyItCannotOpen) {
  const auto opened = [&] { return open_rest_catalog(config_, server_, [&](io::SchemeFileIOConfig) { return files_; }); };
  server_->answer(403, error_body("ForbiddenException"));
  EXPECT_EQ(opened().error().code(), Code::kInvalid);
  server_->answer(200, "<html>hello</html>");
  EXPECT_EQ(opened().error().code(), Code::kUnavailable);
  server_->fail(Code::kUnavailable);
  EXPECT_EQ(opened().error().code(), Code::kUnavailable);
  config_.credential = "a:b";
  EXPECT_EQ(opened().error().code(), Code::kInvalid);
  config_.credential.clear();
  config_.properties = {{"rest.sigv4-enabled", "true"}};
  EXPECT_EQ(opened().error().code(), Code::kInvalid);
  config_.properties = {{"gcp.auth.credentials-path", "/nowhere.json"}};
  EXPECT_NE(opened().error().message().find("exclude each other"), std::string::npos);
  config_.token.clear();
  EXPECT_NE(opened().error().message().find("/nowhere.json"), std::string::npos);
  config_.properties = {{"access-delegation", "remote-signing"}};
  EXPECT_EQ(opened().error().code(), Code::kUnsupported);
}

TEST_F(RestCatalogScript, SendsACommitOnceWhateverComesBack) {
  Catalog& catalog = open();
  struct Case {
    int status;
    std::string body;
    Code code;
  };
  const Case cases[] = {{500, error_body("CommitStateUnknownException"), Code::kUnknownOutcome},
                        {502, "<html>", Code::kUnknownOutcome},
                        {503, "", Code::kUnknownOutcome},
                        {504, "", Code::kUnknownOutcome},
                        {408, "", Code::kUnknownOutcome},
                        {429, "", Code::kUnknownOutcome},
                        {200, "<html>all is well</html>", Code::kUnknownOutcome},
                        {200, "", Code::kUnknownOutcome},
                        {200, R"({"metadata":{}})", Code::kUnknownOutcome},
                        {409, error_body("CommitFailedException"), Code::kConflict},
                        {404, error_body("NoSuchTableException"), Code::kNotFound},
                        {404, "<html>", Code::kUnknownOutcome},
                        {400, error_body("BadRequestException"), Code::kInvalid},
                        {401, error_body("NotAuthorizedException"), Code::kInvalid}};  // a fixed token cannot be renewed
  for (const Case& one : cases) {
    server_->asked.clear();
    server_->answer(one.status, one.body);
    EXPECT_EQ(catalog.commit_table(kOrders, some_commit()).error().code(), one.code) << one.status << one.body;
    EXPECT_EQ(server_->asked.size(), 1U) << one.status << one.body;
  }
  for (const Code code : {Code::kUnknownOutcome, Code::kUnavailable}) {
    server_->asked.clear();
    server_->fail(code);
    EXPECT_EQ(catalog.commit_table(kOrders, some_commit()).error().code(), code);
    EXPECT_EQ(server_->asked.size(), 1U);
  }
}

TEST_F(RestCatalogScript, BelievesNoSuccessWithoutTheSnapshot) {
  Catalog& catalog = open();
  AddSnapshot add;
  add.snapshot.snapshot_id = 42;
  server_->answer(200, table_body(sample_metadata()));
  const auto done = catalog.commit_table(kOrders, {.requirements = {}, .updates = {add}});
  EXPECT_EQ(done.error().code(), Code::kUnknownOutcome);
}

TEST_F(RestCatalogScript, GivesEachCommitAKeyOfItsOwnWhereTheServerKnowsThem) {
  Catalog& catalog = open(R"({"idempotency-key-lifetime":"PT30M"})");
  for (int i = 0; i < 2; ++i) {
    server_->fail(Code::kUnknownOutcome);
    EXPECT_FALSE(catalog.commit_table(kOrders, some_commit()).ok());
  }
  const std::string first = server_->asked[0].header("Idempotency-Key"), second = server_->asked[1].header("Idempotency-Key");
  ASSERT_EQ(first.size(), 36U);
  EXPECT_EQ(first[14], '7');  // UUID version 7
  EXPECT_NE(first, second);
  Catalog& plain = open();
  server_->fail(Code::kUnknownOutcome);
  EXPECT_FALSE(plain.commit_table(kOrders, some_commit()).ok());
  EXPECT_EQ(server_->asked[0].header("Idempotency-Key"), "");
}

TEST_F(RestCatalogScript, RenewsARefusedTokenOnceAndThenBelievesIt) {
  config_.token.clear();
  config_.credential = "me:secret";
  const auto token = [&](const char* text) { server_->answer(200, std::string(R"({"access_token":")") + text + R"(","expires_in":3600})"); };
  token("one");
  Catalog& catalog = open();
  for (const int status : {401, 419}) {
    server_->asked.clear();
    server_->answer(status, error_body("NotAuthorizedException"));
    token(status == 401 ? "two" : "three");
    server_->answer(200, table_body(sample_metadata()));
    EXPECT_TRUE(catalog.commit_table(kOrders, some_commit()).ok());
    ASSERT_EQ(server_->asked.size(), 3U);
    EXPECT_EQ(server_->asked[1].url, "https://catalog.example/v1/oauth/tokens");
    EXPECT_EQ(server_->asked[2].header("Authorization"), status == 401 ? "Bearer two" : "Bearer three");
    EXPECT_EQ(server_->asked[2].body, server_->asked[0].body);
  }
  server_->asked.clear();
  server_->answer(401, error_body("NotAuthorizedException"));
  token("four");
  server_->answer(401, error_body("NotAuthorizedException"));
  EXPECT_EQ(catalog.commit_table(kOrders, some_commit()).error().code(), Code::kInvalid);
  EXPECT_EQ(server_->asked.size(), 3U);
}

TEST_F(RestCatalogScript, ShowsNoTokenThatTheServerRepeats) {
  config_.token = "canary-token/1";
  config_.properties = {{"header.X-Api-Key", "canary-key"}};
  Catalog& catalog = open();
  for (const int status : {401, 403, 502}) {
    server_->answer(status, "<pre>" + config_.token + " x-api-key: canary-key; canary-token%2f1</pre>");
    const Error error = catalog.commit_table(kOrders, some_commit()).error();
    EXPECT_NE(error.message().find("*** x-api-key: ***; ***"), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("canary"), std::string::npos) << error.message();
  }
}

TEST_F(RestCatalogScript, SendsNothingWhileTheServerAsksForAPause) {
  Catalog& catalog = open();
  server_->answer(503, "", {{"retry-after", "60"}});
  EXPECT_EQ(catalog.commit_table(kOrders, some_commit()).error().code(), Code::kUnknownOutcome);
  server_->asked.clear();
  EXPECT_EQ(catalog.commit_table(kOrders, some_commit()).error().code(), Code::kUnavailable);
  EXPECT_EQ(catalog.load_table(kOrders).error().code(), Code::kUnavailable);
  EXPECT_TRUE(server_->asked.empty());
}

TEST_F(RestCatalogScript, ReadsAgainWhatDidNotArrive) {
  config_.read_retry_ms = 60'000;
  Catalog& catalog = open();
  server_->answer(502, "<html>");
  server_->fail(Code::kUnknownOutcome);
  server_->answer(200, "<html>");
  server_->answer(200, table_body(sample_metadata()));
  EXPECT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(server_->asked.size(), 4U);
  server_->answer(404, error_body("NoSuchTableException"));
  EXPECT_EQ(catalog.load_table(kOrders).error().code(), Code::kNotFound);
  EXPECT_EQ(server_->asked.size(), 5U);
}

TEST_F(RestCatalogScript, AsksByTagAndTakesNotModifiedForTheSame) {
  Catalog& catalog = open();
  TableMetadata metadata = sample_metadata();
  server_->answer(200, table_body(metadata), {{"etag", "\"one\""}});
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  server_->answer(304, "");
  const auto same = catalog.load_table(kOrders);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->metadata.table_uuid, metadata.table_uuid);
  EXPECT_EQ(server_->asked[1].header("If-None-Match"), "\"one\"");
  // A commit's answer brings the next tag; a failure makes the old one worthless.
  server_->answer(200, table_body(metadata), {{"etag", "\"two\""}});
  ASSERT_TRUE(catalog.commit_table(kOrders, some_commit()).ok());
  server_->answer(304, "");
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(server_->asked[3].header("If-None-Match"), "\"two\"");
  server_->answer(409, error_body("CommitFailedException"));
  EXPECT_FALSE(catalog.commit_table(kOrders, some_commit()).ok());
  server_->answer(200, table_body(metadata));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(server_->asked[5].header("If-None-Match"), "");
}

TEST_F(RestCatalogScript, HandsVendedCredentialsToTheTablesFolderAlone) {
  Catalog& catalog = open();
  const std::string vended = R"(,"config":{"s3.endpoint":"https://s3.example","client.region":"x"},)"
                             R"("storage-credentials":[{"prefix":"s3","config":{"s3.access-key-id":"wide","s3.secret-access-key":"s"}},)"
                             R"({"prefix":"s3://lake/db/orders/data","config":{"s3.access-key-id":"narrow","s3.secret-access-key":"s"}}])";
  server_->answer(200, table_body(sample_metadata(), vended));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(server_->asked[0].header("X-Iceberg-Access-Delegation"), "vended-credentials");
  ASSERT_EQ(files_->prefixes.size(), 2U);
  EXPECT_EQ(files_->prefixes.at("s3://lake/db/orders").properties.at("s3.access-key-id"), "wide");
  EXPECT_EQ(files_->prefixes.at("s3://lake/db/orders").properties.at("s3.endpoint"), "https://s3.example");
  EXPECT_EQ(files_->prefixes.at("s3://lake/db/orders/data").properties.at("s3.access-key-id"), "narrow");
  // The next loads do not ask for others: the store renews what it has.
  server_->answer(200, table_body(sample_metadata()));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(server_->asked[1].header("X-Iceberg-Access-Delegation"), "");
  EXPECT_EQ(files_->set, 2);
  server_->answer(200, table_body(sample_metadata(), R"(,"config":{"s3.access-key-id":"renewed","s3.secret-access-key":"t"})"));
  const auto renewed = files_->prefixes.at("s3://lake/db/orders").renew();
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(renewed->at("s3.access-key-id"), "renewed");
  EXPECT_EQ(renewed->at("s3.endpoint"), "https://s3.example");
  EXPECT_EQ(server_->asked[2].header("X-Iceberg-Access-Delegation"), "vended-credentials");
}

TEST_F(RestCatalogScript, RenewsByTheCredentialsEndpointWhereThereIsOne) {
  Catalog& catalog = open(R"({"endpoints":["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"]})");
  server_->answer(200, table_body(sample_metadata(), R"(,"config":{"s3.access-key-id":"first","s3.secret-access-key":"s"})"));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  server_->answer(200, R"({"storage-credentials":[{"prefix":"s3://lake","config":{"s3.access-key-id":"second","s3.secret-access-key":"s"}}]})");
  const auto renewed = files_->prefixes.at("s3://lake/db/orders").renew();
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(renewed->at("s3.access-key-id"), "second");
  EXPECT_EQ(server_->asked[1].url, "https://catalog.example/v1/namespaces/db/tables/orders/credentials");
  EXPECT_EQ(catalog.drop_table(kOrders).error().code(), Code::kUnsupported);
}

TEST_F(RestCatalogScript, AsksForCredentialsAgainWhenAnotherTableTookTheName) {
  Catalog& catalog = open();
  server_->answer(200, table_body(sample_metadata()));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  TableMetadata other = sample_metadata();
  other.location = "s3://lake/db/orders-2";
  server_->answer(200, table_body(other));
  server_->answer(200, table_body(other, R"(,"config":{"s3.access-key-id":"other","s3.secret-access-key":"s"})"));
  ASSERT_TRUE(catalog.load_table(kOrders).ok());
  EXPECT_EQ(files_->prefixes.at("s3://lake/db/orders-2").properties.at("s3.access-key-id"), "other");
}

CreateTable sample_create() {
  CreateTable create;
  create.schema.fields = {{.id = 1, .name = "id", .required = true, .type = columnar::Type::primitive(columnar::TypeId::kLong)}};
  return create;
}

TEST_F(RestCatalogScript, CreatesInTwoStepsAndTakesTheServersIds) {
  Catalog& catalog = open();
  TableMetadata laid_out = sample_metadata();
  columnar::Schema numbered = *laid_out.current_schema();
  numbered.fields[0].id = 17;
  laid_out.schemas = {std::make_shared<const columnar::Schema>(numbered)};
  laid_out.last_column_id = 17;
  server_->answer(200, table_body(laid_out));
  server_->answer(200, table_body(laid_out));
  server_->answer(200, table_body(laid_out));
  const auto created = catalog.create_table(kOrders, sample_create());
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_EQ(created->metadata.current_schema()->fields[0].id, 17);
  ASSERT_EQ(server_->asked.size(), 3U);
  EXPECT_NE(server_->asked[0].body.find(R"("stage-create":true)"), std::string::npos);
  EXPECT_NE(server_->asked[1].body.find("assert-create"), std::string::npos);
  EXPECT_NE(server_->asked[1].body.find(R"("id":17)"), std::string::npos);
  EXPECT_EQ(server_->asked[2].method, "GET");
}

TEST_F(RestCatalogScript, MakesNoTableWhoseStoreRefusesUs) {
  config_.asks_store = true;
  Catalog& catalog = open();
  const CreateTable create = sample_create();
  for (const Code code : {Code::kInvalid, Code::kUnavailable}) {
    files_->answer_to_reads = base::Error(code, "the store answered 403 InvalidAccessKeyId");
    server_->asked.clear();
    server_->answer(200, table_body(sample_metadata()));
    const auto refused = catalog.create_table(kOrders, create);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), code);
    EXPECT_NE(refused.error().message().find("InvalidAccessKeyId"), std::string::npos);
    EXPECT_EQ(server_->asked.size(), 1U) << "it was laid out, and not made";
  }
  // What the catalog hands out may be good only once the table is there.
  const std::string vended = R"(,"config":{"s3.access-key-id":"a","s3.secret-access-key":"b","s3.session-token":"c"})";
  for (int i = 0; i < 3; ++i) server_->answer(200, table_body(sample_metadata(), vended));
  EXPECT_TRUE(catalog.create_table(kOrders, create).ok());
  files_->answer_to_reads = base::not_found("no such object");
  for (int i = 0; i < 3; ++i) server_->answer(200, table_body(sample_metadata()));
  EXPECT_TRUE(catalog.create_table(kOrders, create).ok());
  EXPECT_EQ(files_->last_read, "s3://lake/db/orders/metadata/none");
}

TEST_F(RestCatalogScript, TellsByTheUuidWhoseTableIsThere) {
  Catalog& catalog = open();
  const TableMetadata ours = sample_metadata();
  TableMetadata theirs = ours;
  theirs.table_uuid = "00000000-0000-4000-8000-000000000000";
  const auto create = [&](const std::function<void()>& commit, const std::function<void()>& look) {
    server_->answer(200, table_body(ours));
    commit();
    look();
    return catalog.create_table(kOrders, sample_create());
  };
  const auto lost = [&] { server_->fail(Code::kUnknownOutcome); };
  EXPECT_TRUE(create(lost, [&] { server_->answer(200, table_body(ours)); }).ok());
  EXPECT_EQ(create(lost, [&] { server_->answer(200, table_body(theirs)); }).error().code(), Code::kExists);
  EXPECT_EQ(create(lost, [&] { server_->answer(404, error_body("NoSuchTableException")); }).error().code(), Code::kUnknownOutcome);
  EXPECT_EQ(create([&] { server_->answer(409, error_body("CommitFailedException")); }, [] {}).error().code(), Code::kExists);
  // Nothing has happened before the second request.
  server_->fail(Code::kUnknownOutcome);
  EXPECT_EQ(catalog.create_table(kOrders, sample_create()).error().code(), Code::kUnavailable);
}

TEST_F(RestCatalogScript, CreatesInOneStepWhereTheServerCannotStage) {
  Catalog& catalog = open();
  server_->answer(400, error_body("UnsupportedOperationException"));
  server_->answer(200, table_body(sample_metadata()));
  EXPECT_TRUE(catalog.create_table(kOrders, sample_create()).ok());
  ASSERT_EQ(server_->asked.size(), 2U);
  EXPECT_NE(server_->asked[1].body.find(R"("stage-create":false)"), std::string::npos);
}

TEST_F(RestCatalogScript, WalksThroughPages) {
  config_.properties = {{"rest-page-size", "2"}};
  Catalog& catalog = open();
  server_->answer(200, R"({"identifiers":[{"namespace":["db"],"name":"b"},{"namespace":["db"],"name":"c"}],"next-page-token":"n/2"})");
  server_->answer(200, R"({"identifiers":[{"namespace":["db"],"name":"a"}]})");
  const auto tables = catalog.list_tables({"db"});
  ASSERT_TRUE(tables.ok());
  EXPECT_EQ(*tables, (std::vector<TableId>{{{"db"}, "a"}, {{"db"}, "b"}, {{"db"}, "c"}}));
  EXPECT_EQ(server_->asked[0].url, "https://catalog.example/v1/namespaces/db/tables?pageToken=&pageSize=2");
  EXPECT_EQ(server_->asked[1].url, "https://catalog.example/v1/namespaces/db/tables?pageToken=n%2F2&pageSize=2");
  server_->answer_always(200, R"({"identifiers":[],"next-page-token":"same"})");
  EXPECT_EQ(catalog.list_tables({"db"}).error().code(), Code::kCorrupt);
}

TEST_F(RestCatalogScript, CommitsSeveralTablesByOneRequestWhereOffered) {
  Catalog& catalog = open();
  server_->answer(204, "");
  EXPECT_TRUE(catalog.commit_tables({{kOrders, some_commit()}, {{{"db"}, "letters"}, some_commit()}}).ok());
  EXPECT_EQ(server_->asked[0].url, "https://catalog.example/v1/transactions/commit");
  server_->answer(409, error_body("CommitFailedException"));
  EXPECT_EQ(catalog.commit_tables({{kOrders, some_commit()}}).error().code(), Code::kConflict);
  server_->answer(500, "");
  EXPECT_EQ(catalog.commit_tables({{kOrders, some_commit()}}).error().code(), Code::kUnknownOutcome);
  Catalog& without = open(R"({"endpoints":["GET /v1/{prefix}/namespaces"]})");
  EXPECT_EQ(without.commit_tables({{kOrders, some_commit()}}).error().code(), Code::kUnsupported);
  EXPECT_TRUE(server_->asked.empty());
}

TEST_F(RestCatalogScript, LeavesNoWayOutOfItsPaths) {
  Catalog& catalog = open();
  for (const char* name : {".", ".."}) {
    EXPECT_EQ(catalog.load_table({{"db"}, name}).error().code(), Code::kInvalid);
    EXPECT_EQ(catalog.drop_table({{"db"}, name}).error().code(), Code::kInvalid);
    EXPECT_EQ(catalog.commit_table({{"db"}, name}, some_commit()).error().code(), Code::kInvalid);
  }
  EXPECT_EQ(catalog.list_tables({".."}).error().code(), Code::kInvalid);
  EXPECT_TRUE(server_->asked.empty());
}

TEST_F(RestCatalogScript, SignsForAwsWhenAsked) {
  config_.token.clear();
  config_.properties = {{"rest.sigv4-enabled", "true"}, {"rest.signing-region", "eu-west-1"}, {"rest.signing-name", "glue"},
                        {"s3.access-key-id", "AKID"}, {"s3.secret-access-key", "canary"}};
  Catalog& catalog = open();
  server_->answer(404, error_body("NoSuchTableException"));
  EXPECT_FALSE(catalog.load_table(kOrders).ok());
  const std::string proof = server_->asked[0].header("authorization") + server_->asked[0].header("Authorization");
  EXPECT_NE(proof.find("Credential=AKID/"), std::string::npos) << proof;
  EXPECT_NE(proof.find("/eu-west-1/glue/aws4_request"), std::string::npos) << proof;
}

}  // namespace
}  // namespace frazil::iceberg
