#include "transport/tcp_listener.h"

#include <boost/asio/ip/v6_only.hpp>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "transport/address.h"

namespace coordkit::tcp {

absl::Status Listener::bind(const std::string& listen) {
  if (acceptor_.is_open()) return absl::OkStatus();
  const absl::StatusOr<HostPort> address = split_address(listen);
  if (!address.ok()) return address.status();
  boost::system::error_code error;
  asio::ip::basic_resolver<Tcp, Executor> resolver(io_.get_executor());
  const auto found = resolver.resolve(address->host, address->port, asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    return make_error(Reason::InvalidArgument, "cannot listen on '" + listen + "': " + error.message());
  }
  const Tcp::endpoint first = *found.begin();
  // At every address one socket of IPv6 takes connections of both kinds; on a machine without IPv6 one of IPv4 does.
  if (address->host.empty()) listen_at(Tcp::endpoint(Tcp::v6(), first.port()), error);
  if (!address->host.empty() || error == asio::error::address_family_not_supported ||
      error == boost::system::errc::address_not_available) {
    listen_at(first, error);
  }
  if (error) {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    const std::string where = "cannot listen on '" + listen + "': ";
    if (error == asio::error::address_in_use) {
      return make_error(
          Reason::CannotListen,
          where + "port " + address->port + " is in use; stop the process that has it, or give this replica another port");
    }
    if (error == boost::system::errc::too_many_files_open) {
      return make_error(Reason::LimitExceeded, where + error.message() + " (raise the limit of open files)");
    }
    return make_error(Reason::CannotListen, where + error.message());
  }
  port_ = acceptor_.local_endpoint().port();
  return absl::OkStatus();
}

void Listener::listen_at(const Tcp::endpoint& endpoint, boost::system::error_code& error) {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) close_on_exec(acceptor_.native_handle());
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6())
    acceptor_.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
}

void Listener::begin(const std::shared_ptr<void>& owner, Welcome welcome) {
  welcome_ = std::move(welcome);
  accept(owner);
}

void Listener::accept(const std::shared_ptr<void>& owner) {
  acceptor_.async_accept([this, owner](const auto& error, Socket socket) {
    if (closed_) return;
    if (!error) {
      accept(owner);  // first: an out-of-memory failure for this connection then affects only it
      return welcome_(std::move(socket));
    }
    // Out of descriptors or the like: an immediate retry will not help.
    again_.expires_after(retry_);
    again_.async_wait([this, owner](const auto& cancelled) {
      if (!cancelled && !closed_) accept(owner);
    });
  });
}

void Listener::close() {
  closed_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  again_.cancel();
}

}  // namespace coordkit::tcp
