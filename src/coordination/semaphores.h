// Semaphores (docs/semantics.md S-50): permits kept in the replicated state. A request gets all or nothing, strictly in
// order: a small request never passes a large one. A semaphore stays until it is deleted. Its permits end with their release
// or their session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/flat_table.h"
#include "coordination/indexed_rows.h"
#include "coordination/step.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

struct Semaphore {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x53656d61;

  std::string name;
  uint64_t limit = 0;

  static constexpr auto fields() { return std::tuple(&Semaphore::name, &Semaphore::limit); }
};

// One grant.
struct Permits {
  using Key = Token;
  static constexpr uint64_t kSeed = 0x5065726d;

  Index object;
  SessionId session;
  RequestId request;  // of the acquire
  uint64_t count = 0;
  Index since;

  static constexpr auto fields() {
    return std::tuple(&Permits::object, &Permits::session, &Permits::request, &Permits::count, &Permits::since);
  }
};

class Semaphores {
 public:
  // Creates the semaphore if it does not exist. A lower limit takes nothing back; no request is granted until held + asked <=
  // limit.
  Verdict set_limit(Step& step, std::string_view name, uint64_t limit);
  // NotFound without a semaphore and without `initial_limit`, which is ignored if the semaphore exists.
  Verdict acquire(Step& step, const Attempt& attempt, uint64_t count, std::optional<uint64_t> initial_limit);
  // Releases all permits of this grant, if it is the session's; false: there is no such grant.
  bool release(SessionId session, std::string_view name, Token token);
  Verdict erase(Step& step, std::string_view name);  // Held: there are holders or waiters

  void end(SessionId session);
  void regrant_all(SessionId session, Step& step);  // S-45
  void touch(Index object) { touched_.insert(object); }
  bool nothing_touched() const { return touched_.empty(); }
  void decide_waits(Step& step);

  uint64_t held(Index semaphore) const;
  const Rows<Semaphore>& semaphores() const { return semaphores_; }
  const Rows<Permits>& permits() const { return permits_; }

  template <typename Visit>
  void each_rows(Visit visit) {  // for checkpoint, restore and digests
    visit(semaphores_);
    visit(permits_);
  }
  absl::Status restored(const Waits& waits);

 private:
  bool fits(Index semaphore, uint64_t count) const;
  Verdict grant(Step& step, Index semaphore, SessionId session, const RequestId& request, uint64_t count);
  void give_back(Token token);

  Rows<Semaphore> semaphores_;
  Rows<Permits> permits_;
  FlatMap<Index, uint64_t> held_;  // sum of the permits, above zero
  absl::btree_set<Index> touched_;
};

}  // namespace coordkit::coordination
