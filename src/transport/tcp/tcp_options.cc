#include "base/problems.h"
#include "coordkit/transport/tcp_transport.h"
#include "transport/secure/proof.h"

namespace coordkit {

using std::chrono::milliseconds;

absl::Status TcpOptions::validate() const {
  Problems problems;
  if (frame_bytes_max < 1024 || frame_bytes_max > (1u << 30)) problems.add("frame_bytes_max is not between 1 KiB and 1 GiB");
  if (bulk_frames_max == 0) problems.add("bulk_frames_max is 0: give the queue room for one frame at least");
  if (control_frames_max == 0) problems.add("control_frames_max is 0: give the queue room for one frame at least");
  if (offline_frames_max == 0) problems.add("offline_frames_max is 0: give the queue room for one frame at least");
  if (unsent_bytes_max > (1u << 30)) problems.add("unsent_bytes_max is above 1 GiB: give it less, or 0 for no bound");
  if (unverified_max == 0) problems.add("unverified_max is 0, so no peer can connect: give it 1 at least");
  if (unverified_per_address_max == 0)
    problems.add("unverified_per_address_max is 0, so no peer can connect: give it 1 at least");
  if (!secret.empty() && (secret.size() < kSecretBytesMin || secret.size() > kSecretBytesMax))
    problems.add("secret is not 16 to 1024 bytes long: draw it at random, for example with openssl rand -hex 32");
  if (unproven_bytes_per_second < 64 << 10) problems.add("unproven_bytes_per_second is below 64 KiB");
  if (resend_min < Duration::zero() || resend_min > milliseconds(200)) problems.add("resend_min is not between 0 and 200 ms");
  if (hello_timeout < milliseconds(10)) problems.add("hello_timeout is below 10 ms");
  if (idle_timeout < milliseconds(10)) problems.add("idle_timeout is below 10 ms");
  if (redial_min < milliseconds(1)) problems.add("redial_min is below 1 ms");
  if (redial_max < redial_min) problems.add("redial_max is below redial_min");
  return problems.status();
}

std::string advice(ReplicaId peer, ReplicaId self, CloseReason reason, CloseReason peers_reason) {
  const std::string them = "replica " + std::to_string(peer.value());
  const bool by_peer = reason == CloseReason::RefusedByPeer;
  const std::string subject = by_peer ? "replica " + std::to_string(self.value()) : them;
  const std::string says = by_peer ? them + " says: " : "";
  switch (by_peer ? peers_reason : reason) {
    case CloseReason::TwoIncarnations:
    case CloseReason::OlderIncarnation:
      return says + "two processes act as " + subject + " (a copied data directory, or an old process): stop the wrong one";
    case CloseReason::OtherCluster:
      return says + subject +
             " belongs to another cluster of the same name: correct its address, or replace its data directory";
    case CloseReason::OtherClusterName:
      return says + subject + " names its cluster differently: correct the name or the address";
    case CloseReason::WrongReceiver:
      return says + "another replica answers at the address of " + (by_peer ? them : subject) + ": correct it";
    case CloseReason::NoCommonProtocol:
      return says + subject + " speaks no protocol version that this one knows: upgrade the older";
    case CloseReason::NotProven:
      return says + subject +
             " does not show that it belongs to this cluster: another process pretends to be it, or its data directory belongs "
             "to another cluster: look at what runs there";
    case CloseReason::SecretDiffers: return says + subject + " has another secret: give every replica the same SharedSecret";
    case CloseReason::SecretMissing:
      return says + "only one of replica " + std::to_string(self.value()) + " and " + them +
             " has a SharedSecret: give every replica the same";
    case CloseReason::SpeaksPlainText:
      return says + subject + " speaks plain text, and TLS is wanted: give every replica the same kind of security";
    case CloseReason::SpeaksTls:
      return says + subject + " speaks TLS, and plain text is wanted: give every replica the same kind of security";
    case CloseReason::BadTls:
      if (!by_peer) return {};  // anything may listen there
      return says + subject +
             " sends what TLS 1.3 does not allow, or a certificate that is larger than 32 KiB: look at its files";
    case CloseReason::CertificateMissing: return says + subject + " shows no certificate: give it one of its own";
    case CloseReason::CertificateExpired:
      return says + "the certificate of " + subject + ", or of its authority, has expired: renew it there and reload";
    case CloseReason::CertificateNotYetValid:
      return says + "the certificate of " + subject + " is not valid yet: wait, or correct the clock that is wrong";
    case CloseReason::CertificateUnknownAuthority:
      return says + "the certificate of " + subject + " is signed by an authority that is not trusted " +
             (by_peer ? "there" : "here") + ": give every replica a file with all authorities in use";
    case CloseReason::CertificateOtherCluster:
      return says + "the certificate of " + subject + " names another cluster: give it its own, or correct the address";
    case CloseReason::CertificateOtherReplica:
      return says + "the certificate of " + subject + " names another replica: give it its own, or correct the address";
    case CloseReason::CertificateRefused:
      return says + "the certificate of " + subject +
             " is of no use: it names no replica, or two; lacks serverAuth or clientAuth; is larger than 32 KiB with those "
             "behind it; has a weak key; is damaged; or is not valid yet: issue another one";
    case CloseReason::UnknownSender: return says + subject + " is not known there, and there is no room for guests";
    default: return {};
  }
}

std::string_view obstacle(CloseReason reason) {
  switch (reason) {
    case CloseReason::DialFailed: return "nothing listens there: start the replica, or correct its address";
    case CloseReason::HelloTimeout:
      return "nothing there answers in time: check whether a firewall drops the packets, or the process hangs";
    case CloseReason::Idle:
      return "the connection is open, and nothing comes over it: check whether the network is cut, or the process hangs";
    case CloseReason::BadTls: return "the process that listens there does not speak coordkit over TLS 1.3: correct the address";
    case CloseReason::BadMagic:
    case CloseReason::BadVersion:
    case CloseReason::BadKind:
    case CloseReason::BadHello: return "the process that listens there does not speak coordkit's protocol: correct the address";
    default: return {};
  }
}

}  // namespace coordkit
