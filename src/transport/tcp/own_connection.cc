#include "transport/tcp/own_connection.h"

namespace coordkit::tcp {

bool reset_own_connection(Socket& socket) {
  boost::system::error_code error;
  const Tcp::endpoint local = socket.local_endpoint(error);
  if (error) return false;  // ended meanwhile: the first read reports it
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error || local != remote) return false;
  socket.set_option(asio::socket_base::linger(true, 0), error);  // a reset instead of the closing handshake
  socket.close(error);
  return true;
}

}  // namespace coordkit::tcp
