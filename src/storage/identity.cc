#include "storage/identity.h"

#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/error.h"

namespace coordkit::storage {
namespace {

constexpr std::string_view kMagic = "coordkit";
constexpr uint32_t kIdentityVersion = 1;
constexpr size_t kFixedBytes = 40;
constexpr size_t kIdentitySumBytes = 8;
constexpr std::string_view kName = "identity";
constexpr std::string_view kNewName = "identity.new";

}  // namespace

std::string encode(const Identity& identity) {
  std::string bytes(kFixedBytes, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  store_u32(bytes.data() + 8, kIdentityVersion);
  store_u32(bytes.data() + 12, static_cast<uint32_t>(identity.cluster.size()));
  store_u64(bytes.data() + 16, identity.store.value());
  store_u64(bytes.data() + 24, identity.boot.value());
  store_u64(bytes.data() + 32, identity.replica.value());
  bytes += identity.cluster;
  char sum[kIdentitySumBytes];
  store_u64(sum, hash_bytes(bytes));
  return bytes.append(sum, sizeof sum);
}

absl::StatusOr<Identity> decode_identity(std::string_view bytes) {
  const absl::Status rotten =
      make_error(Reason::Corrupt,
                 "the identity of the data directory is unreadable; restore the directory from a copy, or replace this member");
  if (bytes.size() < kFixedBytes + kIdentitySumBytes) return rotten;
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return make_error(Reason::ForeignData,
                      "the data directory holds an identity file that is not coordkit's; choose another directory");
  }
  if (load_u32(bytes.data() + 8) > kIdentityVersion) {
    return make_error(Reason::NewerFormat,
                      "the data directory was written by a newer version of coordkit: start a newer build on it");
  }
  const std::string_view summed = bytes.substr(0, bytes.size() - kIdentitySumBytes);
  const uint32_t cluster_bytes = load_u32(bytes.data() + 12);
  if (load_u64(bytes.data() + summed.size()) != hash_bytes(summed)) return rotten;
  if (cluster_bytes > kClusterBytesMax || kFixedBytes + cluster_bytes != summed.size()) return rotten;
  return Identity{.store = StoreId(load_u64(bytes.data() + 16)),
                  .boot = BootCounter(load_u64(bytes.data() + 24)),
                  .replica = ReplicaId(load_u64(bytes.data() + 32)),
                  .cluster = std::string(summed.substr(kFixedBytes))};
}

absl::StatusOr<Identity> load_identity(FileSystem& files) {
  absl::StatusOr<std::unique_ptr<File>> file = files.open(kName, OpenMode::Read);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> bytes = (*file)->pread(0, kFixedBytes + kClusterBytesMax + kIdentitySumBytes + 1);
  if (!bytes.ok()) return bytes.status();
  return decode_identity(*bytes);
}

absl::Status store_identity(FileSystem& files, const Identity& identity) {
  if (absl::Status status = files.remove(kNewName); !status.ok() && !absl::IsNotFound(status)) return status;
  absl::StatusOr<std::unique_ptr<File>> file = files.open(kNewName, OpenMode::CreateNew);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->pwrite(0, encode(identity));
  if (status.ok()) status = (*file)->sync();
  if (status.ok()) status = files.rename(kNewName, kName);
  if (status.ok()) status = files.sync_dir();
  return status;
}

}  // namespace coordkit::storage
