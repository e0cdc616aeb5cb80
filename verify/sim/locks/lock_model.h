// The naive twin of the lock table: one flat list of claims, scanned as often as needed. docs/semantics.md S-36, S-38, S-40,
// S-46 to S-49, S-53 and S-58 nearly word for word; the machine's own table is never asked.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "machine/command.h"
#include "machine/result.h"

namespace coordkit::sim {

class LockModel {
 public:
  // An acquire that waits (no token) or holds, on one name or on several at once.
  struct Claim {
    SessionId session;
    std::string owner_tag;
    std::vector<NamedLock> names;
    RequestId request;
    Index since;  // of the entry that queued it, or granted it
    Token token;
    HoldTexts texts;
    bool timed = false;
    bool reentrant = false;
    Duration delay{};
    uint32_t count = 1;
    uint64_t releases = 0;
    uint64_t block = 0;  // S-58: its size; zero: not sticky. The following are for a hold
    Token first, last, newest;
    bool asked = false;
    bool renewed = false;  // the session changed hands, and still has the lock
    // May this be the current token of a local hold?
    bool covers(Token of) const { return block != 0 && first <= of && of <= last; }
    bool held() const { return static_cast<bool>(token); }
    bool same_owner(const Claim& other) const { return session == other.session && owner_tag == other.owner_tag; }
    const LockMode* mode_on(std::string_view name) const;  // null: not one of its names
    friend bool operator==(const Claim&, const Claim&) = default;
  };
  // How a wait ended.
  struct Ended {
    RequestId request;
    machine::Result result;
  };

  // Tokens and the numbers of delays come from the counter that sessions are numbered by.
  explicit LockModel(uint64_t& counter) : counter_(counter) {}

  machine::Result acquire(Claim claim, const machine::Wait& wait, uint64_t flags, Index index);
  machine::Result cancel(SessionId session, const RequestId& acquire, std::vector<Ended>& ended);  // Cancelled, even if absent
  // `tag` absent: any owner of the session.
  machine::Result release(SessionId session, const std::optional<std::string>& tag, const std::string& name, Token token,
                          uint64_t number);
  machine::Result run(const machine::Downgrade& asked, Index index);
  machine::Result run(const machine::Upgrade& asked, Index index);
  machine::Result run(const machine::UpdateValue& asked, Index index);
  machine::Result run(const machine::RefillBlock& asked, Index index);
  machine::Result run(const machine::ClearDelay& asked, Index index);
  void regrant_all(SessionId session, Index index);
  bool guard_met(const std::string& name, Token token);  // S-54; a newer token retires older ones
  void end_delay(uint64_t id);
  void time_out(Index queued, std::vector<Ended>& ended);
  void end(SessionId session, bool expired, std::vector<Ended>& ended);
  void end_waits(SessionId session, std::vector<Ended>& ended);  // its holds stay
  // S-48: among all grantable waiters the one queued first, until none is left.
  void decide_waits(Index index, std::vector<Ended>& ended);

  // The grants of the last apply, including changes of mode, and the names that it touched.
  void begin_entry();
  const std::vector<Claim>& granted() const { return granted_; }
  const std::set<std::string>& touched() const { return touched_; }

  const Claim* hold(const std::string& name, Token token) const;  // also by a token of its block
  bool current(const std::string& name, Token token) const;       // what a linearizable check answers
  std::vector<Claim> holds(const std::string& name) const;        // in grant order
  std::vector<Claim> queue(const std::string& name) const;        // first waiter first
  bool delayed(const std::string& name) const { return delays_.contains(name); }
  std::vector<Token> tokens_of(SessionId session) const;  // of its holds, in grant order
  std::set<std::string> names() const;                    // with a hold, a waiter or a delay
  uint64_t grants() const { return grants_ + granted_.size(); }
  uint64_t releases() const { return releases_; }

 private:
  struct Delay {
    uint64_t id = 0;
    Duration duration{};
  };
  using Owner = std::pair<SessionId, std::string>;

  Claim* delegation(const std::string& name);
  void ask(const Claim& behind);
  Claim* find(SessionId session, const std::optional<std::string>& tag, const std::string& name, Token token);
  const Claim* own(const Claim& like) const;
  std::optional<machine::ResultCode> in_the_way_of_a_try(const Claim& attempt) const;
  bool grantable(const Claim& wait) const;
  void grant(Claim& claim, Index index);
  machine::Result regrant(Claim& hold, LockMode mode, Index index);
  void collect_blockers(const Claim& wait, std::set<const Claim*>& seen, std::set<Owner>& owners) const;
  bool closes_circle(const Claim& wait) const;
  bool waits_for_itself(const Owner& owner) const;
  void touch(const Claim& claim);

  uint64_t& counter_;
  std::vector<Claim> claims_;  // in the order of their acquires
  std::map<std::string, Delay> delays_;
  std::vector<Claim> granted_;
  std::set<std::string> touched_;
  uint64_t grants_ = 0;  // before the last apply
  uint64_t releases_ = 0;
};

}  // namespace coordkit::sim
