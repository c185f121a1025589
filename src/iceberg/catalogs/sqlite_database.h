// One connection to an SQLite file: statements with bound text, transactions, and errors by what the caller can do.
//
// Owned by one catalog, which guards it with its mutex: not for two threads at once. The journal mode and all other
// settings stay as the file has them; only a busy time-out is set, since other processes write to the same file.
//   kUnavailable     locked for longer than the time-out, or a device error before COMMIT: nothing has happened
//   kUnknownOutcome  anything but "locked" from COMMIT; the connection is then made anew before the next statement
//   kExists          a primary key is taken        kExhausted  disk full, no memory
//   kInvalid         no such file or folder, read-only, not permitted, not the expected tables
//   kUnsupported     the file lies on a network file system, whose locks SQLite cannot trust
//   kCorrupt         not a database, or a damaged one
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace frazil::iceberg {

struct SqliteOptions {
  int busy_timeout_ms = 10'000;
  std::string vfs;  // name of a registered SQLite VFS; empty: the default
};

// True for the f_type that statfs(2) gives for file systems of other machines (NFS, SMB, AFS, 9P, ...).
bool is_network_file_system(uint64_t statfs_type);

class SqliteDatabase {
 public:
  using Text = std::optional<std::string>;  // nullopt: NULL
  using Row = std::vector<Text>;

  // Opens or makes the file. Its folder must exist.
  static base::Result<std::unique_ptr<SqliteDatabase>> open(const std::string& path, const SqliteOptions& options);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // All rows of a query, with `values` for its '?' in order.
  base::Result<std::vector<Row>> query(const std::string& sql, const std::vector<Text>& values = {});
  // Runs a statement; the number of rows that it changed.
  base::Result<int64_t> execute(const std::string& sql, const std::vector<Text>& values = {});
  // BEGIN IMMEDIATE, `body`, COMMIT; ROLLBACK when the body fails.
  base::Status transact(const std::function<base::Status()>& body);

 private:
  SqliteDatabase(std::string path, SqliteOptions options);
  base::Status connect();
  void disconnect();
  base::Status commit();
  base::Result<sqlite3_stmt*> prepare(const std::string& sql);
  base::Result<std::vector<Row>> run(const std::string& sql, const std::vector<Text>& values);
  base::Error error(int code, std::string_view doing) const;

  const std::string path_;
  const SqliteOptions options_;
  sqlite3* connection_ = nullptr;                    // null: to be made anew
  std::map<std::string, sqlite3_stmt*> statements_;  // prepared, by text
};

}  // namespace frazil::iceberg
