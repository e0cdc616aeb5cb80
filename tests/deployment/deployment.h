// Real processes with directories and admin sockets of their own, handled as an operator would: started, stopped, killed, and
// spoken to through coordctl.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"

namespace coordkit::testing {

class Deployment {
 public:
  // How the process of machine `id` is started, for who does not want it right here.
  using Starter = std::function<support::Child(int id, const std::string& program, const std::vector<std::string>& arguments)>;

  explicit Deployment(size_t machines);  // addresses on this machine for so many; nothing runs yet
  Deployment(std::vector<std::string> addresses, Starter starter);
  ~Deployment();

  // Words like "--election-ms=1000" for every process that is started from now on: member/main.cc.
  void set_options(std::vector<std::string> options) { options_ = std::move(options); }

  // A process on machine `id`, told that the members are `members`. Answers "opened", or "refused ..." with why it does not
  // run.
  std::string start(int id, const std::vector<int>& members);
  std::string start(int id) { return start(id, members_.at(id)); }  // as before
  void stop(int id);                                                // as a service manager does, and waits
  void kill(int id);                                                // SIGKILL
  // Says a line to it and gives the answer; "dead" if it ended instead.
  std::string ask(int id, const std::string& line) { return tell(id, line) ? answer(id) : "dead"; }
  // The same in two steps, so that several are at work at once. False: it has ended.
  bool tell(int id, const std::string& line) { return processes_.at(id).send(line); }
  std::string answer(int id);

  Ran coordctl(int id, const std::string& words) const;
  // Until `coordctl status` of it has this line ("state", "Ready"); false: not in a minute.
  bool wait_for(int id, const std::string& what, const std::string& value) const;
  bool wait_ready(int id) const { return wait_for(id, "state", "Ready"); }
  std::string status_of(int id, const std::string& what) const;  // the value of that line; empty: there is none

  std::filesystem::path directory(int id) const { return folder_ / ("machine-" + std::to_string(id)); }
  void lose_disk(int id) const { std::filesystem::remove_all(directory(id)); }
  const std::string& address(int id) const { return addresses_.at(static_cast<size_t>(id - 1)); }
  int leader() const;  // as the first that runs says; 0: nobody

 private:
  std::string socket(int id) const { return (folder_ / ("admin-" + std::to_string(id))).string(); }
  void forget(int id);

  std::filesystem::path folder_;
  std::vector<std::string> addresses_;
  Starter starter_;
  std::vector<std::string> options_;
  std::map<int, std::deque<std::string>> answers_;  // that nobody has asked for yet
  std::map<int, support::Child> processes_;
  std::map<int, std::vector<int>> members_;
  support::LineReader lines_;
};

}  // namespace coordkit::testing
