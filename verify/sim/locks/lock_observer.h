// Watches what holders may believe, in true time. It knows every session and hold that the workload received, asks their
// valid() with the reading of their own machine's clock at the true instant, and compares with what was applied anywhere.
// (docs/invariants.md: INV_L02, L03, L10, L14, L16.)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordkit/client/handles.h"
#include "sim/locks/trust_check.h"
#include "sim/nodes/caller.h"
#include "sim/oracle/model.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class LockObserver {
 public:
  // Tokens are checked whatever is done with beliefs.
  LockObserver(World& world, const Model& model, const Callers& nodes, TrustCheck beliefs)
      : world_(world), model_(model), nodes_(nodes), beliefs_(beliefs) {}

  // Received by a worker of that node.
  void opened(uint32_t node, const SessionRef& session);
  void granted(uint32_t node, const HoldRef& hold);
  // Another process has taken the session over, with its holds. The previous one may not know yet.
  void resumed(uint32_t node, const ResumedSession& resumed);
  // The owner's hold was replaced by one in another mode.
  void replaced(const HoldRef& previous) {
    std::erase_if(holds_, [&](const Known& known) { return known.hold == previous; });
  }
  bool over(SessionId session) const { return model_.sessions().find(session) == nullptr; }  // according to the log
  bool taken_over_since(SessionId session, Index at) const {
    const SessionModel::Session* lives = model_.sessions().find(session);
    return lives != nullptr && lives->resumed > at;
  }
  void process_died(uint32_t node);

  void entry_applied();        // after each entry the model applied: the first apply anywhere
  void looked(uint32_t node);  // after each turn of that node

  // A protected resource, one for each lock: writes with tokens arrive in any order. `held`: from held_since() of the hold.
  void resource_admits(const std::string& lock, Token token, LockMode mode, Index held, bool accepted);
  // The entry by which this process got the hold: its grant, or the resume of its session. Distinguishes holds of a lock
  // without using tokens.
  Index held_since(const HoldState& hold) const;

 private:
  struct Known {
    uint32_t node;
    HoldRef hold;
    bool trusted = true;  // false: from a session that was taken over and has not been valid since
  };
  struct KnownSession {
    uint32_t node;
    SessionRef session;
  };
  struct ByAddress {
    bool operator()(const SessionRef& a, const SessionRef& b) const { return std::less<>()(a.get(), b.get()); }
  };
  LeadingTime reading(uint32_t node) const { return nodes_[node]->clock().read(world_.now()).leading; }
  bool over(const HoldState& hold) const;
  void refuse_valid(const Known& known) const;
  void judge_order(const Known& fresh);
  void refuse_valid(const KnownSession& known) const;
  void demand_announcement(const Known& known) const;
  void refuse_two_at_once(uint32_t node);

  World& world_;
  const Model& model_;
  const Callers& nodes_;
  const TrustCheck beliefs_;
  std::vector<Known> holds_;            // not released; in the order in which they became known
  std::vector<KnownSession> sessions_;  // not ended; one taken over has several processes
  std::set<SessionId> taken_over_;
  std::vector<Known> superseded_;  // holds that a later grant conflicts with
  std::vector<KnownSession> expired_;
  struct Accepted {
    Token highest;
    Token exclusive;
    Index held;              // the newest hold that wrote
    Index held_exclusively;  // the newest exclusive one
  };
  std::map<std::string, Accepted> accepted_;
  std::map<SessionRef, Index, ByAddress> resumed_at_;  // of the processes that took a session over
  std::set<Token> by_entries_;                         // first tokens of delegations (S-58): what an entry granted
  std::map<std::string, Token> newest_;                // of the holds that were valid when they became known, by lock
};

}  // namespace coordkit::sim
