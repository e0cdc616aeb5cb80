#include "tools/support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

namespace coordkit::support {
namespace {

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

[[noreturn]] void raise(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) raise("pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const char* program, char* const* arguments, int input, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(127);
  execvp(program, arguments);
  _exit(127);
}

}  // namespace

int64_t machine_time_ns() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  reset();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Child Child::start(const std::vector<std::string>& arguments) { return start_program("/proc/self/exe", arguments); }

Child Child::start_program(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  Pipe to = make_pipe();
  Pipe from = make_pipe();
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0) raise("fork");
  if (pid == 0) become(program.c_str(), pointers.data(), to.reading.get(), from.writing.get(), self);

  Child child;
  child.pid_ = pid;
  child.input_ = std::move(to.writing);
  child.output_ = std::move(from.reading);
  fcntl(child.output_.get(), F_SETFL, O_NONBLOCK);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), input_(std::move(other.input_)), output_(std::move(other.output_)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  input_ = std::move(other.input_);
  output_ = std::move(other.output_);
  return *this;
}

bool Child::send(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  return write(input_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool Child::freeze() {
  if (!running() || ::kill(pid_, SIGSTOP) != 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status)) return true;
  pid_ = -1;
  return false;
}

void Child::thaw() const {
  if (running()) ::kill(pid_, SIGCONT);
}

void Child::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  input_.reset();
}

// There is no waitpid with a deadline; the end of its output is close enough to its own end to wait for that first.
std::optional<int> Child::wait(Deadline deadline) {
  char rest[4096];
  while (running()) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return status;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd output{output_.get(), POLLIN, 0};
    poll(&output, output_.get() >= 0 ? 1 : 0, static_cast<int>(std::min<int64_t>(left.count(), 10)));
    if (output.revents != 0 && read(output_.get(), rest, sizeof rest) == 0) output_.reset();
  }
  return std::nullopt;
}

}  // namespace coordkit::support
