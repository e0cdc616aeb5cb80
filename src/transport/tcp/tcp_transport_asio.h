// A TcpTransport on someone else's io_context: network and engine on one thread. For src/replica and tests.
//
// Exactly one thread runs the io_context. start(), close() and destruction happen on that thread or while none runs it; the
// sink is called on it. send() from it writes at once, without switching threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "coordkit/transport/tcp_transport.h"

namespace coordkit {

std::unique_ptr<TcpTransport> make_tcp_transport(TcpOptions options, boost::asio::io_context& io);

}  // namespace coordkit
