// Sockets of loopback for peers whose protocols are spoken here: blocking, without delay. All throw std::system_error.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tools/support/child.h"

namespace coordkit::bench {

// Addresses are "127.0.0.1:port".
support::Descriptor accept_at(const std::string& address);   // the first who connects
support::Descriptor connect_to(const std::string& address);  // as soon as a server listens, within a minute

void send_all(int socket, std::string_view bytes);
// What has come, at least one byte; 0: the other side is gone.
size_t receive_some(int socket, std::span<char> into);

}  // namespace coordkit::bench
