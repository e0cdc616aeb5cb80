#include "tools/coordctl/interruption.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

namespace coordkit::coordctl {
namespace {

constexpr timeval kLastWord = {.tv_sec = 5, .tv_usec = 0};

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t told_socket = -1;

void note(int) {
  interrupted = 1;
  if (told_socket < 0) return;
  const int error = errno;
  ::setsockopt(told_socket, SOL_SOCKET, SO_RCVTIMEO, &kLastWord, sizeof kLastWord);
  ::shutdown(told_socket, SHUT_WR);
  errno = error;
}

}  // namespace

// Without SA_RESTART: a wait for the answer begins again, with the timeout.
Interruption::Interruption(int socket) {
  interrupted = 0;
  told_socket = socket;
  struct sigaction noted = {};
  noted.sa_handler = note;
  noted.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Before before{.signal = signal};
    ::sigaction(signal, nullptr, &before.action);
    if (before.action.sa_handler == SIG_DFL && ::sigaction(signal, &noted, nullptr) == 0) before_.push_back(before);
  }
}

Interruption::~Interruption() {
  for (const Before& before : before_) ::sigaction(before.signal, &before.action, nullptr);
  told_socket = -1;
}

bool Interruption::noted() const { return interrupted != 0; }

}  // namespace coordkit::coordctl
