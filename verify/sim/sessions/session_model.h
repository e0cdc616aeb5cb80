// The naive twin of the sessions: the opener of each, and its process, and those that change hands or are ended by another
// client (docs/semantics.md S-45, S-57). Their holds and waits are not known here.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lease/secret.h"
#include "machine/command.h"
#include "machine/result.h"

namespace coordkit::sim {

class SessionModel {
 public:
  struct Session {
    Duration ttl{};
    ReplicaId node;
    BootCounter boot;
    uint64_t incarnation = 0;  // of the node's disk
    Index opened;
    std::string metadata;
    lease::SecretHash secret;
    Generation generation;
    Index ending;  // since that entry; zero: it is not ending
    bool contested = false;
    Sequence resumed_by;
    Index resumed;
    std::vector<Token> held_then;  // taken over with it
  };

  // Ids come from the counter that tokens come from.
  explicit SessionModel(uint64_t& counter) : counter_(counter) {}

  machine::Result run(const machine::OpenSession& open, Index index);
  machine::Result resume(const machine::ResumeSession& resume, const RequestId& id, Index index);
  void set_held(SessionId id, std::vector<Token> tokens) { sessions_.at(id).held_then = std::move(tokens); }
  bool mark_ending(SessionId id, Index index);  // false: it is ending
  void end(SessionId id, Index index, bool expired);

  const Session* find(SessionId id) const;
  bool contains(SessionId id) const { return sessions_.contains(id); }
  bool due(SessionId id, Generation generation) const;
  // It lives, and the handle that opened it is still its own: one that went to another process is over for that handle, even
  // if it came back, to another one.
  bool never_resumed(SessionId id) const { return due(id, Generation()); }
  // Another process has taken it over at some time, whether it lives or not.
  bool ever_resumed(SessionId id) const { return resumed_.contains(id); }
  // Whether a request of this session is answered Lost: it belongs to another process now, or is ending and this is no release.
  bool lost_to_sender(const machine::Request& request, SessionId id, const RequestId& by) const;
  const std::map<SessionId, Session>& all() const { return sessions_; }
  std::vector<SessionId> alive_at(Index at) const;
  uint64_t expiries() const { return expiries_; }

 private:
  struct Life {
    SessionId id;
    Index from;
    Index until;  // zero: alive
  };

  uint64_t& counter_;
  std::map<SessionId, Session> sessions_;
  std::vector<Life> lives_;      // ascending ids
  std::set<SessionId> resumed_;  // living ones and others
  uint64_t expiries_ = 0;
};

}  // namespace coordkit::sim
