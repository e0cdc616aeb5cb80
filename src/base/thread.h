// The threads of this library: each begins here. A host lends its process to a guest, so each thread
//
//  - blocks every signal but the synchronous ones, which belong to the instruction that raised them, and SIGPROF, by which
//    profilers count. The kernel delivers a signal of the host's to a thread of the host's;
//  - has a name, coordkit/..., which top, gdb and /proc/self/task/*/comm show;
//  - passes an exception that leaves its body to `on_thrown`.
//
// A process that a thread starts, and a thread that it makes, inherit the blocked signals.
#pragma once

#include <pthread.h>

#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace coordkit {

class ThreadName {
 public:
  consteval ThreadName(const char* text) : text_(text) {  // NOLINT(google-explicit-constructor): a literal is a name
    if (!std::string_view(text).starts_with("coordkit/") || std::string_view(text).size() > 15) {
      throw "a thread is called coordkit/..., and the kernel keeps 15 characters";
    }
  }
  const char* text() const { return text_; }

 private:
  const char* text_;
};

// The process cannot start another thread.
struct UnstartedThread : std::system_error {
  using std::system_error::system_error;
};

class Thread {
 public:
  using Body = absl::AnyInvocable<void()>;
  // Called on the thread, within the handler of the exception that left the body; what_was_thrown() describes it. It must
  // throw nothing. The thread ends afterwards.
  using OnThrown = absl::AnyInvocable<void()>;

  Thread() = default;
  // Throws UnstartedThread. Without `on_thrown` an exception ends the process.
  Thread(ThreadName name, Body body, OnThrown on_thrown = nullptr) {
    const SignalsHeld held;  // the thread begins with them blocked
    try {
      thread_ = std::thread(
          [name, body = std::move(body), on_thrown = std::move(on_thrown)]() mutable { live(name, body, on_thrown); });
    } catch (const std::system_error& error) {
      throw UnstartedThread(error.code(), "cannot start a thread");
    }
  }

  // Starts a thread without an object for it.
  static void detached(ThreadName name, Body body, OnThrown on_thrown = nullptr) {
    Thread(name, std::move(body), std::move(on_thrown)).thread_.detach();
  }

  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  std::thread::id get_id() const { return thread_.get_id(); }

 private:
  // The signals that the kernel sends a thread for its own actions, and SIGPROF. If one of the former were blocked, the
  // kernel would end the process without calling the host's handler.
  static constexpr int kNotBlocked[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};

  static sigset_t blocked() {
    sigset_t set;
    ::sigfillset(&set);
    for (const int signal : kNotBlocked) ::sigdelset(&set, signal);
    return set;
  }

  // Blocks signals on the thread that makes another one, for as long as that takes.
  class SignalsHeld {
   public:
    SignalsHeld() {
      const sigset_t set = blocked();
      ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    }
    ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

   private:
    sigset_t before_ = {};
  };

  static void live(ThreadName name, Body& body, OnThrown& on_thrown) {
    const sigset_t set = blocked();  // and no others, whatever signals the thread that made this one has blocked
    ::pthread_sigmask(SIG_SETMASK, &set, nullptr);
    ::pthread_setname_np(::pthread_self(), name.text());
    try {
      body();
    } catch (...) {
      if (!on_thrown) throw;
      on_thrown();
    }
  }

  std::thread thread_;
};

}  // namespace coordkit
