// Another client of a fake's cluster: one session that takes locks, waits for them and gives them back. Its commands go
// straight to the replica, past the link of the process under test. So do the commands of an administrator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "coordkit/engine/engine.h"
#include "machine/command.h"

namespace coordkit::testkit {

class OtherClient {
 public:
  using Done = std::function<void(const machine::Result&)>;

  explicit OtherClient(std::function<void(Submit)> submit) : submit_(std::move(submit)) {}

  void open_session(const Engine& replica);
  // Called after the replica crashed: its holds continue, and its waiters queue again.
  void resume_session();

  void command(const machine::Request& request, Done done = {});
  void completed(const Completion& completion);
  void replica_crashed() { commands_.clear(); }

  void take(const std::string& lock, LockMode mode);
  bool has(const std::string& lock) const;
  void give_back(const std::string& lock);

 private:
  struct Wanted {
    LockMode mode = LockMode::Exclusive;
    Token token;  // zero: the client waits
  };
  void acquire(const std::string& lock, LockMode mode);
  void release(const std::string& lock, Token token);

  const std::function<void(Submit)> submit_;
  uint64_t last_ticket_ = 0;
  std::map<Ticket, Done> commands_;
  SessionId session_;
  std::map<std::string, Wanted> wanted_;  // the locks that it holds or for which it waits
};

}  // namespace coordkit::testkit
