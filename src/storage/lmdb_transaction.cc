#include "storage/lmdb_transaction.h"

#include "storage/posix_file_system.h"

namespace coordkit::storage {

absl::Status lmdb_status(int error, const std::string& what) {
  if (error == MDB_SUCCESS) return absl::OkStatus();
  const std::string text = "the state store cannot " + what + ": " + ::mdb_strerror(error);
  switch (error) {
    case MDB_MAP_FULL: return absl::ResourceExhaustedError(text + " (raise map_bytes, or end views earlier)");
    case MDB_READERS_FULL: return absl::ResourceExhaustedError(text + " (raise views_max, or end views earlier)");
    case MDB_VERSION_MISMATCH: return absl::FailedPreconditionError(text + " (it was made by another version of LMDB)");
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC: return absl::DataLossError(text);
    default: return error > 0 ? errno_status(error, "the state store cannot " + what) : absl::InternalError(text);
  }
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

absl::Status for_each(MDB_txn* txn, MDB_dbi table, std::string_view from, absl::FunctionRef<bool(std::string_view key)> more,
                      absl::FunctionRef<absl::Status(std::string_view key, std::string_view stored)> visit) {
  const absl::StatusOr<Cursor> cursor = open_cursor(txn, table);
  if (!cursor.ok()) return cursor.status();
  MDB_val key = to_val(from);
  MDB_val value = {};
  int error = ::mdb_cursor_get(cursor->get(), &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
  for (; error == 0 && more(to_view(key)); error = ::mdb_cursor_get(cursor->get(), &key, &value, MDB_NEXT)) {
    if (absl::Status status = visit(to_view(key), to_view(value)); !status.ok()) return status;
  }
  return error == 0 || error == MDB_NOTFOUND ? absl::OkStatus() : lmdb_status(error, "read");
}

}  // namespace coordkit::storage
