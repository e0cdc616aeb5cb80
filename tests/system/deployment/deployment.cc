#include "tests/system/deployment/deployment.h"

#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tools/support/loopback.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // only a hang takes that long

support::Child start_here(int, const std::string& program, const std::vector<std::string>& arguments) {
  return support::Child::start_program(program, arguments);
}

}  // namespace

Deployment::Deployment(size_t machines) : Deployment(support::free_loopback_addresses(machines), start_here) {}

// Directly below the system's temporary directory: the path of a socket has 107 bytes at most.
Deployment::Deployment(std::vector<std::string> addresses, Starter starter)
    : addresses_(std::move(addresses)), starter_(std::move(starter)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "deployment.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  folder_ = pattern;
}

Deployment::~Deployment() {
  processes_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Deployment::start(int id, const std::vector<int>& members) {
  members_[id] = members;
  std::vector<std::string> arguments = {std::to_string(id), directory(id), socket(id)};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  for (const int member : members) arguments.push_back(address(member));
  processes_[id] = starter_(id, DEPLOYMENT_MEMBER, arguments);
  lines_.add(id, processes_[id].output());
  return answer(id);
}

void Deployment::stop(int id) {
  if (ask(id, "quit") != "bye") throw std::runtime_error("machine " + std::to_string(id) + " did not close well");
  processes_.at(id).wait(support::in(kPatience));
  forget(id);
}

void Deployment::kill(int id) {
  processes_.at(id).kill();
  forget(id);
}

void Deployment::forget(int id) {
  lines_.remove(id);  // its descriptor number may be reused
  answers_.erase(id);
  processes_.erase(id);
}

std::string Deployment::answer(int id) {
  std::deque<std::string>& answers = answers_[id];
  while (answers.empty()) {
    const std::optional<support::Line> line = lines_.next(support::in(kPatience));
    if (!line) return "silent";
    answers_[line->from].push_back(line->ended ? "dead" : line->text);
  }
  std::string first = std::move(answers.front());
  answers.pop_front();
  return first;
}

Ran Deployment::coordctl(int id, const std::string& words) const {
  return run_command(shell_word(COORDCTL) + " --socket " + shell_word(socket(id)) + " " + words + " 2>&1");
}

std::string Deployment::status_of(int id, const std::string& what) const {
  std::istringstream lines(coordctl(id, "status").text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(what + " ")) continue;
    const size_t value = line.find_first_not_of(' ', what.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

bool Deployment::wait_for(int id, const std::string& what, const std::string& value) const {
  const support::Deadline end = support::in(kPatience);
  while (status_of(id, what) != value) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

int Deployment::leader() const {
  for (const auto& [id, process] : processes_) {
    const std::string leader = status_of(id, "leader");
    if (!leader.empty() && leader != "none") return std::stoi(leader);
  }
  return 0;
}

}  // namespace coordkit::testkit
