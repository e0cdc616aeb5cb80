#include "tests/system/integration/network_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

namespace coordkit::testkit {
namespace {

using support::Descriptor;

constexpr char kInterface[] = "wire0";

[[noreturn]] void refuse(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

Descriptor here() {
  Descriptor found(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (found.get() < 0) refuse("/proc/thread-self/ns/net");
  return found;
}

// Without privileges: in our own user namespace we have them, over networks created from now on. The network to which this
// thread returns must be among these.
void become_privileged() {
  const std::string user = std::to_string(::getuid());
  const std::string group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) refuse("neither network nor user namespaces may be made");
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
  std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
}

// This thread is in a new network afterwards; returns its old network, to which it may return.
Descriptor leave_for_a_new_network() {
  Descriptor home = here();
  if (::setns(home.get(), CLONE_NEWNET) != 0) {  // to where it is: may it return?
    if (errno != EPERM) refuse("setns");
    become_privileged();
    home = here();
  }
  if (::unshare(CLONE_NEWNET) != 0) refuse("a network namespace");
  return home;
}

void go(const Descriptor& network) {
  if (::setns(network.get(), CLONE_NEWNET) != 0) refuse("setns");
}

ifreq request(const char* interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  return request;
}

void set_address(int socket, unsigned long what, const std::string& ip) {
  ifreq with_address = request(kInterface);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  std::memcpy(&with_address.ifr_addr, &address, sizeof address);
  if (::ioctl(socket, what, &with_address) != 0) refuse("the address " + ip);
}

void set_up(int socket, const char* interface) {
  ifreq up = request(interface);
  up.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket, SIOCSIFFLAGS, &up) != 0) refuse(std::string("the interface ") + interface);
}

Descriptor make_wire() {
  Descriptor tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (tun.get() < 0) refuse("/dev/net/tun");
  ifreq wire = request(kInterface);
  wire.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(tun.get(), TUNSETIFF, &wire) != 0) refuse("a TUN device");
  return tun;
}

}  // namespace

NetworkHost::NetworkHost(int number) {
  const Descriptor home = leave_for_a_new_network();
  try {
    namespace_ = here();
    tun_ = make_wire();
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) refuse("a socket");
    set_address(socket.get(), SIOCSIFADDR, ip(number));
    set_address(socket.get(), SIOCSIFNETMASK, "255.255.255.0");
    set_up(socket.get(), kInterface);
    set_up(socket.get(), "lo");
  } catch (...) {
    go(home);
    throw;
  }
  go(home);
}

NetworkHost::Inside::Inside(const NetworkHost& host) : home_(here()) { go(host.namespace_); }

NetworkHost::Inside::~Inside() {
  if (::setns(home_.get(), CLONE_NEWNET) == 0) return;
  std::perror("NetworkHost: setns");  // this thread would continue in the wrong network
  std::abort();
}

}  // namespace coordkit::testkit
