// A host of its own: a network namespace with one interface, whose packets are read and written here instead of on a wire.
//
// Nothing outside of it is touched, nothing of it has a name on this machine, and the kernel removes it when the last
// process in it and this object are gone, however they end. Needs Linux, /dev/net/tun and either CAP_SYS_ADMIN and
// CAP_NET_ADMIN or permission to create user namespaces.
#pragma once

#include <string>

#include "tools/support/child.h"

namespace coordkit::testkit {

class NetworkHost {
 public:
  // 10.77.0.`number`, in a network with all others that are connected with it. Threads: one that lives as long as the
  // process, and before the process has others. Throws std::system_error, naming what is not permitted.
  explicit NetworkHost(int number);

  int packets() const { return tun_.get(); }  // one whole IP packet per read and per write; does not block
  static std::string ip(int number) { return "10.77.0." + std::to_string(number); }

  // While it lives, sockets that this thread opens and processes that it starts are on that host. /proc/sys/net is that host's.
  class Inside {
   public:
    explicit Inside(const NetworkHost& host);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    support::Descriptor home_;
  };

 private:
  support::Descriptor namespace_;
  support::Descriptor tun_;
};

}  // namespace coordkit::testkit
