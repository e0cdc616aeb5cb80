// LMDB's C interface with owners and statuses; what the bytes mean is none of its business.
#pragma once

#include <lmdb.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace coordkit::storage {

// What an error of LMDB means at a door: "the state store cannot `what`: ..."; ok for MDB_SUCCESS.
absl::Status lmdb_status(int error, const std::string& what);

inline MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
inline std::string_view to_view(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

// A transaction that is aborted unless it was committed. Many may read at a time, one writes.
class Transaction {
 public:
  enum class Access { Read, Write };
  static absl::StatusOr<Transaction> begin(MDB_env* environment, Access access);

  explicit Transaction(MDB_txn* txn) : txn_(txn) {}
  Transaction(Transaction&& other) noexcept : txn_(std::exchange(other.txn_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (txn_ != nullptr) ::mdb_txn_abort(txn_);
  }
  MDB_txn* get() const { return txn_; }
  absl::Status commit() { return lmdb_status(::mdb_txn_commit(std::exchange(txn_, nullptr)), "commit"); }

 private:
  MDB_txn* txn_;
};

struct CursorClose {
  void operator()(MDB_cursor* cursor) const { ::mdb_cursor_close(cursor); }
};
using Cursor = std::unique_ptr<MDB_cursor, CursorClose>;
absl::StatusOr<Cursor> open_cursor(MDB_txn* txn, MDB_dbi table);

// Visits every row from the first at or after `from` as long as `more` holds of its key; stops at the first error.
absl::Status for_each(MDB_txn* txn, MDB_dbi table, std::string_view from, absl::FunctionRef<bool(std::string_view key)> more,
                      absl::FunctionRef<absl::Status(std::string_view key, std::string_view stored)> visit);

}  // namespace coordkit::storage
