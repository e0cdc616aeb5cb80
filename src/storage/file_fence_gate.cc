// A fence gate in a file: two slots on different pages, written in turn, so that a torn write spoils only the slot whose
// state was not acknowledged to anyone yet.
//
// A slot, little-endian: magic "ckfence1", write number, highest, last_exclusive (u64 each), XXH3-64 of these 32 bytes with
// the slot's offset as seed. Slots at 0 and 4096; the file ends with the second. If both slots are valid, the higher write
// number counts. A file gets its name with both slots written and synced, so one without a readable slot was spoiled.
#include <algorithm>
#include <array>
#include <utility>

#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/error.h"
#include "coordkit/locks/fence.h"
#include "lock/fence_refusal.h"
#include "storage/data_files.h"
#include "storage/posix_file_system.h"

namespace coordkit {
namespace {

constexpr std::string_view kMagic = "ckfence1";
constexpr size_t kSlotBytes = 40;
constexpr uint64_t kSlotStride = 4096;

struct Slot {
  uint64_t number = 0;  // of the write; slot number % 2
  FenceState state;
};

uint64_t offset_of(uint64_t number) { return number % 2 * kSlotStride; }

std::string encode(const Slot& slot) {
  std::string bytes(kMagic);
  bytes.resize(kSlotBytes);
  store_u64(&bytes[8], slot.number);
  store_u64(&bytes[16], slot.state.highest.value());
  store_u64(&bytes[24], slot.state.last_exclusive.value());
  store_u64(&bytes[32], hash_bytes(std::string_view(bytes).substr(0, 32), offset_of(slot.number)));
  return bytes;
}

// Nothing if these bytes were not written whole and in this place.
std::optional<Slot> decode(std::string_view bytes, uint64_t offset) {
  if (bytes.size() != kSlotBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  if (load_u64(&bytes[32]) != hash_bytes(bytes.substr(0, 32), offset)) return std::nullopt;
  const Slot slot{load_u64(&bytes[8]), {Token(load_u64(&bytes[16])), Token(load_u64(&bytes[24]))}};
  if (offset_of(slot.number) != offset || slot.state.last_exclusive > slot.state.highest) return std::nullopt;
  return slot;
}

// Makes an empty file one of a gate that has seen no token.
absl::Status fill(File& file) {
  std::string bytes = encode(Slot{0, {}});
  bytes.resize(kSlotStride);
  return file.pwrite(0, bytes + encode(Slot{1, {}}));
}

absl::Status write(File& file, const Slot& slot) {
  if (absl::Status status = file.pwrite(offset_of(slot.number), encode(slot)); !status.ok()) return status;
  return file.sync();
}

// Makes both slots valid, and the newer one, which is returned, durable: what was read may be in memory alone, because the
// process that wrote it was killed before its sync, or the sync failed. In its own place it cannot spoil the other one.
absl::StatusOr<Slot> recover(File& file) {
  std::array<std::optional<Slot>, 2> slots;
  for (const uint64_t which : {0, 1}) {
    const absl::StatusOr<std::string> read = file.pread(which * kSlotStride, kSlotBytes);
    if (!read.ok()) return read.status();
    slots[which] = decode(*read, which * kSlotStride);
  }
  if (!slots[0] && !slots[1]) {
    return make_error(Reason::Corrupt,
                      "not the file of a fence gate, or both of its slots are unreadable: the last admitted token is unknown, "
                      "so remove it only once no holder of an earlier token can still come");
  }
  const bool first = slots[0] && (!slots[1] || slots[0]->number > slots[1]->number);
  Slot newer = first ? *slots[0] : *slots[1];
  if (!slots[0] || !slots[1]) ++newer.number;  // into the place of the lost one
  if (absl::Status status = write(file, newer); !status.ok()) return status;
  return newer;
}

}  // namespace

struct FileFenceGate::Rep {
  std::unique_ptr<File> file;
  mutable std::mutex mutex;
  Slot slot;            // the state, durable
  absl::Status failed;  // the first failed write or sync
};

FileFenceGate::FileFenceGate(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
FileFenceGate::~FileFenceGate() = default;

absl::StatusOr<std::unique_ptr<FileFenceGate>> FileFenceGate::recovered(std::unique_ptr<File> file) {
  absl::StatusOr<Slot> slot = recover(*file);
  if (!slot.ok()) return slot.status();
  auto rep = std::make_unique<Rep>();
  rep->file = std::move(file);
  rep->slot = *slot;
  return std::unique_ptr<FileFenceGate>(new FileFenceGate(std::move(rep)));
}

absl::StatusOr<std::unique_ptr<FileFenceGate>> FileFenceGate::over(std::unique_ptr<File> file) {
  const absl::StatusOr<uint64_t> size = file->size();
  if (!size.ok()) return size.status();
  if (*size == 0) {
    if (absl::Status status = fill(*file); !status.ok()) return status;
    if (absl::Status status = file->sync(); !status.ok()) return status;
  }
  return recovered(std::move(file));
}

absl::StatusOr<std::unique_ptr<FileFenceGate>> FileFenceGate::open(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty()) return make_error(Reason::InvalidArgument, "a fence gate needs the path of a file, not of a directory");
  if (absl::Status status = storage::refuse_in_data_directory(path); !status.ok()) return status;
  auto files = storage::PosixFileSystem::open(directory);
  if (!files.ok()) return files.status();
  absl::StatusOr<std::unique_ptr<File>> file = (*files)->open_alone(name);
  if (absl::IsNotFound(file.status())) {
    absl::Status made = (*files)->make_file(name, fill);
    if (!made.ok() && !absl::IsAlreadyExists(made)) return made;  // or somebody else has just made it
    file = (*files)->open_alone(name);
  }
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<FileFenceGate>> gate = recovered(*std::move(file));
  if (!gate.ok()) return gate.status();
  if (absl::Status status = (*files)->sync_dir(); !status.ok()) return status;
  return gate;
}

absl::Status FileFenceGate::admit(Token token, FenceMode mode) {
  const std::scoped_lock guard(rep_->mutex);
  if (!rep_->failed.ok()) return rep_->failed;
  if (absl::Status refusal = judge(rep_->slot.state, token, mode); !refusal.ok()) return refusal;
  const Slot next{rep_->slot.number + 1, rep_->slot.state.after(token, mode)};
  if (next.state == rep_->slot.state) return absl::OkStatus();
  rep_->failed = write(*rep_->file, next);
  if (rep_->failed.ok()) rep_->slot = next;
  return rep_->failed;
}

FenceState FileFenceGate::state() const {
  const std::scoped_lock guard(rep_->mutex);
  return rep_->slot.state;
}

}  // namespace coordkit
