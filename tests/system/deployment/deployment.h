// Real processes with their own directories and admin sockets, handled as an operator would: started, stopped, killed, and
// controlled through coordctl.
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

namespace coordkit::testkit {

class Deployment {
 public:
  // How the process of machine `id` is started, for callers that do not want it started right here.
  using Starter = std::function<support::Child(int id, const std::string& program, const std::vector<std::string>& arguments)>;

  explicit Deployment(size_t machines);  // addresses on this machine for this many; nothing runs yet
  Deployment(std::vector<std::string> addresses, Starter starter);
  ~Deployment();

  // Words like "--election-ms=1000" for every process that is started from now on: member/main.cc.
  void set_options(std::vector<std::string> options) { options_ = std::move(options); }

  // A process on machine `id`, given `members` as the members. Returns "opened", or "refused ..." with why it does not
  // run.
  std::string start(int id, const std::vector<int>& members);
  std::string start(int id) { return start(id, members_.at(id)); }  // as before
  void stop(int id);                                                // as a service manager does, and waits
  void kill(int id);                                                // SIGKILL
  // Sends it a line and returns the answer; "dead" if it ended instead.
  std::string ask(int id, const std::string& line) { return tell(id, line) ? answer(id) : "dead"; }
  // The same in two steps, so that several work at once. False: it has ended.
  bool tell(int id, const std::string& line) { return processes_.at(id).send(line); }
  std::string answer(int id);

  Ran coordctl(int id, const std::string& words) const;
  // Waits until its `coordctl status` has this line ("state", "Ready"); false: not within a minute.
  bool wait_for(int id, const std::string& what, const std::string& value) const;
  bool wait_ready(int id) const { return wait_for(id, "state", "Ready"); }
  std::string status_of(int id, const std::string& what) const;  // the value of that line; empty: there is none

  std::filesystem::path directory(int id) const { return folder_ / ("machine-" + std::to_string(id)); }
  void lose_disk(int id) const { std::filesystem::remove_all(directory(id)); }
  const std::string& address(int id) const { return addresses_.at(static_cast<size_t>(id - 1)); }
  int leader() const;  // as reported by the first running one; 0: none

 private:
  std::string socket(int id) const { return (folder_ / ("admin-" + std::to_string(id))).string(); }
  void forget(int id);

  std::filesystem::path folder_;
  std::vector<std::string> addresses_;
  Starter starter_;
  std::vector<std::string> options_;
  std::map<int, std::deque<std::string>> answers_;  // not asked for yet
  std::map<int, support::Child> processes_;
  std::map<int, std::vector<int>> members_;
  support::LineReader lines_;
};

}  // namespace coordkit::testkit
