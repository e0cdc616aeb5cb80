// The transport of links between remotes and gateways: the one of the members (TcpTransport), in a network of its own. Its ends
// have another cluster id than the members, and another secret. So neither is admitted by the other.
//
// In this network every gateway has the same id, kGateway: a remote is content with any of them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/operate/security.h"
#include "coordkit/transport/tcp_transport.h"
#include "service/loop/arrivals.h"
#include "service/remotes/link_arrivals.h"

namespace coordkit {

using LinkSecurity = std::variant<std::monostate, PlainText, SharedSecret>;

inline constexpr ReplicaId kGateway{kRemoteBit - 1};

// OK, or the sentence for the operator. `option`: its name.
absl::Status check(const LinkSecurity& security, std::string_view option);

class LinkTransport {
 public:
  // `io`: the thread that it shares; null: it has its own.
  LinkTransport(TcpOptions options, const LinkSecurity& security, boost::asio::io_context* io);

  absl::Status bind() { return transport_->bind(); }
  // `self`: kGateway, or a remote's origin.
  absl::Status start(const std::string& cluster, const Origin& self, Arrivals& arrivals);
  void dial(const std::string& address);  // from now on the gateway is there
  void send(std::vector<std::pair<ReplicaId, Frame>> frames);
  TcpCounters counters() const { return transport_->counters(); }
  void close() { transport_->close(); }  // nothing is reported any more; the counters stay

 private:
  std::unique_ptr<LinkArrivals> sink_;  // before the transport, which reports to it
  std::unique_ptr<TcpTransport> transport_;
  std::vector<std::pair<ReplicaId, std::vector<Frame>>> batches_;  // of the current turn
};

}  // namespace coordkit
