#include "storage/lmdb_table.h"

#include <cerrno>

#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr mdb_mode_t kFileMode = 0640;
constexpr const char* kMetaTable = "meta";
constexpr std::array<const char*, 2> kRowTables = {"rows-a", "rows-b"};
constexpr size_t kTables = kRowTables.size() + 1;

absl::Status foreign() { return absl::FailedPreconditionError("the state directory holds a foreign LMDB database"); }

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
    return scan_from(
        first_key(range), [&](std::string_view key) { return range.contains(key); }, visit);
  }

 private:
  absl::Status scan_from(std::string_view from, absl::FunctionRef<bool(std::string_view)> more, Visitor visit) const {
    return for_each(transaction_.get(), rows_, from, more, [&](std::string_view key, std::string_view stored) -> absl::Status {
      const absl::StatusOr<StoredValue> row = verified(key, stored);
      return row.ok() ? visit(key, row->value) : row.status();
    });
  }

  const std::shared_ptr<LmdbTable> table_;  // outlives the transaction
  const Transaction transaction_;
  const MDB_dbi rows_;
  const Position applied_;
  const uint64_t digest_;
};

}  // namespace

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
  if (error == 0) error = ::mdb_env_set_maxdbs(table->environment_, kTables);
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

// Makes the tables and the description of an empty checkpoint, in one transaction, unless they are there.
absl::Status LmdbTable::open_tables() {
  absl::StatusOr<Transaction> begun = Transaction::begin(environment_, Transaction::Access::Write);
  if (!begun.ok()) return begun.status();
  MDB_stat stat = {};
  MDB_dbi names = 0;
  int error = ::mdb_dbi_open(begun->get(), nullptr, 0, &names);
  if (error == 0) error = ::mdb_stat(begun->get(), names, &stat);
  if (error != 0) return lmdb_status(error, "read its tables");
  const bool blank = stat.ms_entries == 0;
  if (!blank && stat.ms_entries != kTables) return foreign();
  const unsigned flags = blank ? MDB_CREATE : 0;
  error = ::mdb_dbi_open(begun->get(), kMetaTable, flags, &meta_);
  for (size_t i = 0; error == 0 && i < rows_.size(); ++i) {
    error = ::mdb_dbi_open(begun->get(), kRowTables[i], flags, &rows_[i]);
  }
  if (error == MDB_NOTFOUND || error == MDB_INCOMPATIBLE) return foreign();
  if (error != 0) return lmdb_status(error, "make its tables");
  if (blank) {
    if (absl::Status status = put_checkpoint(begun->get(), {.store = store_}); !status.ok()) return status;
  }
  return begun->commit();
}

absl::StatusOr<Checkpoint> LmdbTable::checkpoint(MDB_txn* txn) const {
  MDB_val key = to_val(kCheckpointKey);
  MDB_val value = {};
  const int error = ::mdb_get(txn, meta_, &key, &value);
  if (error == MDB_NOTFOUND) return rotten("its description is missing");
  if (error != 0) return lmdb_status(error, "read its description");
  return decode_checkpoint(to_view(value));
}

absl::Status LmdbTable::put_checkpoint(MDB_txn* txn, const Checkpoint& checkpoint) {
  const std::string bytes = encode(checkpoint);
  MDB_val key = to_val(kCheckpointKey);
  MDB_val value = to_val(bytes);
  return lmdb_status(::mdb_put(txn, meta_, &key, &value, 0), "write its description");
}

// Rows beside the live ones were staged by an earlier process, or are what an install left.
absl::Status LmdbTable::verify() {
  const absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Read);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> stored = checkpoint(transaction->get());
  if (!stored.ok()) return stored.status();
  if (stored->store != store_) return absl::FailedPreconditionError("the state directory belongs to another data directory");
  const absl::StatusOr<RowDigest> digest = verified_digest(transaction->get(), rows(stored->live));
  if (!digest.ok()) return digest.status();
  if (*digest != stored->digest) return rotten("its rows are not those of its digest");
  MDB_stat spare = {};
  if (const int error = ::mdb_stat(transaction->get(), rows(other(stored->live)), &spare); error != 0) {
    return lmdb_status(error, "read its tables");
  }
  applied_ = stored->applied;
  spare_ = spare.ms_entries == 0 ? Spare::Empty : Spare::Stale;
  return absl::OkStatus();
}

absl::Status LmdbTable::write(const CheckpointBatch& batch) {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Write);
  if (!transaction.ok()) return transaction.status();
  if (absl::Status status = write_rows(transaction->get(), batch); !status.ok()) return status;
  return transaction->commit();
}

absl::Status LmdbTable::write_rows(MDB_txn* txn, const CheckpointBatch& batch) {
  absl::StatusOr<Checkpoint> meta = checkpoint(txn);
  if (!meta.ok()) return meta.status();
  const MDB_dbi table = rows(meta->live);
  for (const CheckpointBatch::Row& row : batch.rows) {
    if (row.key.empty() || row.key.size() > kStateKeyBytesMax) {
      return absl::InvalidArgumentError("a key of a checkpoint must have 1 to 64 bytes");
    }
    MDB_val key = to_val(row.key);
    MDB_val old = {};
    const int error = ::mdb_get(txn, table, &key, &old);
    if (error != 0 && error != MDB_NOTFOUND) return lmdb_status(error, "read a row");
    if (error == 0) {
      const absl::StatusOr<StoredValue> replaced = split(to_view(old));
      if (!replaced.ok()) return replaced.status();
      meta->digest.remove(row.key, replaced->sum);
    }
    absl::Status written;
    if (row.value) {
      const uint64_t sum = value_sum(row.key, *row.value);
      meta->digest.add(row.key, sum);
      written = put_row(txn, table, row.key, sum, *row.value);
    } else if (error == 0) {
      written = lmdb_status(::mdb_del(txn, table, &key, nullptr), "erase a row");
    }
    if (!written.ok()) return written;
  }
  meta->applied = batch.applied;
  return put_checkpoint(txn, *meta);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> LmdbTable::view() {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Read);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> stored = checkpoint(transaction->get());
  if (!stored.ok()) return stored.status();
  return std::make_unique<LmdbView>(shared_from_this(), *std::move(transaction), rows(stored->live), *stored);
}

// Nothing sorts between a key and the same with one zero byte more.
std::string first_key(const KeyRange& range) { return range.after.empty() ? "" : range.after + '\0'; }

absl::StatusOr<RowDigest> verified_digest(MDB_txn* txn, MDB_dbi table) {
  RowDigest digest;
  const auto every_key = [](std::string_view) { return true; };
  absl::Status status = for_each(txn, table, "", every_key, [&](std::string_view key, std::string_view stored) -> absl::Status {
    const absl::StatusOr<StoredValue> row = verified(key, stored);
    if (!row.ok()) return row.status();
    digest.add(key, row->sum);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return digest;
}

absl::Status put_row(MDB_txn* txn, MDB_dbi table, std::string_view key, uint64_t sum, std::string_view value) {
  const std::string stored = with_sum(sum, value);
  MDB_val k = to_val(key);
  MDB_val v = to_val(stored);
  return lmdb_status(::mdb_put(txn, table, &k, &v, 0), "write a row");
}

}  // namespace coordkit::storage
