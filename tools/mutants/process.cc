#include "tools/mutants/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <thread>

namespace coordkit::mutants {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(10);
constexpr auto kGrace = std::chrono::seconds(20);  // between SIGTERM and SIGKILL: the simulator ends its run first

// Between fork and exec. This process has one thread, so every call is allowed here.
[[noreturn]] void become(const Job& job, std::vector<char*>& arguments, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int nothing = open("/dev/null", O_RDONLY);
  if (getppid() != parent || log < 0 || nothing < 0) _exit(kNotFound);
  if (dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(kNotFound);
  for (const auto& [name, value] : job.environment) setenv(name.c_str(), value.c_str(), 1);
  execv(job.program.c_str(), arguments.data());
  _exit(kNotFound);
}

pid_t start(const Job& job) {
  std::vector<std::string> words = {job.program.string()};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) become(job, pointers, parent);
  return pid;
}

std::optional<int> ended_before(pid_t pid, Clock::time_point deadline) {
  for (;;) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

int run_to_end(const Job& job) {
  const pid_t pid = start(job);
  if (const std::optional<int> status = ended_before(pid, Clock::now() + job.limit)) return *status;
  kill(pid, SIGTERM);
  if (!ended_before(pid, Clock::now() + kGrace)) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  return kTimedOut;
}

}  // namespace coordkit::mutants
