// The Asio types of this folder, narrow includes only.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <chrono>

#include "base/descriptor.h"

namespace coordkit::tcp {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Executor = asio::io_context::executor_type;  // not type-erased: no indirection per operation
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;
using SteadyClock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;
using TimePoint = SteadyClock::time_point;

// A view of buffers that Asio may copy freely.
struct Buffers {
  const asio::const_buffer* first;
  const asio::const_buffer* last;
  const asio::const_buffer* begin() const { return first; }
  const asio::const_buffer* end() const { return last; }
};

// Opens the socket with a number from 3 on (descriptor.h). No program that the host starts inherits it: such a program may
// outlive the host, and would keep the port from the next host process.
template <typename Kind>
boost::system::error_code open_above_streams(Kind& socket, const Tcp& protocol) {
  boost::system::error_code error;
  Descriptor made = open_socket(protocol.family(), protocol.type(), protocol.protocol());
  if (!made) return {errno, boost::system::system_category()};
  socket.assign(protocol, made.get(), error);
  if (!error) made.release();
  return error;
}

}  // namespace coordkit::tcp
