// While it lives, what would end this process (SIGINT, SIGTERM, SIGHUP) is noted instead: what is being made is given up, and
// the command says how it ended. A second signal ends the process. An ignored signal, as by nohup, stays ignored.
//
// Threads: one of these at a time.
#pragma once

#include <csignal>
#include <vector>

namespace coordkit::coordctl {

class Interruption {
 public:
  // Over `socket`, if there is one, this end says nothing more once it is interrupted, and has five seconds to hear the answer.
  explicit Interruption(int socket = -1);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool noted() const;

 private:
  struct Before {
    int signal = 0;
    struct sigaction action = {};
  };
  std::vector<Before> before_;
};

}  // namespace coordkit::coordctl
