#include "backup/backup_file.h"

#include <memory>
#include <utility>

#include "backup/path.h"
#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/error.h"
#include "storage/data_files.h"
#include "storage/identity.h"
#include "storage/posix_file_system.h"

namespace coordkit::backup {
namespace {

using storage::PosixFileSystem;

constexpr std::string_view kMagic = "coordbak";
constexpr uint32_t kBackupVersion = 1;
constexpr size_t kHeaderBytes = 88;  // then follow the cluster's name and a sum
constexpr size_t kSumBytes = 8;
constexpr size_t kChunkHeaderBytes = 16;
constexpr size_t kRowHeaderBytes = 8;
constexpr size_t kChunkBytes = 1 << 20;  // a larger row has a chunk of its own
constexpr size_t kValueBytesMax = 1 << 30;

absl::Status damaged(const std::string& file, std::string_view what) {
  return make_error(Reason::Corrupt, "the backup " + file + " is damaged: " + std::string(what) + "; use another copy of it");
}

uint64_t seed_of(uint64_t header_sum, uint64_t chunk) { return hash_mix(header_sum, chunk); }

struct Header {
  BackupHeader header;
  uint64_t sum = 0;
  uint64_t bytes = 0;
};

class Writer {
 public:
  Writer(File& file, const BackupHeader& header, Awaited awaited) : file_(file), awaited_(awaited), out_(encode(header)) {
    header_sum_ = load_u64(out_.data() + out_.size() - kSumBytes);
  }

  absl::Status add(std::string_view key, std::string_view value) {
    if (value.size() > kValueBytesMax) return make_error(Reason::LimitExceeded, "a row of more than 1 GiB fits no backup");
    if (!chunk_.empty() && chunk_.size() + kRowHeaderBytes + key.size() + value.size() > kChunkBytes) {
      if (absl::Status status = end_chunk(); !status.ok()) return status;
    }
    append_u32(chunk_, static_cast<uint32_t>(key.size()));
    append_u32(chunk_, static_cast<uint32_t>(value.size()));
    chunk_.append(key).append(value);
    ++rows_of_chunk_;
    digest_.add(key, value_sum(key, value));
    return absl::OkStatus();
  }

  absl::Status finish() {
    if (!chunk_.empty()) {
      if (absl::Status status = end_chunk(); !status.ok()) return status;
    }
    return end_chunk();  // an empty one ends the file
  }

  const RowDigest& digest() const { return digest_; }
  uint64_t bytes() const { return written_; }

 private:
  absl::Status end_chunk() {
    if (!awaited_()) return not_awaited();
    append_u32(out_, static_cast<uint32_t>(chunk_.size()));
    append_u32(out_, rows_of_chunk_);
    append_u64(out_, hash_bytes(chunk_, seed_of(header_sum_, ++chunks_)));
    out_ += chunk_;
    if (absl::Status status = file_.pwrite(written_, out_); !status.ok()) return status;
    written_ += out_.size();
    out_.clear();
    chunk_.clear();
    rows_of_chunk_ = 0;
    return absl::OkStatus();
  }

  File& file_;
  const Awaited awaited_;
  std::string out_;
  uint64_t header_sum_ = 0;
  std::string chunk_;
  uint32_t rows_of_chunk_ = 0;
  uint64_t chunks_ = 0;
  uint64_t written_ = 0;
  RowDigest digest_;
};

absl::StatusOr<BackupInfo> fill(File& file, const std::string& path, const BackupHeader& header, RowSource rows,
                                Awaited awaited) {
  Writer writer(file, header, awaited);
  absl::Status status = rows([&](std::string_view key, std::string_view value) { return writer.add(key, value); });
  if (status.ok()) status = writer.finish();
  if (!status.ok()) return status;
  if (writer.digest().value() != header.digest) {
    return make_error(Reason::Corrupt, "no backup " + path + " was made: the rows that were read do not match their digest");
  }
  return BackupInfo{.cluster = header.cluster,
                    .replica = header.replica,
                    .store = header.store,
                    .applied = header.applied,
                    .rows = writer.digest().rows,
                    .bytes = writer.bytes(),
                    .last_token = header.last_token,
                    .revision = header.revision};
}

// ---- reading

class Reader {
 public:
  Reader(const File& file, std::string path, uint64_t size) : file_(file), path_(std::move(path)), size_(size) {}

  absl::StatusOr<BackupInfo> run(RowVisitor visit) {
    if (absl::Status status = read_header(); !status.ok()) return status;
    for (bool more = true; more;) {
      absl::StatusOr<bool> next = read_chunk(visit);
      if (!next.ok()) return next.status();
      more = *next;
    }
    if (at_ != size_) return damaged(path_, "there are bytes behind its end");
    if (digest_.value() != found_.header.digest) return damaged(path_, "its rows do not match its digest");
    const BackupHeader& header = found_.header;
    return BackupInfo{.cluster = header.cluster,
                      .replica = header.replica,
                      .store = header.store,
                      .applied = header.applied,
                      .rows = digest_.rows,
                      .bytes = size_,
                      .last_token = header.last_token,
                      .revision = header.revision};
  }

 private:
  absl::StatusOr<std::string> take(uint64_t bytes, std::string_view what) {
    if (bytes > size_ - at_) return damaged(path_, "it ends within " + std::string(what));
    absl::StatusOr<std::string> taken = file_.pread(at_, bytes);
    if (!taken.ok()) return taken;
    if (taken->size() != bytes) return damaged(path_, "it ends within " + std::string(what));
    at_ += bytes;
    return taken;
  }

  absl::Status read_header() {
    if (size_ < kMagic.size()) return not_one();
    absl::StatusOr<std::string> fixed = file_.pread(0, kHeaderBytes);
    if (!fixed.ok()) return fixed.status();
    if (!fixed->starts_with(kMagic)) return not_one();
    if (fixed->size() >= 12 && load_u32(fixed->data() + 8) > kBackupVersion) {
      return make_error(Reason::NewerFormat,
                        "the backup " + path_ + " was written by a newer version of coordkit; use that version");
    }
    if (fixed->size() < kHeaderBytes) return damaged(path_, "it ends within its header");
    const uint32_t name_bytes = load_u32(fixed->data() + 12);
    if (name_bytes == 0 || name_bytes > storage::kClusterBytesMax) return damaged(path_, "its header has an impossible length");
    absl::StatusOr<std::string> whole = take(kHeaderBytes + name_bytes + kSumBytes, "its header");
    if (!whole.ok()) return whole.status();
    const std::string_view summed = std::string_view(*whole).substr(0, whole->size() - kSumBytes);
    found_.sum = load_u64(whole->data() + summed.size());
    if (found_.sum != hash_bytes(summed)) return damaged(path_, "its header does not match its sum");
    const char* at = whole->data();
    found_.header = {.cluster = std::string(summed.substr(kHeaderBytes)),
                     .replica = ReplicaId(load_u64(at + 16)),
                     .store = StoreId(load_u64(at + 24)),
                     .applied = {Index(load_u64(at + 32)), Term(load_u64(at + 40))},
                     .digest = load_u64(at + 48),
                     .last_token = Token(load_u64(at + 56)),
                     .revision = Revision(load_u64(at + 64))};
    return absl::OkStatus();
  }

  absl::Status not_one() const {
    return make_error(Reason::ForeignData, path_ + " is no backup of coordkit's: give a file that `backup` has made");
  }

  // False: this was the end.
  absl::StatusOr<bool> read_chunk(RowVisitor visit) {
    const std::string which = "chunk " + std::to_string(++chunks_);
    const absl::StatusOr<std::string> head = take(kChunkHeaderBytes, which);
    if (!head.ok()) return head.status();
    const uint32_t bytes = load_u32(head->data());
    const uint32_t rows = load_u32(head->data() + 4);
    const size_t bytes_max = rows == 1 ? kRowHeaderBytes + kStateKeyBytesMax + kValueBytesMax : kChunkBytes;
    if (bytes > bytes_max) return damaged(path_, which + " has an impossible length");
    const absl::StatusOr<std::string> chunk = take(bytes, which);
    if (!chunk.ok()) return chunk.status();
    if (load_u64(head->data() + 8) != hash_bytes(*chunk, seed_of(found_.sum, chunks_))) {
      return damaged(path_, which + " does not match its sum");
    }
    if (chunk->empty() && rows == 0) return false;
    if (absl::Status status = visit_rows(*chunk, rows, which, visit); !status.ok()) return status;
    return true;
  }

  absl::Status visit_rows(std::string_view chunk, uint32_t rows, const std::string& which, RowVisitor visit) {
    const auto malformed = [&] { return damaged(path_, which + " does not hold the rows that it should"); };
    for (uint32_t i = 0; i < rows; ++i) {
      if (chunk.size() < kRowHeaderBytes) return malformed();
      const uint64_t key_bytes = load_u32(chunk.data());
      const uint64_t value_bytes = load_u32(chunk.data() + 4);
      chunk.remove_prefix(kRowHeaderBytes);
      if (key_bytes == 0 || key_bytes > kStateKeyBytesMax || chunk.size() < key_bytes + value_bytes) return malformed();
      const std::string_view key = chunk.substr(0, key_bytes);
      const std::string_view value = chunk.substr(key_bytes, value_bytes);
      if (key <= last_key_) return malformed();
      last_key_ = key;
      digest_.add(key, value_sum(key, value));
      if (absl::Status status = visit(key, value); !status.ok()) return status;
      chunk.remove_prefix(key_bytes + value_bytes);
    }
    return chunk.empty() ? absl::OkStatus() : malformed();
  }

  const File& file_;
  const std::string path_;
  const uint64_t size_;
  uint64_t at_ = 0;
  Header found_;
  uint64_t chunks_ = 0;
  std::string last_key_;
  RowDigest digest_;
};

}  // namespace

std::string encode(const BackupHeader& header) {
  std::string bytes(kMagic);
  append_u32(bytes, kBackupVersion);
  append_u32(bytes, static_cast<uint32_t>(header.cluster.size()));
  for (const uint64_t value :
       {header.replica.value(), header.store.value(), header.applied.index.value(), header.applied.term.value(), header.digest,
        header.last_token.value(), header.revision.value(), uint64_t{0}, uint64_t{0}}) {
    append_u64(bytes, value);
  }
  bytes += header.cluster;
  append_u64(bytes, hash_bytes(bytes));
  return bytes;
}

absl::Status not_awaited() {
  return make_error(Reason::Cancelled, "the caller stopped waiting for this backup, and none was made");
}

absl::StatusOr<BackupInfo> write_backup(const std::string& file, const BackupHeader& header, RowSource rows, Awaited awaited) {
  const SplitPath path = split_path(file);
  if (path.name.empty()) return make_error(Reason::InvalidArgument, "'" + file + "' names no file to write the backup to");
  if (absl::Status status = storage::refuse_in_data_directory(file); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path.parent);
  if (!files.ok()) return files.status();
  if (!awaited()) return not_awaited();
  absl::StatusOr<BackupInfo> info = BackupInfo{};
  const absl::Status made = (*files)->make_file(path.name, [&](File& part) {
    info = fill(part, file, header, rows, awaited);
    return info.status();
  });
  return made.ok() ? info : made;
}

absl::StatusOr<BackupInfo> read_backup(const std::string& file, RowVisitor visit) {
  const SplitPath path = split_path(file);
  if (path.name.empty()) return make_error(Reason::InvalidArgument, "'" + file + "' names no backup");
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path.parent);
  if (!files.ok()) return files.status();
  absl::StatusOr<std::unique_ptr<File>> opened = (*files)->open(path.name, OpenMode::Read);
  if (!opened.ok()) return opened.status();
  const absl::StatusOr<uint64_t> size = (*opened)->size();
  if (!size.ok()) return size.status();
  return Reader(**opened, file, *size).run(visit);
}

}  // namespace coordkit::backup
