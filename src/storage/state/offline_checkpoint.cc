#include "storage/state/offline_checkpoint.h"

#include <utility>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {

absl::StatusOr<std::unique_ptr<OfflineCheckpoint>> OfflineCheckpoint::open(const std::string& path, StoreId store) {
  const auto made = [store](std::unique_ptr<LmdbReader> reader, const CheckpointSnapshot& snapshot) {
    return std::unique_ptr<OfflineCheckpoint>(new OfflineCheckpoint(std::move(reader), snapshot, store));
  };
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path);
  if (absl::IsNotFound(files.status())) return made(nullptr, {});
  if (!files.ok()) return files.status();
  if (absl::Status status = refuse_foreign_state_files(**files); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<File>> file = (*files)->open(kCheckpointFile, OpenMode::Read);
  if (absl::IsNotFound(file.status())) return made(nullptr, {});
  if (!file.ok()) return file.status();
  auto reader = std::make_unique<LmdbReader>(*std::move(file));
  const absl::StatusOr<LmdbMeta> meta = reader->newest();
  if (absl::IsNotFound(meta.status())) return made(nullptr, {});
  if (!meta.ok()) return meta.status();
  const absl::StatusOr<CheckpointSnapshot> found = read_snapshot(*reader, *meta);
  if (absl::IsNotFound(found.status())) return made(nullptr, {});
  if (!found.ok()) return found.status();
  if (found->checkpoint.store != store) {
    return make_error(Reason::ForeignData, "the state directory belongs to another data directory");
  }
  return made(std::move(reader), *found);
}

absl::Status OfflineCheckpoint::scan(std::string_view prefix, Visitor visit) const {
  if (reader_ == nullptr) return absl::OkStatus();
  return scan_live(
      *reader_, snapshot_, prefix, [prefix](std::string_view key) { return key.starts_with(prefix); }, visit);
}

absl::Status OfflineCheckpoint::scan_range(const KeyRange& range, Visitor visit) const {
  if (reader_ == nullptr) return absl::OkStatus();
  return scan_live(
      *reader_, snapshot_, first_key(range), [&range](std::string_view key) { return range.contains(key); }, visit);
}

absl::Status OfflineCheckpoint::verify() const {
  if (reader_ == nullptr) return absl::OkStatus();
  return verify_snapshot(*reader_, snapshot_, store_, [](size_t) { return true; });
}

}  // namespace coordkit::storage
