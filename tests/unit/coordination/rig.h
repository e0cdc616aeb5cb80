// Drives one Coordination by hand: each call is an entry of its own, ended by decide_waits(), and what it decided is kept.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordination/coordination.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

inline constexpr Duration kNever{};
inline const Origin kOrigin{ReplicaId(1), StoreId(77), BootCounter(1)};

class Rig {
 public:
  // One entry: `run(step)` and then decide_waits().
  template <typename Run>
  auto entry(Run run) {
    index = index.next();
    decisions.clear();
    changes.clear();
    timers.clear();
    const auto token = [this] { return Token(++last_token); };
    Step step{index, request(index), token, state.waits, decisions, changes, timers};
    if constexpr (std::is_void_v<decltype(run(step))>) {
      run(step);
      state.decide_waits(step);
    } else {
      auto result = run(step);
      state.decide_waits(step);
      return result;
    }
  }
  static RequestId request(Index index) { return {kOrigin, Sequence(index.value())}; }
  static Attempt wait(SessionId session, std::string_view name, Duration timeout = {}) {
    return {.session = session, .name = name, .waits = true, .timeout = timeout};
  }
  static Attempt attempt(SessionId session, std::string_view name) { return {.session = session, .name = name}; }

  void end(std::vector<SessionId> sessions) {
    entry([&](Step& step) {
      for (const SessionId session : sessions) state.end(session, step);
    });
  }
  bool time_out(Index wait) {
    return entry([&](Step& step) { return state.time_out(wait, step); });
  }
  bool cancel(SessionId session, Index wait) {
    return entry([&](Step& step) { return state.cancel(session, request(wait), step); });
  }
  bool release(SessionId session, std::string_view name, Token token) {
    return entry([&](Step& step) { return state.release(session, name, token, step); });
  }

  // The decisions of the last entry, in order: the entries that queued, and how their waits ended.
  std::vector<std::pair<Index, Result>> decided() const {
    std::vector<std::pair<Index, Result>> out;
    for (const Decision& decision : decisions) out.emplace_back(decision.queued, decision.verdict.kind);
    return out;
  }
  Token token_of(Index queued) const {
    for (const Decision& decision : decisions) {
      if (decision.queued == queued) return decision.verdict.token;
    }
    return {};
  }

  Coordination state;
  Index index;
  uint64_t last_token = 1000;
  std::vector<Decision> decisions;
  std::vector<Change> changes;
  std::vector<ClaimTimer> timers;
};

using Decided = std::vector<std::pair<Index, Result>>;

inline const SessionId kA(1), kB(2), kC(3);

}  // namespace coordkit::coordination
