// The REST catalog: what each function of Catalog and CatalogAdmin asks the server for, and what it makes of the answer.
//
// Creating a table takes two requests where the server can stage: 1. a staged create, in which the server lays out the table and
// names its uuid; 2. a commit that asserts the creation. So the server decides on the name (some answer a plain create of an existing
// table with 200), and after a lost reply the uuid says whose table is there. Servers that cannot stage get one plain request.
#include "iceberg/catalogs/rest_catalog.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sync.h"
#include "iceberg/catalogs/rest_answer.h"
#include "iceberg/catalogs/rest_requests.h"
#include "iceberg/catalogs/rest_session.h"
#include "iceberg/catalogs/rest_vending.h"
#include "iceberg/catalogs/staged_metadata.h"
#include "iceberg/new_table.h"
#include "net/url.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr char kLoad[] = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}";
constexpr char kCommit[] = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}";
constexpr char kCreate[] = "POST /v1/{prefix}/namespaces/{namespace}/tables";
constexpr char kDrop[] = "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}";
constexpr char kListTables[] = "GET /v1/{prefix}/namespaces/{namespace}/tables";
constexpr char kListNamespaces[] = "GET /v1/{prefix}/namespaces";
constexpr char kCreateNamespace[] = "POST /v1/{prefix}/namespaces";
constexpr char kLoadNamespace[] = "GET /v1/{prefix}/namespaces/{namespace}";
constexpr char kDropNamespace[] = "DELETE /v1/{prefix}/namespaces/{namespace}";
constexpr char kNamespaceProperties[] = "POST /v1/{prefix}/namespaces/{namespace}/properties";
constexpr char kRegister[] = "POST /v1/{prefix}/namespaces/{namespace}/register";
constexpr char kRename[] = "POST /v1/{prefix}/tables/rename";
constexpr char kTransaction[] = "POST /v1/{prefix}/transactions/commit";

constexpr size_t kTablesKept = 64;
constexpr int kPagesAtMost = 10'000;
constexpr int kNamespaceLevelsAtMost = 32;

// A path would lead elsewhere: dots are never encoded, and every server resolves them.
Status check_name(const std::string& name) {
  if (name != "." && name != "..") return {};
  return base::invalid("'" + name + "' cannot be a name in a REST catalog");
}

bool is_refusal(Code code) { return code == Code::kInvalid || code == Code::kUnsupported; }

// Tables as they were last seen, by the ETag that the server gave them. Any thread.
class TableCache {
 public:
  struct Entry {
    std::string etag;
    std::shared_ptr<const LoadedTable> table;
  };

  Entry find(const TableId& id) {
    base::Lock lock(mutex_);
    const auto found = entries_.find(id);
    return found == entries_.end() ? Entry{} : found->second;
  }
  void keep(const TableId& id, const net::HttpResponse& answer, const LoadedTable& table) {
    const std::string* etag = answer.header("etag");
    base::Lock lock(mutex_);
    if (etag == nullptr || entries_.size() >= kTablesKept) entries_.erase(id);
    if (etag == nullptr || entries_.size() >= kTablesKept) return;
    entries_[id] = {*etag, std::make_shared<const LoadedTable>(table)};
  }
  void forget(const TableId& id) {
    base::Lock lock(mutex_);
    entries_.erase(id);
  }

 private:
  base::Mutex mutex_;
  std::map<TableId, Entry> entries_;
};

class RestCatalog : public Catalog, public CatalogAdmin {
 public:
  RestCatalog(std::shared_ptr<const RestSession> session, std::shared_ptr<io::SchemeFileIO> files, bool asks_store)
      : session_(std::move(session)), files_(std::move(files)), vending_(session_, files_), asks_store_(asks_store) {}

  Status create_namespace(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    TRY(settings().require(kCreateNamespace));
    const std::string where = "namespace " + text(ns);
    // Some servers want every level above to exist, others never show one that was not created.
    for (size_t levels = 1; levels < ns.size(); ++levels) {
      const Namespace above(ns.begin(), ns.begin() + static_cast<ptrdiff_t>(levels));
      const Result<Properties> found = namespace_properties(above);
      if (found.ok()) continue;
      if (found.error().code() != Code::kNotFound) return found.status();
      const Status created = post_namespace(above);
      if (!created.ok() && created.error().code() != Code::kExists) return Status(created).in("namespace " + text(above));
    }
    return post_namespace(ns).in(where);
  }

  Result<std::vector<Namespace>> list_namespaces() override {
    base::io_point();
    TRY(settings().require(kListNamespaces));
    std::set<Namespace> found;
    TRY(add_namespaces({}, found));
    return std::vector<Namespace>(found.begin(), found.end());
  }

  Result<std::vector<TableId>> list_tables(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    TRY(settings().require(kListTables));
    TRY_ASSIGN(std::vector<TableId> tables, list(settings().tables(ns), "", tables_of).in("tables of namespace " + text(ns)));
    // Some servers give an empty list for a namespace that does not exist.
    if (tables.empty()) TRY(namespace_properties(ns));
    std::sort(tables.begin(), tables.end());
    return tables;
  }

  Result<LoadedTable> load_table(const TableId& id) override {
    base::io_point();
    return load(id).in("table " + id.text());
  }

  Result<LoadedTable> create_table(const TableId& id, const CreateTable& request) override {
    base::io_point();
    TRY(check_new_table_id(id));
    TRY(check_name(id.name));
    TRY(settings().require(kCreate));
    return create(id, request).in("table " + id.text());
  }

  Result<LoadedTable> commit_table(const TableId& id, const TableCommit& commit) override {
    base::io_point();
    Result<LoadedTable> done = post_commit(id, commit);
    if (!done.ok()) tables_.forget(id);
    return std::move(done).in("commit to table " + id.text());
  }

  Status commit_tables(const std::vector<std::pair<TableId, TableCommit>>& commits) override {
    base::io_point();
    TRY(settings().require(kTransaction));
    RestRequest request = change(RestCall::kCommit, "POST", settings().transactions(), transaction_to_json(commits));
    const Result<net::HttpResponse> answer = connection().send(request);
    std::string names;
    for (const auto& [id, commit] : commits) {
      names += (names.empty() ? "" : ", ") + id.text();
      tables_.forget(id);
    }
    return answer.status().in("commit to tables " + names);
  }

  Status drop_table(const TableId& id) override {
    base::io_point();
    TRY(check_name(id.name));
    TRY(settings().require(kDrop));
    tables_.forget(id);
    vending_.forget(id);
    const auto answer = connection().send(change(RestCall::kChange, "DELETE", settings().table(id) + "?purgeRequested=false"));
    return answer.status().in("drop table " + id.text());
  }

  std::shared_ptr<io::FileIO> file_io() override { return files_; }
  CatalogAdmin* admin() override { return this; }

  Status rename_table(const TableId& from, const TableId& to) override {
    base::io_point();
    TRY(check_new_table_id(to));
    TRY(check_name(to.name));
    TRY(settings().require(kRename));
    tables_.forget(from);
    vending_.forget(from);
    const auto answer = connection().send(change(RestCall::kCreate, "POST", settings().rename(), rename_to_json(from, to)));
    return answer.status().in("rename table " + from.text() + " to " + to.text());
  }

  Result<LoadedTable> register_table(const TableId& id, const std::string& metadata_location) override {
    base::io_point();
    TRY(check_new_table_id(id));
    TRY(check_name(id.name));
    TRY(settings().require(kRegister));
    const std::string where = "register table " + id.text();
    const auto answer = connection().send(change(RestCall::kCreate, "POST", settings().of_namespace(id.ns) + "/register",
                                                 register_to_json(id.name, metadata_location)));
    if (!answer.ok()) return std::move(answer).status().in(where).error();
    return load(id).in(where);
  }

  Status drop_namespace(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    TRY(settings().require(kDropNamespace));
    const auto answer = connection().send(change(RestCall::kChange, "DELETE", settings().of_namespace(ns)));
    return answer.status().in("drop namespace " + text(ns));
  }

  Result<Properties> namespace_properties(const Namespace& ns) override {
    base::io_point();
    TRY(check_namespace(ns));
    TRY(settings().require(kLoadNamespace));
    const auto answer = connection().send({.path = settings().of_namespace(ns)});
    if (!answer.ok()) return answer.status().in("namespace " + text(ns)).error();
    return namespace_properties_of(answer->body).in("namespace " + text(ns));
  }

  Status update_namespace_properties(const Namespace& ns, const Properties& set, const std::vector<std::string>& remove) override {
    base::io_point();
    TRY(check_namespace(ns));
    TRY(settings().require(kNamespaceProperties));
    const auto answer = connection().send(change(RestCall::kChange, "POST", settings().of_namespace(ns) + "/properties",
                                                 namespace_properties_to_json(set, remove)));
    return answer.status().in("properties of namespace " + text(ns));
  }

 private:
  const RestSettings& settings() const { return session_->settings; }
  RestConnection& connection() { return *session_->connection; }
  static std::string text(const Namespace& ns) {
    std::string joined;
    for (const std::string& level : ns) joined += (joined.empty() ? "" : ".") + level;
    return joined;
  }

  // A request that changes something. Each has a key of its own, by which the server tells it from a copy made on the way.
  RestRequest change(RestCall call, std::string method, std::string path, std::string body = "") const {
    RestRequest request{.call = call, .method = std::move(method), .path = std::move(path), .body = std::move(body)};
    if (settings().has_idempotency_keys) request.headers.emplace_back("Idempotency-Key", base::random_time_uuid());
    return request;
  }

  Status post_namespace(const Namespace& ns) {
    return connection().send(change(RestCall::kCreate, "POST", settings().namespaces(), create_namespace_to_json(ns))).status();
  }

  // All pages of a list. `query`: "parent=a" or empty.
  template <typename T>
  Result<std::vector<T>> list(const std::string& path, const std::string& query, Result<RestPage<T>> (*read)(const std::string&)) {
    std::vector<T> entries;
    std::string token;
    for (int page = 0; page < kPagesAtMost; ++page) {
      std::string target = path;
      const auto add = [&target](const std::string& part) { target += (target.find('?') == std::string::npos ? "?" : "&") + part; };
      if (!query.empty()) add(query);
      if (!token.empty() || settings().page_size > 0) add("pageToken=" + net::percent_encode(token));
      if (settings().page_size > 0) add("pageSize=" + std::to_string(settings().page_size));
      TRY_ASSIGN(const net::HttpResponse answer, connection().send({.path = target}));
      TRY_ASSIGN(RestPage<T> found, read(answer.body));
      entries.insert(entries.end(), found.entries.begin(), found.entries.end());
      if (found.next_token.empty()) return entries;
      if (found.next_token == token) return base::corrupt("the catalog gives one page of its list again and again");
      token = found.next_token;
    }
    return base::corrupt("the catalog's list has no end");
  }

  // Adds what lies below `parent`, with every level above: "a.b" exists, so "a" does.
  Status add_namespaces(const Namespace& parent, std::set<Namespace>& found) {
    if (parent.size() >= kNamespaceLevelsAtMost) return {};
    const std::string query = parent.empty() ? "" : "parent=" + settings().joined(parent);
    const auto listed = list(settings().namespaces(), query, namespaces_of);
    if (!listed.ok()) {
      // Catalogs with one level refuse a parent; and a namespace may be gone by now.
      const bool is_leaf = !parent.empty() && (is_refusal(listed.error().code()) || listed.error().code() == Code::kNotFound);
      return is_leaf ? Status() : listed.status().in("namespaces");
    }
    for (const Namespace& ns : *listed) {
      for (Namespace level = ns; level.size() > 1;) {
        level.pop_back();
        found.insert(level);
      }
      if (found.insert(ns).second) TRY(add_namespaces(ns, found));
    }
    return {};
  }

  Result<LoadedTable> load(const TableId& id) {
    TRY(check_name(id.name));
    TRY(settings().require(kLoad));
    RestRequest request{.path = settings().table(id)};
    TableCache::Entry kept;
    if (vending_.knows(id)) {
      kept = tables_.find(id);
      if (kept.table) request.headers.emplace_back("If-None-Match", kept.etag);
    } else {
      request.headers = vending_.headers();
    }
    const Result<net::HttpResponse> answer = connection().send(request);
    if (!answer.ok()) {
      tables_.forget(id);
      return answer.error();
    }
    if (answer->status == 304) return kept.table ? Result<LoadedTable>(*kept.table) : unreadable(RestCall::kRead, "304 to a question without ETag");
    TRY_ASSIGN(RestTable table, read_table(RestCall::kRead, *answer));
    if (vending_.knows(id) && !vending_.knows(id, table.table.metadata)) {
      // Another table has taken the name: its store is not known yet.
      vending_.forget(id);
      return load(id);
    }
    if (!vending_.knows(id)) TRY(vending_.adopt(id, table));
    tables_.keep(id, *answer, table.table);
    return std::move(table.table);
  }

  // What is no JSON came from a server in between, or was cut: it says nothing about the table.
  static Result<RestTable> read_table(RestCall call, const net::HttpResponse& answer) {
    Result<RestTable> table = table_of(answer.body);
    const bool says_nothing = !table.ok() && (call != RestCall::kRead || table.error().code() == Code::kInvalid);
    return says_nothing ? Result<RestTable>(unreadable(call, table.error().message())) : table;
  }

  Result<LoadedTable> post_commit(const TableId& id, const TableCommit& commit) {
    TRY(check_name(id.name));
    TRY(settings().require(kCommit));
    const auto answer = connection().send(change(RestCall::kCommit, "POST", settings().table(id), commit_to_json(id, commit)));
    if (!answer.ok()) return answer.error();
    TRY_ASSIGN(RestTable table, read_table(RestCall::kCommit, *answer));
    if (!holds(table.table.metadata, commit))
      return Error(Code::kUnknownOutcome, "the catalog answers 200 with a table that lacks what was committed");
    tables_.keep(id, *answer, table.table);
    return std::move(table.table);
  }

  // As the server will see it: with ids from 1, and complaints of our own about what no table can be.
  static Result<CreateTable> normalised(const CreateTable& request) {
    const std::string location = request.location.empty() ? "memory://anywhere" : request.location;
    TRY_ASSIGN(TableMetadata metadata, new_table_metadata(request, location, base::wall_millis()));
    CreateTable create{.schema = *metadata.current_schema(),
                       .spec = metadata.specs.front(),
                       .sort_order = metadata.sort_orders.front(),
                       .properties = std::move(metadata.properties),
                       .location = request.location};
    create.properties["format-version"] = std::to_string(metadata.format_version);
    return create;
  }

  Result<LoadedTable> create(const TableId& id, const CreateTable& given) {
    TRY_ASSIGN(const CreateTable request, normalised(given));
    const Result<RestTable> staged = post_create(id, request, true);
    if (!staged.ok() && is_refusal(staged.error().code())) {
      base::log_debug("catalog_cannot_stage", {{"table", id.text()}, {"answer", staged.error().message()}});
      TRY_ASSIGN(RestTable table, post_create(id, request, false));
      TRY(vending_.adopt(id, table));
      return std::move(table.table);
    }
    if (!staged.ok()) return staged.error();
    const TableMetadata& metadata = staged->table.metadata;
    if (asks_store_) TRY(ask_store(id, *staged));
    const auto answer = connection().send(
        change(RestCall::kCommit, "POST", settings().table(id), create_commit_to_json(id, metadata)));
    if (!answer.ok() && answer.error().code() == Code::kConflict) return Error(Code::kExists, answer.error().message());
    if (!answer.ok() && answer.error().code() != Code::kUnknownOutcome) return answer.error();
    // What is there now, with its credentials. After a lost reply the uuid decides.
    Result<LoadedTable> now = load(id);
    if (now.ok() && now->metadata.table_uuid == metadata.table_uuid) return now;
    if (now.ok()) return Error(Code::kExists, "somebody else has created it");
    return Error(Code::kUnknownOutcome, answer.ok() ? now.error().message() : answer.error().message());
  }

  // Whether the store can be read where the table will be, with keys of our own. Those that a catalog hands out may be good only once the
  // table is there.
  Status ask_store(const TableId& id, const RestTable& staged) {
    const bool is_vended = !staged.credentials.empty() || std::any_of(staged.config.begin(), staged.config.end(), [](const auto& property) {
      return io::is_secret_store_property(property.first);
    });
    if (is_vended) return {};
    TRY(vending_.adopt(id, staged));
    const Status answer = files_->read_range(staged.table.metadata.location + "/metadata/none", 0, 1).status();
    if (answer.ok() || answer.error().code() == Code::kNotFound) return {};
    vending_.forget(id);
    return answer.error().in("no table was made, its store was asked first");
  }

  // A staged table does not exist yet: nothing has happened until the commit that follows.
  Result<RestTable> post_create(const TableId& id, const CreateTable& request, bool is_staged) {
    RestRequest post = change(RestCall::kCreate, "POST", settings().tables(id.ns), create_table_to_json(id.name, request, is_staged));
    const net::HttpHeaders delegation = vending_.headers();
    post.headers.insert(post.headers.end(), delegation.begin(), delegation.end());
    const auto answer = connection().send(post);
    Result<RestTable> table = answer.ok() ? read_table(RestCall::kCreate, *answer) : Result<RestTable>(answer.error());
    if (is_staged && !table.ok() && table.error().code() == Code::kUnknownOutcome) return base::unavailable(table.error().message());
    return table;
  }

  const std::shared_ptr<const RestSession> session_;
  const std::shared_ptr<io::SchemeFileIO> files_;
  RestVending vending_;
  const bool asks_store_;
  TableCache tables_;
};

}  // namespace

Result<std::unique_ptr<Catalog>> open_rest_catalog(RestCatalogConfig config) {
  TRY_ASSIGN(std::shared_ptr<net::HttpClient> http, rest_http_client(config));
  return open_rest_catalog(config, std::move(http), io::make_scheme_file_io);
}

Result<std::unique_ptr<Catalog>> open_rest_catalog(const RestCatalogConfig& config, std::shared_ptr<net::HttpClient> http,
                                                   const MakeFiles& make_files) {
  TRY_ASSIGN(std::shared_ptr<const RestSession> session, open_rest_session(config, std::move(http)));
  TRY_ASSIGN(io::SchemeFileIOConfig files, files_of(config, session->settings));
  return std::unique_ptr<Catalog>(std::make_unique<RestCatalog>(std::move(session), make_files(std::move(files)), config.asks_store));
}

}  // namespace frazil::iceberg
