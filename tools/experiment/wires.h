// The network between the processes of an experiment, which can be cut. Each process dials another one through a door of its
// own on loopback. Behind it this object passes bytes on to wherever that door leads at the moment, or nowhere.
//
// A cut ends the connections behind its doors, and a connection that is made while a door leads nowhere ends at once. Threads:
// one owner, and one of its own from the constructor to the destructor. Throws std::system_error for want of a socket.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/support/child.h"

struct pollfd;

namespace coordkit::experiment {

class Wires {
 public:
  // Doors from each of the processes 1 to `places` to each of the members 1 to `members`.
  Wires(int places, int members);
  ~Wires();
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  // The address that the process at `from` dials to reach `member`.
  std::string door(int from, int member) const;
  // From now on that door leads to this address of loopback, "127.0.0.1:port"; empty: nowhere.
  void lead(int from, int member, const std::string& address);
  uint64_t connected();  // so often

 private:
  struct Door {
    support::Descriptor listener;
    uint16_t port = 0;    // here
    uint16_t behind = 0;  // where it leads; zero: nowhere
  };
  // One direction: what was read and is not yet written.
  struct Flow {
    std::string bytes;
    bool wants_more() const;
  };
  struct Connection {
    const Door* door = nullptr;
    support::Descriptor dialed, reached;
    Flow there, back;
    bool over = false;
  };

  void carry();
  void wait(std::vector<pollfd>& ready);
  void accept(const Door& door);
  static bool pass(const support::Descriptor& from, Flow& flow, const support::Descriptor& to, short from_events);
  void wake() const;

  support::Descriptor waker_;
  std::mutex mutex_;  // over all below
  bool closing_ = false;
  std::map<std::pair<int, int>, Door> doors_;
  std::list<Connection> connections_;
  uint64_t connected_ = 0;
  std::thread thread_;
};

}  // namespace coordkit::experiment
