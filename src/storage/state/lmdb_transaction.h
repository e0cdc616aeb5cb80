// LMDB's C interface with owners and statuses; it does not interpret the bytes.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace coordkit::storage {

// The meaning of an error of LMDB: "the state store cannot `what`: ..."; ok for MDB_SUCCESS. kDataLoss: stored data is damaged.
// kUnavailable: there is no room on the disk or no memory, which may pass. kOutOfRange: the map is full.
// kAborted: a signal interrupted it; nothing is changed, and it is to be repeated.
absl::Status lmdb_status(int error, const std::string& what);

// Thrown out of an LMDB call where LMDB would have aborted the process. The environment is no longer usable: it can only
// be closed, and what was begun in it is left as it is.
struct LmdbAssertion : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Makes assertions of `environment` such exceptions; `failed` becomes true before the first one.
void throw_assertions(MDB_env* environment, std::atomic<bool>* failed);
bool assertion_failed(MDB_env* environment);

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
    if (txn_ != nullptr && !assertion_failed(::mdb_txn_env(txn_))) ::mdb_txn_abort(txn_);
  }
  MDB_txn* get() const { return txn_; }
  int commit() { return ::mdb_txn_commit(std::exchange(txn_, nullptr)); }

 private:
  MDB_txn* txn_;
};

// To close one, LMDB walks all cursors of the transaction. After an assertion some of them lay in frames that are gone.
struct CursorClose {
  void operator()(MDB_cursor* cursor) const {
    if (!assertion_failed(::mdb_txn_env(::mdb_cursor_txn(cursor)))) ::mdb_cursor_close(cursor);
  }
};
using Cursor = std::unique_ptr<MDB_cursor, CursorClose>;
absl::StatusOr<Cursor> open_cursor(MDB_txn* txn, MDB_dbi table);

}  // namespace coordkit::storage
