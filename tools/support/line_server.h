// One thread that answers lines over TCP on loopback: what the demo and the experiments put behind a lock. Requests of all
// connections are answered one after the other, so each answer's check and action are one step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tools/support/child.h"

namespace coordkit::support {

class LineServer {
 public:
  // A request without its line end gives an answer without one.
  explicit LineServer(std::function<std::string(const std::string& request)> answer) : answer_(std::move(answer)) {}

  // A port of the kernel's choice, or 0: there is none.
  uint16_t listen_on_loopback();
  // Serves until there is anything to read on standard input, or its end. False: the kernel refused to wait.
  bool serve_until_input();

 private:
  struct Connection {
    Descriptor socket;
    std::string rest;
  };
  void take_connection();
  bool serve(Connection& connection);  // false: the connection is over

  std::function<std::string(const std::string&)> answer_;
  Descriptor listener_;
  std::map<int, Connection> connections_;
};

// The other end. One thread.
class LineClient {
 public:
  // Throws std::system_error when no one listens there.
  explicit LineClient(uint16_t port);
  // The answer; nullopt: the server is gone.
  std::string ask(const std::string& request);

 private:
  Descriptor socket_;
};

}  // namespace coordkit::support
