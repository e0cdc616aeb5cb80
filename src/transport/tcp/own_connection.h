// A socket that is connected with itself. Linux can make such a connection when a port is dialed at which nothing listens. It
// happens if the kernel picks that very port for the dialing socket: the port is in net.ipv4.ip_local_port_range, and both
// ends are on one host. A usual close would keep the port in TIME-WAIT for a minute. The replica that should listen there
// could not.
#pragma once

#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

// If the socket is connected with itself, closes it, frees its port at once, and returns true.
bool reset_own_connection(Socket& socket);

}  // namespace coordkit::tcp
