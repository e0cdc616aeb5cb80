#include "transport/secure/certified.h"

namespace coordkit {

CloseReason judge_certificate(const std::optional<CertifiedIdentity>& theirs, const Hello& self, ReplicaId expected) {
  if (!theirs) return CloseReason::CertificateRefused;
  if (theirs->cluster != self.cluster_name) return CloseReason::CertificateOtherCluster;
  const bool another = expected && theirs->replica != expected;
  return another || theirs->replica == self.from ? CloseReason::CertificateOtherReplica : CloseReason::NoReason;
}

bool names_certificate(CloseReason reason) {
  return reason >= CloseReason::CertificateMissing && reason <= CloseReason::CertificateRefused;
}

std::string certified_detail(CloseReason reason, const std::optional<CertifiedIdentity>& theirs) {
  if (!theirs) return {};
  if (reason != CloseReason::CertificateOtherCluster && reason != CloseReason::CertificateOtherReplica) return {};
  return " (it names replica " + std::to_string(theirs->replica.value()) + " of cluster '" + theirs->cluster + "')";
}

}  // namespace coordkit
