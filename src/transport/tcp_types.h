// The Asio types of this folder, narrow includes only.
#pragma once

#include <sys/ioctl.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>

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

// A program that the host starts inherits no socket: it may outlive the host, and would keep the port from the next one.
inline void close_on_exec(int socket) { ::ioctl(socket, FIOCLEX); }

}  // namespace coordkit::tcp
