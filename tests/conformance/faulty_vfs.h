// An SQLite VFS that lets a chosen disk operation fail, before or after it took place, around the default VFS.
// Operations that change the disk are numbered from 1: write, truncate, sync, delete. One thread arms it; the
// connection that it disturbs may be on another.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <string>

#include "base/check.h"

namespace frazil::conformance {

class FaultyVfs {
 public:
  static constexpr char kName[] = "frazil-faulty";

  static FaultyVfs& instance() {
    static FaultyVfs vfs;
    return vfs;
  }
  // The operation with this number fails from now on; `after`: only its answer is lost.
  void fail_at(int operation, bool after) {
    operations_ = 0;
    after_ = after;
    fail_at_ = operation;
  }
  void stop_failing() { fail_at_ = 0; }
  bool has_failed() const { return fail_at_ > 0 && operations_ >= fail_at_; }

 private:
  struct File {
    sqlite3_file head;
    sqlite3_file* real;
  };

  FaultyVfs() {
    sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
    CHECK(real != nullptr);
    vfs_ = *real;
    vfs_.pNext = nullptr;
    vfs_.zName = kName;
    vfs_.pAppData = real;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real->szOsFile;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
  }

  template <typename Operation>
  static int disturbed(int failure, Operation&& operation) {
    FaultyVfs& self = instance();
    const bool fails = ++self.operations_ == self.fail_at_;
    if (fails && !self.after_) return failure;
    const int code = operation();
    return fails ? failure : code;
  }

  static sqlite3_vfs* real_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }
  static sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    File* const mine = reinterpret_cast<File*>(file);
    mine->real = reinterpret_cast<sqlite3_file*>(mine + 1);
    std::memset(mine->real, 0, static_cast<size_t>(real_vfs(vfs)->szOsFile));
    const int code = real_vfs(vfs)->xOpen(real_vfs(vfs), name, mine->real, flags, out_flags);
    mine->head.pMethods = mine->real->pMethods == nullptr ? nullptr : methods();
    return code;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    return disturbed(SQLITE_IOERR_DELETE, [&] { return real_vfs(vfs)->xDelete(real_vfs(vfs), name, sync_folder); });
  }

  // Version 2: shared memory for the write-ahead log, no memory mapping.
  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods table = [] {
      sqlite3_io_methods m{};
      m.iVersion = 2;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
        return real(f)->pMethods->xRead(real(f), to, n, at);
      };
      m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
        return disturbed(SQLITE_IOERR_WRITE, [&] { return real(f)->pMethods->xWrite(real(f), from, n, at); });
      };
      m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
        return disturbed(SQLITE_IOERR_TRUNCATE, [&] { return real(f)->pMethods->xTruncate(real(f), size); });
      };
      m.xSync = [](sqlite3_file* f, int flags) {
        return disturbed(SQLITE_IOERR_FSYNC, [&] { return real(f)->pMethods->xSync(real(f), flags); });
      };
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
      m.xLock = [](sqlite3_file* f, int lock) { return real(f)->pMethods->xLock(real(f), lock); };
      m.xUnlock = [](sqlite3_file* f, int lock) { return real(f)->pMethods->xUnlock(real(f), lock); };
      m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
        return real(f)->pMethods->xCheckReservedLock(real(f), out);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      // No atomic-write shortcuts: every commit takes the long way.
      m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
      m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
        return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
      };
      m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
        return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
      };
      m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
      m.xShmUnmap = [](sqlite3_file* f, int drop) { return real(f)->pMethods->xShmUnmap(real(f), drop); };
      return m;
    }();
    return &table;
  }

  sqlite3_vfs vfs_{};
  std::atomic<int> operations_{0};
  std::atomic<int> fail_at_{0};
  std::atomic<bool> after_{false};
};

}  // namespace frazil::conformance
