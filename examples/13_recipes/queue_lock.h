// A queue of keys: each contender has a key with its session's lease, holds the lock when there is no older key, and waits for
// the next older one to disappear. So a release wakes one. The recipe of etcd's client library.
//
// Its weakness: the holder believes what it was told. One that was paused or cut off for longer than the TTL has lost key and
// lock, and continues until the event arrives. With Trust::Clock it asks the session too, which knows its own deadline: then
// no two ever hold it at once. The native lock does that by itself, in one log entry where this takes two and a range.
#pragma once

#include "recipe.h"

namespace example {

class QueueLock final : public Recipe {
 public:
  enum class Trust : uint8_t { Messages, Clock };
  QueueLock(sim::Process& process, Duration ttl, Trust trust = Trust::Messages) : Recipe(process, ttl), trust_(trust) {}

  bool holds() const override {
    return Recipe::holds() && (trust_ == Trust::Messages || session_->valid(process_.clock().leading));
  }

 private:
  static constexpr const char* kQueue = "queue/";

  // Asked again after an unknown outcome, it finds the key it created.
  void attempt() override {
    own_ = kQueue + std::to_string(session_->id().value());
    client().keys().commit(
        {{Compare::missing(own_)}, {PutOperation{.key = own_, .lease = lease()}}, {RangeOperation::of(own_)}},
        then<TransactionResult>([this](absl::StatusOr<TransactionResult> done) {
          if (!done.ok()) return again();
          mine_ = done->succeeded ? done->revision : std::get<RangeReply>(done->replies.at(0).body).entries.at(0).create;
          token_ = Token(mine_.value());
          wait_for_turn();
        }),
        {.deadline = soon()});
  }

  void wait_for_turn() {
    if (calm_) return;
    RangeOperation queue = RangeOperation::prefix(kQueue);
    queue.keys_only = true;
    queue.sort_by = SortTarget::Create;
    queue.create_max = mine_;
    client().keys().range(queue, then<RangeResult>([this](absl::StatusOr<RangeResult> line) {
                            if (!line.ok() || line->entries.empty()) return again();
                            if (line->entries.back().key != own_) return again();  // it went with the session
                            const Revision next(line->revision.value() + 1);
                            if (line->entries.size() > 1) {
                              return watch_until_gone(line->entries.rbegin()[1].key, next, [this] { wait_for_turn(); });
                            }
                            watch_until_gone(own_, next, [this] { held_ = false; });
                            got_it(mine_);
                          }),
                          soon());
  }

  const Trust trust_;
  Revision mine_;  // creation of our key
};

}  // namespace example
