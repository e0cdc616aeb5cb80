// The parts of one replica, created: those of the host's factories, and built-in ones for all others.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/problems.h"
#include "coordkit/ports/parts.h"
#include "coordkit/replica.h"
#include "coordkit/transport/tcp_transport.h"
#include "replica/shell/remote_listener.h"

namespace coordkit {

struct MadeParts {
  std::unique_ptr<Transport> transport;
  TcpTransport* tcp = nullptr;               // the same, if it is the built-in one: bound to its port
  std::shared_ptr<SecureChannels> channels;  // of it, if there are certificates
  std::unique_ptr<RemoteListener> remotes;   // none: not wanted
  std::unique_ptr<LogStore> log;
  std::unique_ptr<StateStore> state;
};

// `network`: the thread that the built-in transport shares; null: it has its own.
absl::StatusOr<MadeParts> make_parts(const ReplicaOptions& options, std::shared_ptr<DataDirectory> directory,
                                     boost::asio::io_context* network);

// Where this replica listens.
std::string own_address(const ReplicaOptions& options);

// Reports what is wrong with the parts, and with options that only the built-in ones understand.
void check_parts(const ReplicaOptions& options, Problems& problems);

}  // namespace coordkit
