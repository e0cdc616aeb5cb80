// One key, created if it is missing; a watchdog of the holder touches it every third of the TTL, and a waiter that sees it
// untouched for a whole TTL takes it over. Needs no lease: the waiters count the time, each by its own clock.
//
// Its weaknesses: the holder learns of a takeover from its watchdog, which runs late in a process that was paused, and never
// learns it in one that is cut off; and all waiters poll, in no order. The native lock counts the
// holder's time at the holder, and grants in the order of asking.
#pragma once

#include "recipe.h"

namespace example {

class WatchdogLock final : public Recipe {
 public:
  WatchdogLock(sim::Process& process, Duration ttl)
      : Recipe(process, ttl), name_("process " + std::to_string(process.node().value())) {}

 private:
  static constexpr const char* kKey = "the key";
  bool needs_session() const override { return false; }
  Compare still_own() const override { return Compare::value_of(kKey, Compare::Relation::Equal, name_); }

  void attempt() override {
    own_ = kKey;
    client().get(kKey, then<GetResult>([this](absl::StatusOr<GetResult> found) {
                   if (!found.ok() || calm_) return again();
                   if (!found->entry) return take(Compare::missing(kKey));
                   if (found->entry->value == name_) return touch_first();  // made by a call whose answer was lost
                   const LaggingTime now = process_.clock().lagging;
                   if (std::exchange(seen_, found->entry->mod) != seen_) seen_at_ = now;
                   if (now - seen_at_ > ttl_) return take(Compare::modified(kKey, Compare::Relation::Equal, seen_));
                   again();
                 }),
                 soon());
  }

  void take(Compare condition) {
    client().keys().commit({{std::move(condition)}, {PutOperation{.key = kKey, .value = name_}}, {}},
                           then<TransactionResult>([this](absl::StatusOr<TransactionResult> done) {
                             if (!done.ok() || !done->succeeded) return again();
                             got_it(done->revision);
                             watch_dog(++watch_dog_);
                           }),
                           {.deadline = soon()});
  }
  void touch_first() { take(still_own()); }

  // An unanswered touch is followed by the next; only a refusal ends it.
  void watch_dog(uint64_t number) {
    process_.after(ttl_ / 3, [this, number] {
      if (!held_ || number != watch_dog_) return;
      client().keys().commit({{still_own()}, {PutOperation{.key = kKey, .value = name_}}, {}},
                             then<TransactionResult>([this, number](absl::StatusOr<TransactionResult> done) {
                               if (done.ok() && !done->succeeded && number == watch_dog_) held_ = false;
                               watch_dog(number);
                             }),
                             {.deadline = process_.clock().lagging + ttl_ / 3});
    });
  }

  const std::string name_;
  Revision seen_;  // another's last touch, and when we saw it
  LaggingTime seen_at_;
  uint64_t watch_dog_ = 0;
};

}  // namespace example
