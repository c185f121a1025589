#include "iceberg/catalogs/rest_answer.h"

#include <algorithm>
#include <charconv>

#include "iceberg/json_view.h"
#include "iceberg/table_metadata_json.h"
#include "net/foreign_answer.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr size_t kWordsAtMost = 500;
constexpr size_t kPageWordsAtMost = 160;
constexpr int64_t kRetryAfterAtMostMs = 5 * 60'000;

struct ServerWords {
  bool is_catalog = false;  // the body is an error as catalogs write it
  std::string text;         // "NoSuchTableException: Table does not exist: db.t"
};

// What a page of some server in between says, without its mark-up. Some repeat the whole request.
std::string text_of_page(const std::string& page, const std::vector<std::string>& secrets) {
  std::string text;
  bool is_tag = false;
  for (const char c : net::without_secrets(page, secrets)) {
    if (c == '<') is_tag = true;
    const bool is_space = is_tag || static_cast<unsigned char>(c) <= 0x20;
    if (c == '>') is_tag = false;
    if (!is_space) text += c;
    if (is_space && !text.empty() && text.back() != ' ') text += ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return net::tamed(text, secrets, kPageWordsAtMost);
}

ServerWords words_of(const std::string& body, const std::vector<std::string>& secrets) {
  const Result<JsonDocument> document = JsonDocument::parse(body);
  if (!document.ok() || !document->root().is_object()) return {false, text_of_page(body, secrets)};
  const JsonView error = document->root().member("error");
  if (error.is_string()) return {false, net::tamed(*error.as_text(), secrets, kWordsAtMost)};  // OAuth2's form
  if (!error.is_object()) return {};
  const Result<std::string> type = error.text_member("type");
  const Result<std::string> message = error.text_member("message");
  if (!type.ok() && !message.ok()) return {};
  std::string text = type.ok() ? *type : "";
  if (message.ok()) text += (text.empty() ? "" : ": ") + *message;
  return {true, net::tamed(text, secrets, kWordsAtMost)};
}

bool contains_word(std::string text, std::string_view word) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find(word) != std::string::npos;
}

// Servers whose check of sequence numbers answers 400 (Iceberg before 1.11, SeaweedFS): another commit came first.
bool speaks_of_order(const std::string& text) {
  return contains_word(text, "sequence number") || contains_word(text, "sequence-number") ||
         contains_word(text, "first-row-id") || contains_word(text, "first row id");
}

Code code_of_conflict(RestCall call) {
  switch (call) {
    case RestCall::kCommit: return Code::kConflict;
    case RestCall::kCreate: return Code::kExists;
    case RestCall::kRead:
    case RestCall::kChange: return Code::kInvalid;
  }
  return Code::kInvalid;
}

Code unclear(RestCall call) { return call == RestCall::kRead ? Code::kUnavailable : Code::kUnknownOutcome; }

Code code_of(RestCall call, int status, const ServerWords& words, bool has_body) {
  switch (status) {
    case 400: return call == RestCall::kCommit && words.is_catalog && speaks_of_order(words.text) ? Code::kConflict : Code::kInvalid;
    case 404: return words.is_catalog || !has_body ? Code::kNotFound : unclear(call);
    case 405:
    case 406:
    case 501: return Code::kUnsupported;
    case 408:
    case 429: return unclear(call);
    case 409: return code_of_conflict(call);
    default: return status >= 500 ? unclear(call) : Code::kInvalid;
  }
}

Result<Properties> texts_of(const JsonView& object) {
  Properties properties;
  for (const auto& [key, value] : object.members()) {
    if (!value.is_string()) continue;
    TRY_ASSIGN(properties[key], value.as_text());
  }
  return properties;
}

Result<std::vector<std::pair<std::string, Properties>>> read_credentials(const JsonView& root) {
  std::vector<std::pair<std::string, Properties>> credentials;
  TRY_ASSIGN(const auto entries, root.array_member("storage-credentials"));
  for (const JsonView& entry : entries) {
    TRY_ASSIGN(std::string prefix, entry.text_member("prefix"));
    TRY_ASSIGN(Properties config, texts_of(entry.member("config")));
    credentials.emplace_back(std::move(prefix), std::move(config));
  }
  return credentials;
}

Result<JsonDocument> object_of(const std::string& body) {
  Result<JsonDocument> document = JsonDocument::parse(body);
  if (!document.ok() || !document->root().is_object()) return base::invalid("the answer is no JSON object");
  return document;
}

Result<Namespace> namespace_of(const JsonView& view) {
  Namespace ns;
  TRY_ASSIGN(const auto levels, view.elements());
  for (const JsonView& level : levels) {
    TRY_ASSIGN(std::string name, level.as_text());
    ns.push_back(std::move(name));
  }
  return ns;
}

Result<std::string> next_token_of(const JsonView& root) {
  if (!root.member("next-page-token").is_set()) return std::string();
  return root.text_member("next-page-token");
}

}  // namespace

Error refusal(RestCall call, const net::HttpResponse& response, const std::vector<std::string>& secrets) {
  const ServerWords words = words_of(response.body, secrets);
  std::string text = "the catalog answers " + std::to_string(response.status);
  if (!words.text.empty()) text += ": " + words.text;
  return Error(code_of(call, response.status, words, !response.body.empty()), std::move(text));
}

Error no_answer(RestCall call, const Error& error) {
  if (error.code() == Code::kUnknownOutcome) return Error(unclear(call), error.message());
  // An answer that is too large came to a request that was served.
  if (error.code() == Code::kExhausted && call != RestCall::kRead) return Error(Code::kUnknownOutcome, error.message());
  return error;
}

Error unreadable(RestCall call, const std::string& why) {
  return Error(unclear(call), "the catalog's answer cannot be read: " + why);
}

int64_t retry_after_ms(const net::HttpResponse& response) {
  const std::string* text = response.header("retry-after");
  if (text == nullptr) return 0;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() || seconds < 0) return 0;
  return std::min(seconds, kRetryAfterAtMostMs / 1000) * 1000;
}

Result<RestTable> table_of(const std::string& body) {
  TRY_ASSIGN(const JsonDocument document, object_of(body));
  const JsonView root = document.root();
  RestTable table;
  if (!root.member("metadata").is_object()) return base::corrupt("the answer holds no table metadata");
  TRY_ASSIGN(table.table.metadata, table_metadata_from_json(root.member("metadata")));
  // A staged table has none yet.
  if (root.member("metadata-location").is_set()) {
    TRY_ASSIGN(table.table.metadata_location, root.text_member("metadata-location"));
  }
  TRY_ASSIGN(table.config, texts_of(root.member("config")));
  TRY_ASSIGN(table.credentials, read_credentials(root));
  return table;
}

Result<std::vector<std::pair<std::string, Properties>>> credentials_of(const std::string& body) {
  TRY_ASSIGN(const JsonDocument document, object_of(body));
  return read_credentials(document.root());
}

Result<RestPage<Namespace>> namespaces_of(const std::string& body) {
  TRY_ASSIGN(const JsonDocument document, object_of(body));
  RestPage<Namespace> page;
  TRY_ASSIGN(const auto entries, document.root().array_member("namespaces"));
  for (const JsonView& entry : entries) {
    TRY_ASSIGN(Namespace ns, namespace_of(entry));
    if (!ns.empty()) page.entries.push_back(std::move(ns));
  }
  TRY_ASSIGN(page.next_token, next_token_of(document.root()));
  return page;
}

Result<RestPage<TableId>> tables_of(const std::string& body) {
  TRY_ASSIGN(const JsonDocument document, object_of(body));
  RestPage<TableId> page;
  TRY_ASSIGN(const auto entries, document.root().array_member("identifiers"));
  for (const JsonView& entry : entries) {
    TableId id;
    TRY_ASSIGN(id.ns, namespace_of(entry.member("namespace")));
    TRY_ASSIGN(id.name, entry.text_member("name"));
    page.entries.push_back(std::move(id));
  }
  TRY_ASSIGN(page.next_token, next_token_of(document.root()));
  return page;
}

Result<Properties> namespace_properties_of(const std::string& body) {
  TRY_ASSIGN(const JsonDocument document, object_of(body));
  return texts_of(document.root().member("properties"));
}

bool holds(const TableMetadata& table, const TableCommit& commit) {
  std::map<std::string, int64_t> refs;  // the last word on each ref
  for (const Update& update : commit.updates) {
    if (const auto* add = std::get_if<AddSnapshot>(&update); add && !table.snapshot(add->snapshot.snapshot_id)) return false;
    if (const auto* set = std::get_if<SetSnapshotRef>(&update)) refs[set->name] = set->ref.snapshot_id;
    if (const auto* remove = std::get_if<RemoveSnapshotRef>(&update)) refs.erase(remove->name);
  }
  return std::all_of(refs.begin(), refs.end(), [&](const auto& ref) {
    const auto found = table.refs.find(ref.first);
    return found != table.refs.end() && found->second.snapshot_id == ref.second;
  });
}

}  // namespace frazil::iceberg
