// Numbered keys that go with their session: the lowest number holds the lock, each waits for the one before its own. While the
// session is not certain (jeopardy: the "disconnected" of older systems) the holder does not act. The recipe of ZooKeeper.
//
// Its weakness: not acting is an event on a thread. Another thread of a paused process may act before that event has
// arrived. The native lock's valid() asks the clock in the thread that is about to act.
#pragma once

#include "recipe.h"

namespace example {

class SequentialLock final : public Recipe {
 public:
  using Recipe::Recipe;
  bool holds() const override { return Recipe::holds() && connected_; }

 private:
  static constexpr const char* kLine = "line/";

  // After an unknown outcome the key may exist under an unknown number: it is found by its lease.
  void attempt() override {
    client().keys().range(RangeOperation::prefix(kLine), then<RangeResult>([this](absl::StatusOr<RangeResult> line) {
                            if (!line.ok()) return again();
                            const Revision next(line->revision.value() + 1);
                            std::string before;  // the key right before ours
                            for (const KeyValue& entry : line->entries) {
                              if (entry.lease == lease()) return found(entry, before, next);
                              before = entry.key;
                            }
                            join();
                          }),
                          soon());
  }

  void join() {
    client().keys().put({.key = kLine, .lease = lease(), .sequential = true},
                        then<PutResult>([this](absl::StatusOr<PutResult> put) { put.ok() ? begin() : again(); }),
                        {.deadline = soon()});
  }

  void found(const KeyValue& mine, const std::string& before, Revision next) {
    own_ = mine.key;
    token_ = Token(mine.create.value());
    if (!before.empty()) return watch_until_gone(before, next, [this] { begin(); });
    watch_until_gone(own_, next, [this] { held_ = false; });
    connected_ = session_->phase() == SessionPhase::Valid;
    got_it(mine.create);
  }

  void phase_changed(SessionPhase phase) override { connected_ = phase == SessionPhase::Valid; }

  bool connected_ = false;
};

}  // namespace example
