#include "iceberg/catalogs/sqlite_database.h"

#include <sqlite3.h>
#include <sys/vfs.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

Code code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CONSTRAINT:
      return Code::kExists;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return Code::kExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
      return Code::kInvalid;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kCorrupt;
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return Code::kBug;
    default:  // BUSY, LOCKED, IOERR, PROTOCOL, INTERRUPT, ...
      return Code::kUnavailable;
  }
}

bool is_busy(int sqlite_code) {
  const int primary = sqlite_code & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

Status refuse_network_file_system(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct statfs status;
  if (::statfs(folder.c_str(), &status) != 0) {
    return base::invalid("catalog " + path + ": cannot use its folder: " + std::generic_category().message(errno));
  }
  // The type is a signed word on some machines: only its 32 bits count.
  if (!is_network_file_system(static_cast<uint32_t>(status.f_type))) return {};
  return base::unsupported("catalog " + path +
                           " lies on a network file system, where SQLite's locks do not hold and commits "
                           "could be lost; put it on a local disk, or use another catalog");
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return bytes == nullptr ? "" : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

SqliteDatabase::Row row_of(sqlite3_stmt* statement) {
  SqliteDatabase::Row row;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const bool is_null = sqlite3_column_type(statement, i) == SQLITE_NULL;
    row.push_back(is_null ? std::nullopt : std::optional(column_text(statement, i)));
  }
  return row;
}

}  // namespace

bool is_network_file_system(uint64_t statfs_type) {
  switch (statfs_type) {
    case 0x6969:      // NFS
    case 0x517B:      // SMB
    case 0xFE534D42:  // SMB2
    case 0xFF534D42:  // CIFS
    case 0x5346414F:  // AFS
    case 0x6B414653:  // kAFS
    case 0x73757245:  // Coda
    case 0x00C36400:  // Ceph
    case 0x0BD00BD0:  // Lustre
    case 0x01021997:  // 9P
    case 0x564C:      // NCP
      return true;
    default:
      return false;
  }
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::string& path, const SqliteOptions& options) {
  if (path.empty() || path == ":memory:") return base::invalid("an SQLite catalog needs the path of a file");
  TRY(refuse_network_file_system(path));
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(path, options));
  TRY(database->connect());
  return database;
}

SqliteDatabase::SqliteDatabase(std::string path, SqliteOptions options)
    : path_(std::move(path)), options_(std::move(options)) {}

SqliteDatabase::~SqliteDatabase() {
  disconnect();
}

Status SqliteDatabase::connect() {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code =
      sqlite3_open_v2(path_.c_str(), &connection_, flags, options_.vfs.empty() ? nullptr : options_.vfs.c_str());
  if (code != SQLITE_OK) {
    Error failure = error(code, "open");
    disconnect();
    return failure;
  }
  sqlite3_busy_timeout(connection_, options_.busy_timeout_ms);
  return {};
}

void SqliteDatabase::disconnect() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
  sqlite3_close(std::exchange(connection_, nullptr));
}

Result<std::vector<SqliteDatabase::Row>> SqliteDatabase::query(const std::string& sql,
                                                               const std::vector<Text>& values) {
  return run(sql, values);
}

Result<int64_t> SqliteDatabase::execute(const std::string& sql, const std::vector<Text>& values) {
  TRY(run(sql, values));
  return int64_t{sqlite3_changes(connection_)};
}

Status SqliteDatabase::transact(const std::function<Status()>& body) {
  TRY(execute("BEGIN IMMEDIATE"));
  Status done = body();
  if (done.ok()) return commit();
  // A failed statement may have ended the transaction already. A connection that cannot roll back is given up: closing
  // it does.
  if (connection_ != nullptr && !sqlite3_get_autocommit(connection_) && !execute("ROLLBACK").ok()) disconnect();
  return done;
}

Status SqliteDatabase::commit() {
  const Result<sqlite3_stmt*> prepared = prepare("COMMIT");
  if (!prepared.ok()) {
    disconnect();  // which rolls back
    return prepared.error();
  }
  const int code = sqlite3_step(*prepared);
  sqlite3_reset(*prepared);
  if (code == SQLITE_DONE) return {};
  Error failure = error(code, "COMMIT");
  if (is_busy(code) && execute("ROLLBACK").ok()) return failure;
  // The journal may or may not have become final: whoever opens the file next finds out.
  disconnect();
  return Error(Code::kUnknownOutcome, failure.message());
}

Result<sqlite3_stmt*> SqliteDatabase::prepare(const std::string& sql) {
  if (connection_ == nullptr) TRY(connect());
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return error(code, sql);
  statements_.emplace(sql, statement);
  return statement;
}

Result<std::vector<SqliteDatabase::Row>> SqliteDatabase::run(const std::string& sql, const std::vector<Text>& values) {
  TRY_ASSIGN(sqlite3_stmt* const statement, prepare(sql));
  for (size_t i = 0; i < values.size(); ++i) {
    const int position = static_cast<int>(i) + 1;
    if (values[i])
      sqlite3_bind_text(statement, position, values[i]->data(), static_cast<int>(values[i]->size()), SQLITE_STATIC);
    else
      sqlite3_bind_null(statement, position);
  }
  std::vector<Row> rows;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(row_of(statement));
  Result<std::vector<Row>> result = std::move(rows);
  if (code != SQLITE_DONE) result = error(code, sql);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return result;
}

Error SqliteDatabase::error(int code, std::string_view doing) const {
  const char* text = connection_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection_);
  std::string message =
      "catalog " + path_ + ": " + text + " (SQLite code " + std::to_string(code) + ", at " + std::string(doing) + ")";
  if (is_busy(code)) message += "; another process holds its lock";
  return Error(code_of(code), std::move(message));
}

}  // namespace frazil::iceberg
