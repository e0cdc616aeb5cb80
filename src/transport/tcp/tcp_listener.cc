#include "transport/tcp/tcp_listener.h"

#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "transport/tcp/address.h"

namespace coordkit::tcp {
namespace {

// If the system lacks a resource, the error names that, whatever its purpose was.
absl::Status refused(const std::string& where, const boost::system::error_code& error, Reason otherwise) {
  const std::string text = where + error.message();
  switch (error.value()) {
    case EMFILE:
    case ENFILE: return make_error(Reason::LimitExceeded, text + " (raise the limit of open files)");
    case ENOMEM:
    case ENOBUFS: return make_error(Reason::LimitExceeded, text + " (give the process more memory)");
    case ENOSYS: return make_error(Reason::Unsupported, text + " (this kernel cannot do it)");
    case EPERM: return make_error(Reason::PermissionDenied, text + " (a policy forbids it, a seccomp filter for instance)");
    default: return make_error(otherwise, text);
  }
}

}  // namespace

absl::Status Listener::bind(const std::string& listen) {
  if (acceptor_.is_open()) return absl::OkStatus();
  const absl::StatusOr<HostPort> address = split_address(listen);
  if (!address.ok()) return address.status();
  const StandardStreamsKept kept;  // the name service and Asio open descriptors
  boost::system::error_code error;
  asio::ip::basic_resolver<Tcp, Executor> resolver(io_.get_executor());
  const auto found = resolver.resolve(address->host, address->port, asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    return refused("cannot listen on '" + listen + "': ", error, Reason::InvalidArgument);
  }
  const Tcp::endpoint first = *found.begin();
  // At every address one socket of IPv6 takes connections of both kinds. On a machine without IPv6 a socket of IPv4 is used.
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
    return refused(where, error, Reason::CannotListen);
  }
  port_ = acceptor_.local_endpoint().port();
  return absl::OkStatus();
}

void Listener::listen_at(const Tcp::endpoint& endpoint, boost::system::error_code& error) {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  protocol_ = endpoint.protocol();
  error = open_above_streams(acceptor_, protocol_);
  if (!error) acceptor_.non_blocking(true, error);
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

// Asio would give the connection any number.
void Listener::accept(const std::shared_ptr<void>& owner) {
  acceptor_.async_wait(Acceptor::wait_read, [this, owner](const auto&) {
    if (!closed_) take(owner);
  });
}

void Listener::take(const std::shared_ptr<void>& owner) {
  Descriptor made = accept_from(acceptor_.native_handle());
  const int error = errno;
  if (made || error == EAGAIN || error == ECONNABORTED) {
    accept(owner);  // first: an out-of-memory failure for this connection then affects only it
    if (!made) return;
    Socket socket(io_.get_executor());
    boost::system::error_code failed;
    socket.assign(protocol_, made.get(), failed);
    if (failed) return;
    made.release();
    return welcome_(std::move(socket));
  }
  // The system lacks descriptors or the like: an immediate retry will not help.
  again_.expires_after(retry_);
  again_.async_wait([this, owner](const auto& cancelled) {
    if (!cancelled && !closed_) accept(owner);
  });
}

void Listener::close() {
  closed_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  again_.cancel();
}

}  // namespace coordkit::tcp
