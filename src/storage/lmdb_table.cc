#include "storage/lmdb_table.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fixed.h"
#include "base/sums.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr uint32_t kStateVersion = 1;
constexpr std::string_view kMetaKey = "checkpoint";
constexpr size_t kMetaBytes = 64;  // version, zero, store, applied index and term, digest sum, xor, rows, sum
constexpr size_t kSumBytes = 8;
constexpr mdb_mode_t kFileMode = 0640;

absl::Status lmdb_status(int error, const std::string& what) {
  const std::string text = "the state store cannot " + what + ": " + ::mdb_strerror(error);
  switch (error) {
    case MDB_SUCCESS: return absl::OkStatus();
    case MDB_MAP_FULL: return absl::ResourceExhaustedError(text + " (raise map_bytes)");
    case MDB_READERS_FULL: return absl::ResourceExhaustedError(text + " (raise views_max, or end views earlier)");
    case MDB_VERSION_MISMATCH: return absl::FailedPreconditionError(text + " (it was made by another version of LMDB)");
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC: return absl::DataLossError(text);
    default: return error > 0 ? errno_status(error, "the state store cannot " + what) : absl::InternalError(text);
  }
}

MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view to_view(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

// A transaction that is aborted unless it was committed.
class Transaction {
 public:
  explicit Transaction(MDB_txn* txn) : txn_(txn) {}
  Transaction(Transaction&& other) noexcept : txn_(std::exchange(other.txn_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (txn_ != nullptr) ::mdb_txn_abort(txn_);
  }
  static absl::StatusOr<Transaction> begin(MDB_env* environment, unsigned flags) {
    MDB_txn* txn = nullptr;
    if (const int error = ::mdb_txn_begin(environment, nullptr, flags, &txn); error != 0) {
      return lmdb_status(error, "begin a transaction");
    }
    return Transaction(txn);
  }
  MDB_txn* get() const { return txn_; }
  absl::Status commit() { return lmdb_status(::mdb_txn_commit(std::exchange(txn_, nullptr)), "commit"); }

 private:
  MDB_txn* txn_;
};

struct CursorClose {
  void operator()(MDB_cursor* cursor) const { ::mdb_cursor_close(cursor); }
};

absl::Status rotten(std::string_view what) {
  return absl::DataLossError("the checkpoint is rotten: " + std::string(what) + "; it must be installed from a peer");
}

// The value behind its verified sum.
absl::StatusOr<std::string_view> verified(std::string_view key, std::string_view stored) {
  if (stored.size() < kSumBytes) return rotten("a row is too short");
  const std::string_view value = stored.substr(kSumBytes);
  if (load_u64(stored.data()) != value_sum(key, value)) return rotten("a row does not match its sum");
  return value;
}

// Every row from the first at or after `from` as long as `more` holds: key and stored bytes.
absl::Status for_each(MDB_txn* txn, MDB_dbi table, std::string_view from, absl::FunctionRef<bool(std::string_view key)> more,
                      CheckpointView::Visitor visit) {
  MDB_cursor* raw = nullptr;
  if (const int error = ::mdb_cursor_open(txn, table, &raw); error != 0) return lmdb_status(error, "open a cursor");
  const std::unique_ptr<MDB_cursor, CursorClose> cursor(raw);
  MDB_val key = to_val(from);
  MDB_val value = {};
  int error = ::mdb_cursor_get(raw, &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
  for (; error == 0 && more(to_view(key)); error = ::mdb_cursor_get(raw, &key, &value, MDB_NEXT)) {
    if (absl::Status status = visit(to_view(key), to_view(value)); !status.ok()) return status;
  }
  return error == 0 || error == MDB_NOTFOUND ? absl::OkStatus() : lmdb_status(error, "read");
}

bool every_key(std::string_view) { return true; }

absl::Status refuse_foreign_files(FileSystem& files) {
  absl::StatusOr<std::vector<std::string>> names = files.list();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == "data.mdb" || name == "lock.mdb") continue;
    return absl::FailedPreconditionError("the state directory holds '" + name + "', which is not coordkit's; move it away");
  }
  return absl::OkStatus();
}

class LmdbView final : public CheckpointView {
 public:
  LmdbView(std::shared_ptr<LmdbTable> table, Transaction transaction, MDB_dbi rows, const Checkpoint& checkpoint)
      : table_(std::move(table)),
        transaction_(std::move(transaction)),
        rows_(rows),
        applied_(checkpoint.applied),
        digest_(checkpoint.digest.value()) {}

  Position applied() const override { return applied_; }
  uint64_t digest() const override { return digest_; }

  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return scan_from(
        prefix, [&](std::string_view key) { return key.starts_with(prefix); }, visit);
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    // Nothing sorts between a key and the same with one zero byte more.
    const std::string from = range.after.empty() ? "" : range.after + '\0';
    return scan_from(
        from, [&](std::string_view key) { return range.contains(key); }, visit);
  }

 private:
  absl::Status scan_from(std::string_view from, absl::FunctionRef<bool(std::string_view)> more, Visitor visit) const {
    return for_each(transaction_.get(), rows_, from, more, [&](std::string_view key, std::string_view stored) -> absl::Status {
      const absl::StatusOr<std::string_view> value = verified(key, stored);
      return value.ok() ? visit(key, *value) : value.status();
    });
  }

  const std::shared_ptr<LmdbTable> table_;  // outlives the transaction
  const Transaction transaction_;
  const MDB_dbi rows_;
  const Position applied_;
  const uint64_t digest_;
};

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  std::string bytes(kMetaBytes, '\0');
  char* at = bytes.data();
  store_u32(at, kStateVersion);
  store_u64(at + 8, checkpoint.store.value());
  store_u64(at + 16, checkpoint.applied.index.value());
  store_u64(at + 24, checkpoint.applied.term.value());
  store_u64(at + 32, checkpoint.digest.sum);
  store_u64(at + 40, checkpoint.digest.exclusive_or);
  store_u64(at + 48, checkpoint.digest.rows);
  store_u64(at + 56, hash_bytes({at, kMetaBytes - kSumBytes}, hash_bytes(kMetaKey)));
  return bytes;
}

absl::StatusOr<Checkpoint> decode_checkpoint(std::string_view bytes) {
  if (bytes.size() >= 4 && load_u32(bytes.data()) > kStateVersion) {
    return absl::FailedPreconditionError("the checkpoint was written by a newer version of coordkit; use that version");
  }
  if (bytes.size() != kMetaBytes) return rotten("its description has the wrong size");
  const char* at = bytes.data();
  if (load_u64(at + 56) != hash_bytes({at, kMetaBytes - kSumBytes}, hash_bytes(kMetaKey))) {
    return rotten("its description does not match its sum");
  }
  return Checkpoint{.store = StoreId(load_u64(at + 8)),
                    .applied = {Index(load_u64(at + 16)), Term(load_u64(at + 24))},
                    .digest = {load_u64(at + 32), load_u64(at + 40), load_u64(at + 48)}};
}

LmdbTable::~LmdbTable() {
  if (environment_ != nullptr) ::mdb_env_close(environment_);
}

absl::StatusOr<std::shared_ptr<LmdbTable>> LmdbTable::open(const Options& options) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(options.path);
  if (!files.ok()) return files.status();
  if (absl::Status status = refuse_foreign_files(**files); !status.ok()) return status;
  std::shared_ptr<LmdbTable> table(new LmdbTable(options));
  int error = ::mdb_env_create(&table->environment_);
  if (error == 0) error = ::mdb_env_set_mapsize(table->environment_, options.map_bytes);
  if (error == 0) error = ::mdb_env_set_maxdbs(table->environment_, 2);
  if (error == 0) error = ::mdb_env_set_maxreaders(table->environment_, options.views_max);
  if (error == 0) error = ::mdb_env_open(table->environment_, options.path.c_str(), MDB_NOTLS, kFileMode);
  int dead = 0;
  if (error == 0) error = ::mdb_reader_check(table->environment_, &dead);
  if (error != 0) return lmdb_status(error, "open " + options.path);
  if (absl::Status status = table->open_tables(); !status.ok()) return status;
  if (absl::Status status = (*files)->sync_dir(); !status.ok()) return status;  // the files' names
  if (absl::Status status = table->verify(); !status.ok()) return status;
  return table;
}

// Makes the two tables and the description of an empty checkpoint, in one transaction, unless they are there.
absl::Status LmdbTable::open_tables() {
  absl::StatusOr<Transaction> begun = Transaction::begin(environment_, 0);
  if (!begun.ok()) return begun.status();
  MDB_stat stat = {};
  MDB_dbi names = 0;
  int error = ::mdb_dbi_open(begun->get(), nullptr, 0, &names);
  if (error == 0) error = ::mdb_stat(begun->get(), names, &stat);
  if (error != 0) return lmdb_status(error, "read its tables");
  const bool blank = stat.ms_entries == 0;
  if (!blank && stat.ms_entries != 2) return absl::FailedPreconditionError("the state directory holds a foreign LMDB database");
  const unsigned flags = blank ? MDB_CREATE : 0;
  error = ::mdb_dbi_open(begun->get(), "rows", flags, &rows_);
  if (error == 0) error = ::mdb_dbi_open(begun->get(), "meta", flags, &meta_);
  if (error == MDB_NOTFOUND || error == MDB_INCOMPATIBLE) {
    return absl::FailedPreconditionError("the state directory holds a foreign LMDB database");
  }
  if (error == 0 && blank) {
    const std::string meta = encode(Checkpoint{.store = store_});
    MDB_val key = to_val(kMetaKey);
    MDB_val value = to_val(meta);
    error = ::mdb_put(begun->get(), meta_, &key, &value, 0);
  }
  return error == 0 ? begun->commit() : lmdb_status(error, "make its tables");
}

absl::Status LmdbTable::install(Position applied, const RowsByKey& rows) {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, 0);
  if (!transaction.ok()) return transaction.status();
  if (absl::Status status = put_rows(transaction->get(), applied, rows); !status.ok()) return status;
  return transaction->commit();
}

absl::Status LmdbTable::put_rows(MDB_txn* transaction, Position applied, const RowsByKey& rows) {
  Checkpoint checkpoint{.store = store_, .applied = applied};
  int error = ::mdb_drop(transaction, rows_, 0);
  std::string stored;
  for (auto row = rows.begin(); error == 0 && row != rows.end(); ++row) {
    const uint64_t sum = value_sum(row->first, row->second);
    checkpoint.digest.add(row->first, sum);
    stored.assign(reinterpret_cast<const char*>(&sum), sizeof sum).append(row->second);
    MDB_val key = to_val(row->first);
    MDB_val value = to_val(stored);
    error = ::mdb_put(transaction, rows_, &key, &value, 0);
  }
  if (error != 0) return lmdb_status(error, "install a state");
  const std::string bytes = encode(checkpoint);
  MDB_val key = to_val(kMetaKey);
  MDB_val value = to_val(bytes);
  return lmdb_status(::mdb_put(transaction, meta_, &key, &value, 0), "write its description");
}

absl::StatusOr<Checkpoint> LmdbTable::checkpoint(MDB_txn* transaction) const {
  MDB_val key = to_val(kMetaKey);
  MDB_val value = {};
  const int error = ::mdb_get(transaction, meta_, &key, &value);
  if (error == MDB_NOTFOUND) return rotten("its description is missing");
  if (error != 0) return lmdb_status(error, "read its description");
  return decode_checkpoint(to_view(value));
}

absl::Status LmdbTable::verify() {
  const absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, MDB_RDONLY);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> stored = checkpoint(transaction->get());
  if (!stored.ok()) return stored.status();
  if (stored->store != store_) return absl::FailedPreconditionError("the state directory belongs to another data directory");
  RowDigest digest;
  absl::Status status =
      for_each(transaction->get(), rows_, "", every_key, [&](std::string_view key, std::string_view row) -> absl::Status {
        const absl::StatusOr<std::string_view> value = verified(key, row);
        if (!value.ok()) return value.status();
        digest.add(key, load_u64(row.data()));
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (digest != stored->digest) return rotten("its rows are not those of its digest");
  applied_ = stored->applied;
  return absl::OkStatus();
}

absl::Status LmdbTable::write(const CheckpointBatch& batch) {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, 0);
  if (!transaction.ok()) return transaction.status();
  if (absl::Status status = write_rows(transaction->get(), batch); !status.ok()) return status;
  return transaction->commit();
}

absl::Status LmdbTable::write_rows(MDB_txn* transaction, const CheckpointBatch& batch) {
  absl::StatusOr<Checkpoint> meta = checkpoint(transaction);
  if (!meta.ok()) return meta.status();
  std::string stored;
  for (const CheckpointBatch::Row& row : batch.rows) {
    if (row.key.empty() || row.key.size() > kStateKeyBytesMax) {
      return absl::InvalidArgumentError("a key of a checkpoint must have 1 to 64 bytes");
    }
    MDB_val key = to_val(row.key);
    MDB_val old = {};
    int error = ::mdb_get(transaction, rows_, &key, &old);
    if (error != 0 && error != MDB_NOTFOUND) return lmdb_status(error, "read a row");
    const bool present = error == 0;
    if (present && old.mv_size < kSumBytes) return rotten("a row is too short");
    if (present) meta->digest.remove(row.key, load_u64(static_cast<const char*>(old.mv_data)));
    if (row.value) {
      const uint64_t sum = value_sum(row.key, *row.value);
      stored.assign(reinterpret_cast<const char*>(&sum), sizeof sum).append(*row.value);
      MDB_val value = to_val(stored);
      error = ::mdb_put(transaction, rows_, &key, &value, 0);
      meta->digest.add(row.key, sum);
    } else {
      error = present ? ::mdb_del(transaction, rows_, &key, nullptr) : 0;
    }
    if (error != 0) return lmdb_status(error, "write a row");
  }
  meta->applied = batch.applied;
  const std::string bytes = encode(*meta);
  MDB_val key = to_val(kMetaKey);
  MDB_val value = to_val(bytes);
  return lmdb_status(::mdb_put(transaction, meta_, &key, &value, 0), "write its description");
}

absl::StatusOr<std::unique_ptr<CheckpointView>> LmdbTable::view() {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, MDB_RDONLY);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> stored = checkpoint(transaction->get());
  if (!stored.ok()) return stored.status();
  return std::make_unique<LmdbView>(shared_from_this(), *std::move(transaction), rows_, *stored);
}

}  // namespace coordkit::storage
