#include "storage/state/lmdb_transaction.h"

#include <cerrno>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"
#include "storage/state/lmdb_files.h"

namespace coordkit::storage {

absl::Status lmdb_status(int error, const std::string& what) {
  if (error == MDB_SUCCESS) return absl::OkStatus();
  const std::string text = "the state store cannot " + what + ": " + ::mdb_strerror(error);
  switch (error) {
    case MDB_MAP_FULL: return absl::OutOfRangeError(text);
    case EINTR: return absl::AbortedError(text);
    case MDB_READERS_FULL: return make_error(Reason::LimitExceeded, text + " (raise views_max, or end views earlier)");
    case MDB_VERSION_MISMATCH: return make_error(Reason::NewerFormat, text + " (it was made by another version of LMDB)");
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_MAP_RESIZED:  // nobody else makes the file larger
    case MDB_PANIC: return make_error(Reason::Corrupt, text);
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return until_room(errno_status(error, "the state store cannot " + what));
    case EIO: return make_error(Reason::StorageFailed, text);
    default: return error > 0 ? errno_status(error, "the state store cannot " + what) : make_error(Reason::StorageFailed, text);
  }
}

void throw_assertions(MDB_env* environment, std::atomic<bool>* failed) {
  ::mdb_env_set_userctx(environment, failed);
  ::mdb_env_set_assert(environment, [](MDB_env* env, const char* what) {
    static_cast<std::atomic<bool>*>(::mdb_env_get_userctx(env))->store(true);
    throw LmdbAssertion(what);
  });
}

bool assertion_failed(MDB_env* environment) {
  const auto* failed = static_cast<const std::atomic<bool>*>(::mdb_env_get_userctx(environment));
  return failed != nullptr && failed->load();
}

absl::StatusOr<Transaction> Transaction::begin(MDB_env* environment, Access access) {
  MDB_txn* txn = nullptr;
  const unsigned flags = access == Access::Read ? MDB_RDONLY : 0;
  if (const int error = ::mdb_txn_begin(environment, nullptr, flags, &txn); error != 0) {
    return lmdb_status(error, "begin a transaction");
  }
  return Transaction(txn);
}

absl::StatusOr<Cursor> open_cursor(MDB_txn* txn, MDB_dbi table) {
  MDB_cursor* cursor = nullptr;
  if (const int error = ::mdb_cursor_open(txn, table, &cursor); error != 0) return lmdb_status(error, "open a cursor");
  return Cursor(cursor);
}

}  // namespace coordkit::storage
