#include "service/remotes/link_transport.h"

#include <algorithm>

#include "base/sums.h"
#include "coordkit/error.h"
#include "transport/secure/proof.h"
#include "transport/tcp/tcp_transport_asio.h"

namespace coordkit {
namespace {

// Both ends know it, so that each counts the other as one of its own. It proves no more than the cluster's name does: the
// secret proves the rest.
ClusterId network_of(const std::string& cluster) {
  uint64_t sum = 0x72656d6f7465;  // "remote"
  for (const char letter : cluster) sum = hash_mix(sum, static_cast<uint8_t>(letter));
  return ClusterId(sum | 1);  // not zero
}

TcpOptions with_secret(TcpOptions options, const LinkSecurity& security) {
  if (const auto* shared = std::get_if<SharedSecret>(&security)) options.secret = shared->secret;
  options.guests_max = 0;  // all others have to show that they know the cluster
  return options;
}

}  // namespace

absl::Status check(const LinkSecurity& security, std::string_view option) {
  if (std::holds_alternative<std::monostate>(security)) {
    return make_error(Reason::InvalidArgument, std::string(option) +
                                                   " is not chosen: give it a SharedSecret that no member has, or PlainText{} "
                                                   "in a network that no stranger can reach");
  }
  const auto* shared = std::get_if<SharedSecret>(&security);
  if (shared == nullptr) return absl::OkStatus();
  if (shared->secret.size() >= kSecretBytesMin && shared->secret.size() <= kSecretBytesMax) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    std::string(option) +
                        ": the SharedSecret is not 16 to 1024 bytes long: draw it at random, for example with openssl rand "
                        "-hex 32");
}

LinkTransport::LinkTransport(TcpOptions options, const LinkSecurity& security, boost::asio::io_context* io) {
  TcpOptions tcp = with_secret(std::move(options), security);
  transport_ = io != nullptr ? make_tcp_transport(std::move(tcp), *io) : std::make_unique<TcpTransport>(std::move(tcp));
}

absl::Status LinkTransport::start(const std::string& cluster, const Origin& self, Arrivals& arrivals) {
  sink_ = std::make_unique<LinkArrivals>(arrivals);
  const Hello hello{
      .cluster_name = cluster, .from = self.replica, .store = self.store, .boot = self.boot, .cluster = network_of(cluster)};
  return transport_->start(hello, {}, *sink_);
}

void LinkTransport::dial(const std::string& address) { transport_->set_peers({{.id = kGateway, .address = address}}); }

void LinkTransport::send(std::vector<std::pair<ReplicaId, Frame>> frames) {
  std::ranges::stable_sort(frames, {}, &std::pair<ReplicaId, Frame>::first);
  for (auto& [to, frame] : frames) {
    if (batches_.empty() || batches_.back().first != to) batches_.emplace_back(to, std::vector<Frame>());
    batches_.back().second.push_back(std::move(frame));
  }
  for (auto& [to, batch] : batches_) transport_->send(to, std::move(batch));
  batches_.clear();
}

}  // namespace coordkit
