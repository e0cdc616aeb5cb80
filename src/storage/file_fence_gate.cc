// A fence gate in a file: two slots on different pages, written in turn, so that a torn write spoils only the slot whose
// state was not acknowledged to anyone yet.
//
// A slot, little-endian: magic "ckfence1", write number, highest, last_exclusive (u64 each), XXH3-64 of these 32 bytes with
// the slot's offset as seed. Slots at 0 and 4096; the file ends with the second. Of two valid slots the higher write number
// counts. A new file gets slot 0 synced, then slot 1, before the gate answers any call.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/error.h"
#include "coordkit/fence.h"
#include "lock/fence_refusal.h"
#include "storage/posix_file_system.h"

namespace coordkit {
namespace {

constexpr std::string_view kMagic = "ckfence1";
constexpr size_t kSlotBytes = 40;
constexpr uint64_t kSlotStride = 4096;
constexpr mode_t kGateFileMode = 0640;

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

// A file whose creation was interrupted: the second slot blank, and the first too except for part of its first write. No call
// was ever answered from it, and no foreign file looks like it.
bool unfinished(std::string_view first, std::string_view second) {
  const auto blank = [](char byte) { return byte == 0; };
  const std::string whole = encode(Slot{0, {}});
  for (size_t i = 0; i < first.size(); ++i) {
    if (!blank(first[i]) && first[i] != whole[i]) return false;
  }
  return std::ranges::all_of(second, blank);
}

absl::Status write(File& file, const Slot& slot) {
  if (absl::Status status = file.pwrite(offset_of(slot.number), encode(slot)); !status.ok()) return status;
  return file.sync();
}

// Makes both slots valid and returns the newer one.
absl::StatusOr<Slot> recover(File& file) {
  std::array<std::string, 2> bytes;
  std::array<std::optional<Slot>, 2> slots;
  for (const uint64_t which : {0, 1}) {
    absl::StatusOr<std::string> read = file.pread(which * kSlotStride, kSlotBytes);
    if (!read.ok()) return read.status();
    bytes[which] = *std::move(read);
    slots[which] = decode(bytes[which], which * kSlotStride);
  }
  if (slots[0] && slots[1]) return slots[0]->number > slots[1]->number ? *slots[0] : *slots[1];
  if (!slots[0] && !slots[1]) {
    if (!unfinished(bytes[0], bytes[1])) {
      return make_error(Reason::Corrupt, "not the file of a fence gate, or both of its slots are unreadable");
    }
    if (absl::Status status = write(file, Slot{0, {}}); !status.ok()) return status;
    slots[0] = Slot{0, {}};
  }
  const Slot intact = slots[0] ? *slots[0] : *slots[1];
  const Slot mended{intact.number + 1, intact.state};
  if (absl::Status status = write(file, mended); !status.ok()) return status;
  return mended;
}

}  // namespace

struct FileFenceGate::Rep {
  storage::Descriptor lock;  // holds the flock, if any
  std::unique_ptr<File> file;
  mutable std::mutex mutex;
  Slot slot;            // the state, durable
  absl::Status failed;  // the first failed write or sync
};

FileFenceGate::FileFenceGate(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
FileFenceGate::~FileFenceGate() = default;

absl::StatusOr<std::unique_ptr<FileFenceGate>> FileFenceGate::over(std::unique_ptr<File> file) {
  absl::StatusOr<Slot> slot = recover(*file);
  if (!slot.ok()) return slot.status();
  auto rep = std::make_unique<Rep>();
  rep->file = std::move(file);
  rep->slot = *slot;
  return std::unique_ptr<FileFenceGate>(new FileFenceGate(std::move(rep)));
}

absl::StatusOr<std::unique_ptr<FileFenceGate>> FileFenceGate::open(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty()) return make_error(Reason::InvalidArgument, "a fence gate needs the path of a file, not of a directory");
  storage::Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kGateFileMode));
  if (!lock) return storage::errno_status(errno, "cannot open the fence gate " + path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return storage::errno_status(errno, "cannot lock the fence gate " + path);
    return make_error(Reason::InUse, "the fence gate " + path + " is open already; share that one or use another file");
  }
  auto files = storage::PosixFileSystem::open(directory);
  if (!files.ok()) return files.status();
  absl::StatusOr<std::unique_ptr<File>> file = (*files)->open(name, OpenMode::ReadWrite);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<FileFenceGate>> gate = over(*std::move(file));
  if (!gate.ok()) return gate.status();
  if (absl::Status status = (*files)->sync_dir(); !status.ok()) return status;
  (*gate)->rep_->lock = std::move(lock);
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
