// A second process of this very executable, started with other arguments: how the demo, the benchmark and the crash tests
// get real replicas. The parent writes lines to its standard input and reads lines from its standard output.
//
// Never outlives its parent: the destructor kills it, and the kernel does if the parent dies first. Only ever signalled by
// pid. Threads: one owner, which must be a thread that lives as long as the child (the kernel ties the child to it).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coordkit::support {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline in(std::chrono::steady_clock::duration limit) { return std::chrono::steady_clock::now() + limit; }

// CLOCK_MONOTONIC_RAW in nanoseconds: the same in every process of this machine.
int64_t machine_time_ns();

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

class Child {
 public:
  Child() = default;
  // Throws std::system_error when the kernel has no process to give.
  static Child start(const std::vector<std::string>& arguments);
  // Another program, found like a shell would. A missing one ends with status 127.
  static Child start_program(const std::string& program, const std::vector<std::string>& arguments);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child() { kill(); }

  bool running() const { return pid_ > 0; }  // started and not reaped
  pid_t pid() const { return pid_; }
  int output() const { return output_.get(); }  // non-blocking; readable to the end even after the child is gone

  // A line for its standard input. False: it no longer reads.
  bool send(std::string_view line);
  void close_input() { input_.reset(); }  // it reads the end
  // SIGSTOP, and returns when the kernel reports it stopped. False: it ended instead.
  bool freeze();
  void thaw() const;
  void kill();                                 // SIGKILL and reaped; its output can still be read
  std::optional<int> wait(Deadline deadline);  // its wait status if it ended in time

 private:
  pid_t pid_ = -1;
  Descriptor input_;
  Descriptor output_;
};

}  // namespace coordkit::support
