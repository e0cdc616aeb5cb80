#include "replica/shell/peer_transport.h"

#include <algorithm>
#include <new>

#include "coordkit/engine/wire.h"
#include "coordkit/error.h"
#include "coordkit/transport/secure_channel.h"

namespace coordkit {

PeerTransport::PeerTransport(std::unique_ptr<Transport> transport, TcpTransport* tcp, std::shared_ptr<SecureChannels> channels)
    : transport_(std::move(transport)), tcp_(tcp), channels_(std::move(channels)) {}

absl::Status PeerTransport::start(const Hello& self, std::vector<Peer> peers, TransportSink& sink) {
  return transport_->start(self, std::move(peers), sink);
}

// Without memory for them messages are lost, as on any network: the engines repeat what matters.
void PeerTransport::send(const std::vector<Outbound>& sends, Meter& meter) {
  try {
    encode(sends, meter);
  } catch (const std::bad_alloc&) {
  }
  for (auto& [peer, frames] : frames_) {
    if (!frames.empty()) transport_->send(peer, std::exchange(frames, {}));
  }
}

void PeerTransport::encode(const std::vector<Outbound>& sends, Meter& meter) {
  MessageEncoder encoder;  // of these alone: what is sent again is encoded again
  for (const Outbound& outbound : sends) {
    auto peer = std::find_if(frames_.begin(), frames_.end(), [&](auto& one) { return one.first == outbound.to; });
    if (peer == frames_.end()) peer = frames_.insert(peer, {outbound.to, {}});
    meter.sent(peer->second.emplace_back(Frame{lane_of(outbound.message), encoder.encode(outbound.message)}));
  }
}

std::optional<TcpCounters> PeerTransport::counters() const { return tcp_ != nullptr ? tcp_->counters() : tcp_counters_; }

absl::Status PeerTransport::reload_tls() {
  if (channels_ == nullptr) return make_error(Reason::Unsupported, "security is not Tls: there are no certificates to read");
  return channels_->reload();
}

void PeerTransport::close() {
  transport_->close();
  if (tcp_ != nullptr) tcp_counters_ = std::exchange(tcp_, nullptr)->counters();
}

void PeerTransport::release() { transport_.reset(); }

}  // namespace coordkit
