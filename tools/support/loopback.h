// Free addresses on this machine for replicas that a program or test starts by itself.
#pragma once

#include <string>
#include <vector>

namespace coordkit::support {

// `count` different "127.0.0.1:port" on which no one listens now. The ports lie below those the kernel gives to outgoing
// connections, so that a restarted replica finds its port still free. Processes start searching at different places, so that
// tests that run side by side do not collide. Throws std::runtime_error when there are none.
std::vector<std::string> free_loopback_addresses(size_t count);

}  // namespace coordkit::support
