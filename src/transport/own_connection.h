// A socket that is connected with itself. Linux makes such a connection when a port is dialed at which nothing listens and the
// kernel has picked that very port for the dialing socket: the port lies in net.ipv4.ip_local_port_range, and both ends are on
// one host. Closed as usual, the connection would keep the port in TIME-WAIT for a minute, and the replica that is meant to
// listen there could not.
#pragma once

#include "transport/tcp_types.h"

namespace coordkit::tcp {

// Closes the socket and frees its port at once if it is connected with itself; then true.
bool reset_own_connection(Socket& socket);

}  // namespace coordkit::tcp
