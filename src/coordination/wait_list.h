// All waits for a semaphore, a latch, a barrier or an item, in one list. The entry that queued a wait names it. A wait
// belongs to a session, and is in the line of one object. Only its table knows the subject of the wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "coordination/indexed_rows.h"
#include "coordination/step.h"

namespace coordkit::coordination {

enum class WaitFor : uint8_t { Permits = 1, Latch = 2, Barrier = 3, Entering = 4, Leaving = 5, Item = 6 };

struct Wait {
  using Key = Index;  // the entry that queued it
  static constexpr uint64_t kSeed = 0x57616974;

  WaitFor purpose = WaitFor::Permits;
  Index object;
  SessionId session;
  RequestId request;
  Duration timeout{};   // of a timed wait, else zero
  uint64_t amount = 0;  // permits
  Duration term{};      // of the claim on the item; zero: it has none

  static constexpr auto fields() {
    return std::tuple(&Wait::purpose, &Wait::object, &Wait::session, &Wait::request, &Wait::timeout, &Wait::amount,
                      &Wait::term);
  }
};

class Waits {
 public:
  // Joins the end of the line; a try gets Held instead.
  Verdict join(Step& step, const Attempt& attempt, WaitFor purpose, Index object, uint64_t amount = 0, Duration term = {});
  // Ends one wait, or the whole line of an object.
  void decide(Index wait, Verdict verdict, Step& step);
  void decide_all(Index object, const Verdict& verdict, Step& step);

  // The object of a wait that ended early: its table must check again.
  struct Left {
    WaitFor purpose{};
    Index object;
  };
  std::optional<Left> time_out(Index wait, Step& step);  // nullopt: there is no longer such a timed wait
  std::optional<Left> cancel(SessionId session, const RequestId& request, Step& step);
  std::vector<Left> end(SessionId session, Step& step);  // Lost, oldest first

  size_t line(Index object) const { return rows_.of_object(object).size(); }
  const Rows<Wait>& rows() const { return rows_; }
  Rows<Wait>& rows() { return rows_; }  // for checkpoint and restore

  // Serves the lines of these objects. The wait queued first over all of them comes first (S-48). `grant(object, wait)`
  // decides it, or reports that it cannot be granted now.
  template <typename Grant>
  void serve(const absl::btree_set<Index>& objects, Grant grant) {
    absl::btree_set<std::pair<Index, Index>> heads;
    const auto nominate = [&](Index object) {
      if (line(object) != 0) heads.emplace(*rows_.of_object(object).begin(), object);
    };
    for (const Index object : objects) nominate(object);
    while (!heads.empty()) {
      const auto [wait, object] = *heads.begin();
      heads.erase(heads.begin());
      if (grant(object, wait)) nominate(object);
    }
  }

 private:
  Rows<Wait> rows_;
};

}  // namespace coordkit::coordination
