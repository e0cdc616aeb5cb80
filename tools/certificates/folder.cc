#include "tools/certificates/folder.h"

#include <stdexcept>

namespace coordkit::support {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReplicasMax = 1000;

struct AuthorityFiles {
  explicit AuthorityFiles(const fs::path& folder) : certificate(folder / "authority.pem"), key(folder / "authority.key") {}
  bool exist() const { return fs::exists(certificate) && fs::exists(key); }
  TestAuthority load() const { return TestAuthority::load(certificate, key); }

  const fs::path certificate, key;
};

void make_authority(const FolderOrder& order, const AuthorityFiles& files) {
  const std::string previous = files.exist() ? files.load().certificate() : std::string();
  const TestAuthority fresh("coordkit authority of " + order.cluster, {order.valid.from, 10 * order.valid.until});
  write_file(files.key, fresh.key(), true);
  write_file(files.certificate, fresh.certificate() + previous);
}

}  // namespace

void make_certificates(const FolderOrder& order) {
  if (order.cluster.empty() || order.cluster.size() > 255) throw std::runtime_error("a cluster's name has 1 to 255 bytes");
  if (order.replicas == 0 || order.replicas > kReplicasMax) throw std::runtime_error("replicas must be 1 to 1000");
  fs::create_directories(order.folder);
  const AuthorityFiles files(order.folder);
  const bool takes_turns = order.new_authority && files.exist();
  if (order.new_authority || !files.exist()) make_authority(order, files);
  if (takes_turns) return;
  const TestAuthority authority = files.load();
  for (uint64_t id = 1; id <= order.replicas; ++id) {
    const IssuedCertificate issued = authority.issue({.common_name = "replica " + std::to_string(id),
                                                      .uris = {certificate_uri({order.cluster, ReplicaId(id)})},
                                                      .valid = order.valid});
    const Tls own = tls_of(order.folder, id);
    write_file(own.key, issued.key, true);
    write_file(own.certificate, issued.certificate);
  }
}

Tls tls_of(const fs::path& folder, uint64_t replica) {
  const std::string id = std::to_string(replica);
  return {.certificate = folder / (id + ".pem"), .key = folder / (id + ".key"), .authority = folder / "authority.pem"};
}

}  // namespace coordkit::support
