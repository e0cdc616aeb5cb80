// Claim queues (docs/semantics.md S-37): items are handed out one at a time, lower priority number first, then the older
// item. A claimed item is hidden from all other claimers. An acknowledgement deletes it. Otherwise it returns to its original
// place: its claimer gives it back, or the claimer's session or the claim's term ends. A queue exists as long as it has an
// item or a waiter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/flat_table.h"
#include "coordination/indexed_rows.h"
#include "coordination/step.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

struct Queue {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x51756575;

  std::string name;

  static constexpr auto fields() { return std::tuple(&Queue::name); }
};

struct Item {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x4974656d;

  Index object;  // the queue
  int64_t priority = 0;
  uint64_t deliveries = 0;  // deliveries that ended without an acknowledgement
  std::string value;

  static constexpr auto fields() { return std::tuple(&Item::object, &Item::priority, &Item::deliveries, &Item::value); }
};

struct Claim {
  using Key = Token;
  static constexpr uint64_t kSeed = 0x436c6169;

  Index object;  // the item: at most one claim each
  SessionId session;
  RequestId request;
  Index queued;     // the entry of the command: names the timer
  Duration term{};  // the time after which it ends; zero: never
  Index since;

  static constexpr auto fields() {
    return std::tuple(&Claim::object, &Claim::session, &Claim::request, &Claim::queued, &Claim::term, &Claim::since);
  }
};

class ClaimQueues {
 public:
  Verdict enqueue(Step& step, std::string_view name, int64_t priority, std::string_view value);
  Verdict claim(Step& step, const Attempt& attempt, Duration term);
  Verdict acknowledge(Step& step, SessionId session, std::string_view name, Token token);  // NotOwner: no longer its claim
  bool release(Step& step, SessionId session, std::string_view name, Token token);         // gives the item back
  bool time_out(Step& step, Index queued, Token token);                                    // the claim's term is over

  void end(SessionId session, Step& step);
  void regrant_all(SessionId session, Step& step);  // S-45
  void touch(Index queue) { touched_.insert(queue); }
  bool nothing_touched() const { return touched_.empty(); }
  void decide_waits(Step& step);

  const Rows<Queue>& queues() const { return queues_; }
  const Rows<Item>& items() const { return items_; }
  const Rows<Claim>& claims() const { return claims_; }
  // Unclaimed items, the next one first.
  void ready(Index queue, absl::FunctionRef<bool(Index, const Item&)> visit) const;  // false: stop
  size_t length(Index queue) const;
  Verdict grant_verdict(Token token) const;  // the verdict with which it was granted
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(queues_);
    visit(items_);
    visit(claims_);
  }
  absl::Status restored(const Waits& waits);

 private:
  using Order = absl::btree_set<std::pair<int64_t, Index>>;  // priority, item

  Index queue_of(Step& step, std::string_view name);
  std::optional<Index> next(Index queue) const;
  Verdict grant(Step& step, Index item, Claim claim);
  const Claim* owned(SessionId session, std::string_view name, Token token) const;
  void end_claim(Step& step, Token token);  // and its timer
  void give_back(Step& step, Token token);
  void put_back(Index item);

  Rows<Queue> queues_;
  Rows<Item> items_;
  Rows<Claim> claims_;
  FlatMap<Index, Order> ready_;  // by queue; never empty
  absl::btree_set<Index> touched_;
};

}  // namespace coordkit::coordination
