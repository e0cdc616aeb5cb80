#include "coordkit/transport/tcp_transport.h"

namespace coordkit {

using std::chrono::milliseconds;

absl::Status TcpOptions::validate() const {
  const auto invalid = [](const char* sentence) { return absl::InvalidArgumentError(sentence); };
  if (listen.empty()) return invalid("listen is empty; write host:port, for example 0.0.0.0:7400");
  if (frame_bytes_max < 1024 || frame_bytes_max > (1u << 30)) return invalid("frame_bytes_max must be 1 KiB to 1 GiB");
  if (bulk_frames_max == 0 || life_frames_max == 0 || offline_frames_max == 0) return invalid("a queue needs room for a frame");
  if (unsent_bytes_max > (1u << 30)) return invalid("unsent_bytes_max must be at most 1 GiB; 0 means no bound");
  if (strangers_max == 0 || strangers_per_address_max == 0) return invalid("without room for strangers nobody can connect");
  if (hello_timeout < milliseconds(10)) return invalid("hello_timeout must be at least 10 ms");
  if (idle_timeout < milliseconds(10)) return invalid("idle_timeout must be at least 10 ms");
  if (redial_min < milliseconds(1) || redial_max < redial_min) return invalid("redial_min must be 1 ms to redial_max");
  return absl::OkStatus();
}

std::string advice(ReplicaId peer, ReplicaId self, CloseReason reason, CloseReason peers_reason) {
  const std::string them = "replica " + std::to_string(peer.value());
  const bool told = reason == CloseReason::RefusedByPeer;
  const std::string subject = told ? "replica " + std::to_string(self.value()) : them;
  const std::string says = told ? them + " says: " : "";
  switch (told ? peers_reason : reason) {
    case CloseReason::TwoIncarnations:
    case CloseReason::OlderIncarnation:
      return says + "two processes act as " + subject + " (a copied data directory, or an old process): stop the wrong one";
    case CloseReason::OtherCluster:
      return says + subject +
             " belongs to another cluster of the same name: correct its address, or replace its data directory";
    case CloseReason::OtherClusterName:
      return says + subject + " names its cluster differently: correct the name or the address";
    case CloseReason::WrongReceiver:
      return says + "somebody else answers at the address of " + (told ? them : subject) + ": correct it";
    case CloseReason::NoCommonProtocol:
      return says + subject + " speaks no protocol version that this one knows: upgrade the older";
    case CloseReason::UnknownSender: return says + subject + " is not known there, and there is no room for guests";
    default: return {};
  }
}

std::string_view name(CloseReason reason) {
  switch (reason) {
    case CloseReason::None: return "none";
    case CloseReason::Ended: return "ended";
    case CloseReason::DialFailed: return "dial failed";
    case CloseReason::Local: return "closed here";
    case CloseReason::BadMagic: return "bad magic";
    case CloseReason::BadVersion: return "bad version";
    case CloseReason::BadKind: return "bad kind";
    case CloseReason::BadHeaderSum: return "bad header sum";
    case CloseReason::Oversize: return "oversize";
    case CloseReason::BadSum: return "bad sum";
    case CloseReason::BadHello: return "bad hello";
    case CloseReason::OtherClusterName: return "other cluster name";
    case CloseReason::WrongReceiver: return "wrong receiver";
    case CloseReason::UnknownSender: return "unknown sender";
    case CloseReason::OtherCluster: return "other cluster";
    case CloseReason::NoCommonProtocol: return "no common protocol";
    case CloseReason::HelloTimeout: return "hello timeout";
    case CloseReason::Crowded: return "crowded";
    case CloseReason::Idle: return "idle";
    case CloseReason::Replaced: return "replaced";
    case CloseReason::OlderIncarnation: return "older incarnation";
    case CloseReason::TwoIncarnations: return "two incarnations";
    case CloseReason::UnexpectedFrame: return "unexpected frame";
    case CloseReason::IdentityChanged: return "identity changed";
    case CloseReason::RefusedByPeer: return "refused by peer";
    case CloseReason::LetGo: return "let go";
    case CloseReason::Count: break;
  }
  return "unknown";
}

}  // namespace coordkit
