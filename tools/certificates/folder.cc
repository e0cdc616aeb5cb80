#include "tools/certificates/folder.h"

#include <stdexcept>

#include "tls/names.h"

namespace coordkit::support {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReplicasMax = 1000;

struct AuthorityFiles {
  explicit AuthorityFiles(const fs::path& folder) : certificate(folder / "authority.pem"), key(folder / "authority.key") {}
  bool exist() const { return fs::exists(certificate); }  // the key is written first
  TestAuthority load() const { return TestAuthority::load(certificate, key); }

  const fs::path certificate, key;
};

// Only one former authority stays trusted, and that has to be the one of the certificates in use.
void refuse_unless_signed(const FolderOrder& order, X509* authority) {
  for (uint64_t id = 1; id <= order.replicas; ++id) {
    const fs::path file = tls_of(order.folder, id).certificate;
    if (!fs::exists(file) || has_signed(authority, read_certificate(file).get())) continue;
    throw std::runtime_error(file.string() +
                             " is not signed by the newest authority yet, and would not be trusted any more:"
                             " load authority.pem everywhere, and run this with the folder alone first");
  }
}

void make_authority(const FolderOrder& order, const AuthorityFiles& files) {
  std::string previous;
  if (files.exist()) {
    const std::shared_ptr<X509> authority = read_certificate(files.certificate);
    refuse_unless_signed(order, authority.get());
    previous = pem_of(authority.get());
  }
  const TestAuthority fresh("coordkit authority of " + order.cluster, {order.valid.from, 10 * order.valid.until});
  write_file(files.key, fresh.key(), true);
  write_file(files.certificate, fresh.certificate() + previous);
}

struct Members {
  std::string cluster = {};
  uint64_t highest = 0;
};

Members members_in(const fs::path& folder) {
  Members found;
  for (uint64_t id = 1; id <= kReplicasMax; ++id) {
    const fs::path file = tls_of(folder, id).certificate;
    if (!fs::exists(file)) continue;
    const auto owner = tls::identity_of(*read_certificate(file), {});
    if (!owner || owner->replica != ReplicaId(id)) {
      throw std::runtime_error(file.string() + " is no certificate of replica " + std::to_string(id) + ": name another folder");
    }
    if (found.highest > 0 && owner->cluster != found.cluster) {
      throw std::runtime_error(folder.string() + " has certificates of the clusters '" + found.cluster + "' and '" +
                               owner->cluster + "': give each a folder of its own");
    }
    found = {owner->cluster, id};
  }
  return found;
}

// Parts that the order leaves open are as they were, and parts that it states have to agree with that.
FolderOrder completed(FolderOrder order) {
  const Members found = members_in(order.folder);
  const bool renews = found.highest > 0;
  if (order.cluster.empty()) order.cluster = renews ? found.cluster : "demo";
  if (order.replicas == 0) order.replicas = renews ? found.highest : 3;
  const std::string holds = order.folder.string() + " has certificates of cluster '" + found.cluster +
                            "' for the replicas 1 to " + std::to_string(found.highest);
  if (renews && order.cluster != found.cluster) {
    throw std::runtime_error(holds + ", not of '" + order.cluster + "': name another folder");
  }
  if (order.replicas < found.highest) {
    throw std::runtime_error(holds + ", not " + std::to_string(order.replicas) + ": all are renewed together");
  }
  return order;
}

}  // namespace

FolderOrder make_certificates(FolderOrder wanted) {
  const FolderOrder order = completed(std::move(wanted));
  if (order.cluster.size() > 255) throw std::runtime_error("a cluster's name has 1 to 255 bytes");
  if (order.replicas > kReplicasMax) throw std::runtime_error("replicas must be 1 to 1000");
  fs::create_directories(order.folder);
  const AuthorityFiles files(order.folder);
  const bool takes_turns = order.new_authority && files.exist();
  if (files.exist() && !takes_turns && !fs::exists(files.key)) {
    throw std::runtime_error(files.key.string() +
                             " is missing: put it back, or make another authority with --new-authority, beside which the"
                             " former stays trusted");
  }
  if (order.new_authority || !files.exist()) make_authority(order, files);
  if (takes_turns) return order;
  const TestAuthority authority = files.load();
  for (uint64_t id = 1; id <= order.replicas; ++id) {
    const IssuedCertificate issued = authority.issue({.common_name = "replica " + std::to_string(id),
                                                      .uris = {certificate_uri({order.cluster, ReplicaId(id)})},
                                                      .valid = order.valid});
    const Tls own = tls_of(order.folder, id);
    write_file(own.key, issued.key, true);
    write_file(own.certificate, issued.certificate);
  }
  return order;
}

Tls tls_of(const fs::path& folder, uint64_t replica) {
  const std::string id = std::to_string(replica);
  return {.certificate = folder / (id + ".pem"), .key = folder / (id + ".key"), .authority = folder / "authority.pem"};
}

}  // namespace coordkit::support
