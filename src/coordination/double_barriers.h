// Double barriers (docs/semantics.md S-37): n parties enter together and leave together. A party that enters waits; the n-th
// makes all of them present, each with a token. A party that leaves is no longer present, and may wait for the last one. Then
// the barrier is gone, and the next enter begins a new cycle.
//
// The first enter fixes the effect of a dead party on the others. Break ends the cycle for all present parties (Broken);
// Shrink continues with one party less. A wait to enter that was cancelled or timed out has no effect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordination/indexed_rows.h"
#include "coordination/step.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

enum class AtPartyEnd : uint8_t { Breaks = 1, Shrinks = 2 };

struct DoubleBarrier {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x446f7562;

  std::string name;
  uint64_t parties = 0;   // the same in every enter
  uint64_t expected = 0;  // parties minus those that died before it was complete
  AtPartyEnd at_end = AtPartyEnd::Breaks;
  bool complete = false;  // all have entered; false: they are gathering, and none has a place

  static constexpr auto fields() {
    return std::tuple(&DoubleBarrier::name, &DoubleBarrier::parties, &DoubleBarrier::expected, &DoubleBarrier::at_end,
                      &DoubleBarrier::complete);
  }
};

// A party that is inside.
struct Place {
  using Key = Token;
  static constexpr uint64_t kSeed = 0x506c6163;

  Index object;
  SessionId session;
  RequestId request;  // of the enter
  Index since;

  static constexpr auto fields() { return std::tuple(&Place::object, &Place::session, &Place::request, &Place::since); }
};

class DoubleBarriers {
 public:
  // TooManyParties: the previous cycle has not ended. InvalidArgument: the first enter gave another number of parties.
  Verdict enter(Step& step, const Attempt& attempt, uint64_t parties, AtPartyEnd at_end);
  // Leaves, and waits for the others if the attempt waits. Without a wait it is Ok at once. NotOwner: the session has no such
  // place.
  Verdict leave(Step& step, const Attempt& attempt, Token token);
  bool release(SessionId session, std::string_view name, Token token);  // leaves without a wait

  void end(SessionId session);
  void regrant_all(SessionId session, Step& step);  // S-45
  void lost_while_entering(Index barrier);          // the session's wait ended permanently
  void touch(Index barrier) { touched_.insert(barrier); }
  bool nothing_touched() const { return touched_.empty(); }
  void decide_waits(Step& step);

  const Rows<DoubleBarrier>& barriers() const { return barriers_; }
  const Rows<Place>& places() const { return places_; }
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(barriers_);
    visit(places_);
  }
  absl::Status restored(const Waits& waits) const;

 private:
  Token admit(Step& step, Index barrier, SessionId session, const RequestId& request);
  void complete(Step& step, Index barrier);
  void decide_waits_at(Step& step, Index barrier);
  bool remove(SessionId session, std::string_view name, Token token);

  Rows<DoubleBarrier> barriers_;
  Rows<Place> places_;
  absl::btree_set<Index> touched_;
  absl::btree_set<Index> broken_;  // barriers broken in this step
};

}  // namespace coordkit::coordination
