#include "storage/state/lmdb_table.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr mdb_mode_t kTableFileMode = 0640;
constexpr mode_t kStateDirectoryMode = 0750;
constexpr std::string_view kNewFile = "data.new";
constexpr uint64_t kNearlyFull = 16 << 20;  // bytes left below which a short write means that there is no room for more
constexpr size_t kReplaceStep = 16 << 20;   // bytes of rows in one transaction of a new file

bool no_pace(size_t) { return true; }

absl::Status remove_if_there(FileSystem& files, std::string_view name) {
  absl::Status status = files.remove(name);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

// Pages that a view reads are pinned by a read transaction of LMDB, and read without it.
class LmdbView final : public CheckpointView {
 public:
  LmdbView(std::shared_ptr<LmdbTable> table, Transaction transaction, CheckpointSnapshot snapshot)
      : table_(std::move(table)), transaction_(std::move(transaction)), snapshot_(snapshot) {}
  Position applied() const override { return snapshot_.checkpoint.applied; }
  bool installed() const override { return snapshot_.checkpoint.origin == StateOrigin::Peer; }
  uint64_t digest() const override { return snapshot_.checkpoint.digest.value(); }

  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return scan_from(
        prefix, [&](std::string_view key) { return key.starts_with(prefix); }, visit);
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return scan_from(
        first_key(range), [&](std::string_view key) { return range.contains(key); }, visit);
  }
  absl::Status verify(LmdbReader::Pace pace) const {
    return verify_snapshot(*table_->reader_, snapshot_, table_->store_, pace);
  }

 private:
  absl::Status scan_from(std::string_view from, absl::FunctionRef<bool(std::string_view)> more, Visitor visit) const {
    return scan_live(*table_->reader_, snapshot_, from, more, visit);
  }

  const std::shared_ptr<LmdbTable> table_;  // outlives the transaction
  Transaction transaction_;
  const CheckpointSnapshot snapshot_;
};

LmdbTable::LmdbTable(const Options& options, std::string_view name)
    : path_(options.path),
      store_(options.store),
      step_bytes_(options.step_bytes),
      keep_alive_(options.keep_alive),
      files_(options.path + "/" + std::string(name)),
      map_(options.map_bytes_max) {}

LmdbTable::~LmdbTable() {
  if (environment_ != nullptr) ::mdb_env_close(environment_);
}

absl::StatusOr<std::shared_ptr<LmdbTable>> LmdbTable::open(const Options& options) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(options.path);
  if (!files.ok()) return files.status();
  if (absl::Status status = refuse_foreign_state_files(**files); !status.ok()) return status;
  for (const std::string_view left : {"data.new", "data.new-lock", "lock.mdb"}) {
    if (absl::Status status = remove_if_there(**files, left); !status.ok()) return status;
  }
  absl::StatusOr<std::shared_ptr<LmdbTable>> table = open_file(options, kCheckpointFile);
  if (!table.ok()) return table;
  if (absl::Status status = (*files)->sync_dir(); !status.ok()) return status;  // the files' names
  return table;
}

absl::StatusOr<std::shared_ptr<LmdbTable>> LmdbTable::open_file(const Options& options, std::string_view name) {
  for (;;) {
    std::shared_ptr<LmdbTable> table(new LmdbTable(options, name));
    absl::Status status;
    try {
      status = table->start(options);
    } catch (const LmdbAssertion& assertion) {  // the checks made before should make this impossible
      status = rotten(std::string("LMDB gave up on it: ") + assertion.what());
    }
    if (status.ok()) return table;
    if (!absl::IsAborted(status)) return status;
  }
}

// Everything is verified before LMDB sees the file.
absl::Status LmdbTable::start(const Options& options) {
  const FileSizeSignalHeld held;
  if (absl::Status status = files_.prepare(options.views_max); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> directory = PosixFileSystem::open(path_);
  if (!directory.ok()) return directory.status();
  const std::string name = files_.data_path().substr(path_.size() + 1);
  absl::StatusOr<std::unique_ptr<File>> file = (*directory)->open(name, OpenMode::Read);
  if (absl::IsNotFound(file.status())) file = (*directory)->open(name, OpenMode::CreateNew);
  if (!file.ok()) return until_room(file.status());
  reader_ = std::make_unique<LmdbReader>(*std::move(file));

  bool blank = true;
  const absl::StatusOr<LmdbMeta> meta = reader_->newest();
  if (!meta.ok() && !absl::IsNotFound(meta.status())) return meta.status();
  if (meta.ok()) {
    const absl::StatusOr<CheckpointSnapshot> found = read_snapshot(*reader_, *meta);
    blank = absl::IsNotFound(found.status());
    if (!blank && !found.ok()) return found.status();
    const absl::Status checked = blank ? reader_->check_all(
                                             *meta, {}, [](size_t, auto, auto) { return absl::OkStatus(); }, no_pace)
                                       : verify_snapshot(*reader_, *found, store_, no_pace);
    if (!checked.ok()) return checked;
    if (!blank) {
      applied_ = found->checkpoint.applied;
      spare_ = found->rows(other(found->checkpoint.live)).entries == 0 ? Spare::Empty : Spare::Stale;
    }
  }

  if (absl::Status status = files_.note(); !status.ok()) return status;
  int error = ::mdb_env_create(&environment_);
  if (error != 0) return lmdb_status(error, "begin");
  throw_assertions(environment_, &asserted_);
  error = ::mdb_env_set_mapsize(environment_, map_.first_bytes(files_.data_bytes()));
  if (error == 0) error = ::mdb_env_set_maxdbs(environment_, kCheckpointTables.size());
  if (error == 0) error = ::mdb_env_set_maxreaders(environment_, options.views_max);
  if (error == 0) {
    const StandardStreamsKept kept;
    error = ::mdb_env_open(environment_, files_.data_path().c_str(), MDB_NOTLS | MDB_NOSUBDIR, kTableFileMode);
  }
  if (error != 0) return lmdb_status(error, "open " + files_.data_path());
  mdb_filehandle_t data = -1;  // the one file that LMDB leaves to the programs that the host starts
  if (::mdb_env_get_fd(environment_, &data) == 0) ::fcntl(data, F_SETFD, FD_CLOEXEC);
  if (absl::Status status = files_.unlink_lock(); !status.ok()) return status;
  if (absl::Status status = open_tables(blank); !status.ok()) return status;
  map_.find(environment_, meta_, kCheckpointKey);
  return files_.note();
}

// One write transaction. If it finds the map full, the map grows, and the transaction is made again: `act` starts over.
absl::Status LmdbTable::change(InTransaction act) {
  for (;;) {
    absl::Status status = change_once(act);
    if (absl::IsAborted(status)) continue;
    if (!absl::IsOutOfRange(status)) return status;
    absl::Status grown = map_.grow(environment_);
    if (absl::IsDataLoss(grown)) asserted_ = true;
    if (!grown.ok()) return grown;
  }
}

absl::Status LmdbTable::change_once(InTransaction act) {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Write);
  if (!transaction.ok()) return transaction.status();
  if (absl::Status status = act(transaction->get()); !status.ok()) return status;
  return commit(*transaction);
}

// Makes the tables and the description of an empty checkpoint, in one transaction, unless they are there.
absl::Status LmdbTable::open_tables(bool blank) {
  absl::StatusOr<Transaction> begun =
      Transaction::begin(environment_, blank ? Transaction::Access::Write : Transaction::Access::Read);
  if (!begun.ok()) return begun.status();
  const unsigned flags = blank ? MDB_CREATE : 0;
  int error = ::mdb_dbi_open(begun->get(), kCheckpointTables[0], flags, &meta_);
  for (size_t i = 0; error == 0 && i < rows_.size(); ++i) {
    error = ::mdb_dbi_open(begun->get(), kCheckpointTables[1 + i], flags, &rows_[i]);
  }
  if (error == MDB_NOTFOUND || error == MDB_INCOMPATIBLE) return foreign_checkpoint();
  if (error != 0) return lmdb_status(error, "make its tables");
  if (blank) {
    if (absl::Status status = put_checkpoint(begun->get(), {.store = store_}); !status.ok()) return status;
  }
  return commit(*begun);
}

absl::StatusOr<CheckpointSnapshot> LmdbTable::newest() const {
  const absl::StatusOr<LmdbMeta> meta = reader_->newest();
  if (absl::IsNotFound(meta.status())) return rotten("its file is empty");
  if (!meta.ok()) return meta.status();
  absl::StatusOr<CheckpointSnapshot> found = read_snapshot(*reader_, *meta);
  if (absl::IsNotFound(found.status())) return rotten("its tables are missing");
  return found;
}

// A transaction that pins the pages of `meta`.
absl::StatusOr<Transaction> LmdbTable::begin_read(LmdbMeta& meta) const {
  constexpr int kTries = 100;  // two commits between the transaction's beginning and the look at its first page
  for (int i = 0; i < kTries; ++i) {
    std::unique_lock lock = map_.reading();
    absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Read);
    lock.unlock();
    if (!transaction.ok()) return transaction.status();
    const absl::StatusOr<LmdbMeta> found = reader_->of(::mdb_txn_id(transaction->get()));
    if (found.ok()) {
      meta = *found;
      return transaction;
    }
    if (!absl::IsNotFound(found.status())) return found.status();
  }
  return absl::UnavailableError("the checkpoint changes too fast to be read");
}

absl::StatusOr<std::unique_ptr<CheckpointView>> LmdbTable::view() {
  std::unique_ptr<CheckpointView> made;
  absl::Status status = guarded([&]() -> absl::Status {
    LmdbMeta meta;
    absl::StatusOr<Transaction> transaction = begin_read(meta);
    if (!transaction.ok()) return transaction.status();
    absl::StatusOr<CheckpointSnapshot> found = read_snapshot(*reader_, meta);
    if (absl::IsNotFound(found.status())) return rotten("its tables are missing");
    if (!found.ok()) return found.status();
    made = std::make_unique<LmdbView>(shared_from_this(), *std::move(transaction), *found);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return made;
}

absl::Status LmdbTable::scrub(LmdbReader::Pace pace) {
  absl::StatusOr<std::unique_ptr<CheckpointView>> pinned = view();
  if (!pinned.ok()) return pinned.status();
  return static_cast<const LmdbView&>(**pinned).verify(pace);
}

// LMDB reports a short write as an input/output error; on a nearly full disk, at the end of a quota, or where files may hardly
// grow, it means that room ran out.
absl::Status LmdbTable::commit(Transaction& transaction) {
  const int error = transaction.commit();
  files_.note_growth();
  map_.release();
  if (error == EIO) {
    absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path_);
    absl::Status room = files.ok() ? (*files)->room_for(kNearlyFull) : files.status();
    if (lacks_room(room)) return until_room(std::move(room));
    rlimit most = {};
    const bool limited = ::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    if (limited && most.rlim_cur < files_.data_bytes() + kNearlyFull) return lmdb_status(EFBIG, "commit");
  }
  return lmdb_status(error, "commit");
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

// Checks what the transaction is going to read, before LMDB reads it through its map.
absl::Status LmdbTable::check_ways(const CheckpointBatch& batch) const {
  const absl::StatusOr<CheckpointSnapshot> now = newest();
  if (!now.ok()) return now.status();
  if (absl::Status status = reader_->check_base(now->meta); !status.ok()) return status;
  LmdbReader::Way way(*reader_, now->meta, now->rows(now->checkpoint.live));
  for (const CheckpointBatch::Row& row : batch.rows) {
    const auto change = row.value ? LmdbReader::Way::Change::Put : LmdbReader::Way::Change::Erase;
    if (absl::Status status = way.check(row.key, change); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LmdbTable::write(const CheckpointBatch& batch) {
  return guarded([&] {
    if (absl::Status status = check_ways(batch); !status.ok()) return status;
    return write_checked(batch);
  });
}

absl::Status LmdbTable::write_checked(const CheckpointBatch& batch) {
  return change([&](MDB_txn* txn) { return write_rows(txn, batch); });
}

// The new file has another name until it is whole and durable; the old one stays open for existing views.
absl::StatusOr<std::shared_ptr<LmdbTable>> LmdbTable::replace_with(const Options& options, const CheckpointBatch& whole) {
  if (::mkdir(options.path.c_str(), kStateDirectoryMode) != 0 && errno != EEXIST) {
    return until_room(errno_status(errno, "cannot create directory " + options.path));
  }
  if (absl::Status status = sync_name(options.path); !status.ok()) return until_room(std::move(status));
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(options.path);
  if (!files.ok()) return files.status();
  if (absl::Status status = remove_if_there(**files, kNewFile); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<LmdbTable>> table = open_file(options, kNewFile);
  if (!table.ok()) return table;
  if (absl::Status status = (*table)->fill(whole); !status.ok()) return status;
  absl::Status status = (*files)->rename(kNewFile, kCheckpointFile);
  if (status.ok()) status = (*files)->sync_dir();
  if (status.ok()) status = (*table)->renamed(options.path + "/" + std::string(kCheckpointFile));
  if (!status.ok()) return until_room(std::move(status));
  return table;
}

absl::Status LmdbTable::fill(const CheckpointBatch& whole) {
  return guarded([&]() -> absl::Status {
    CheckpointBatch step{.applied = whole.applied};
    size_t bytes = 0;
    for (const CheckpointBatch::Row& row : whole.rows) {
      if (!row.value) continue;
      bytes += row.value->size() + row.key.size();
      step.rows.push_back(row);
      if (bytes < kReplaceStep) continue;
      if (absl::Status status = write_checked(step); !status.ok()) return status;
      step.rows.clear();
      bytes = 0;
    }
    return write_checked(step);
  });
}

absl::Status LmdbTable::renamed(std::string data_path) {
  files_.renamed(std::move(data_path));
  return files_.note();
}

absl::Status LmdbTable::write_rows(MDB_txn* txn, const CheckpointBatch& batch) {
  absl::StatusOr<Checkpoint> meta = checkpoint(txn);
  if (!meta.ok()) return meta.status();
  const absl::StatusOr<Cursor> cursor = open_cursor(txn, rows(meta->live));
  if (!cursor.ok()) return cursor.status();
  for (const CheckpointBatch::Row& row : batch.rows) {
    if (absl::Status status = write_row(cursor->get(), row, meta->digest); !status.ok()) return status;
  }
  meta->applied = batch.applied;
  meta->origin = StateOrigin::Own;
  return put_checkpoint(txn, *meta);
}

absl::Status write_row(MDB_cursor* cursor, const CheckpointBatch::Row& row, RowDigest& digest) {
  if (row.key.empty() || row.key.size() > kStateKeyBytesMax) {
    return make_error(Reason::InvalidArgument, "a key of a checkpoint must have 1 to 64 bytes");
  }
  MDB_val key = to_val(row.key);
  MDB_val old = {};
  const int error = ::mdb_cursor_get(cursor, &key, &old, MDB_SET);
  if (error != 0 && error != MDB_NOTFOUND) return lmdb_status(error, "read a row");
  if (error == 0) {
    const absl::StatusOr<StoredValue> replaced = split(to_view(old));
    if (!replaced.ok()) return replaced.status();
    digest.remove(row.key, replaced->sum);
  }
  if (row.value) return put_row(cursor, row.key, *row.value, digest);
  return error == 0 ? lmdb_status(::mdb_cursor_del(cursor, 0), "erase a row") : absl::OkStatus();
}

absl::Status put_row(MDB_cursor* cursor, std::string_view key, std::string_view value, RowDigest& digest) {
  const uint64_t sum = value_sum(key, value);
  MDB_val k = to_val(key);
  MDB_val v = {kSumBytes + value.size(), nullptr};
  const int error = ::mdb_cursor_put(cursor, &k, &v, MDB_RESERVE);
  if (error != 0) return lmdb_status(error, "write a row");
  join(static_cast<char*>(v.mv_data), sum, value);
  digest.add(key, sum);
  return absl::OkStatus();
}

}  // namespace coordkit::storage
