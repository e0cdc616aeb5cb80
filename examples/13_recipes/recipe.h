// What the three recipes share: a session that is opened when needed, one key of one's own that is removed whatever
// happens, and a watch that waits for a key to disappear. Everything is asynchronous: one process, one thread, the engine's.
#pragma once

#include <coordkit/engine/client.h>
#include <coordkit/sim/compare.h>

#include <functional>
#include <string>
#include <utility>

namespace example {

using namespace coordkit;

class Recipe : public sim::LockEnd {
 public:
  Recipe(sim::Process& process, Duration ttl) : process_(process), ttl_(ttl) {}

  void acquire(std::function<void()> granted) override {
    granted_ = std::move(granted);
    if (!releasing_) begin();
  }
  bool holds() const override { return held_; }
  Token token() const override { return held_ ? token_ : Token(); }
  void release() override {
    held_ = false;
    stop_watching();
    if (!releasing_ && !own_.empty()) take_back();
  }
  void calm() override { calm_ = true; }
  bool done() const override { return open_ == 0; }

 protected:
  virtual void attempt() = 0;                          // to get the lock; the session, if it needs one, lives
  virtual bool needs_session() const { return true; }  // its key goes with it
  virtual void phase_changed(SessionPhase) {}          // as it is announced
  virtual Compare still_own() const { return Compare::created(own_, Compare::Relation::Equal, Revision(token_.value())); }

  Client& client() { return process_.client(); }
  LeaseId lease() const { return LeaseId(session_->id().value()); }
  CallDeadline soon() const { return process_.clock().lagging + ttl_; }

  // Every call is answered once; until then the recipe is not done.
  template <typename T>
  Callback<T> then(std::function<void(absl::StatusOr<T>)> act) {
    ++open_;
    return [this, act = std::move(act)](absl::StatusOr<T> answer) {
      --open_;
      act(std::move(answer));
    };
  }

  void begin() {
    if (calm_ || !granted_) return;
    if (!needs_session() || (session_ && session_->phase() != SessionPhase::Lost)) return attempt();
    OpenOptions options{.ttl = ttl_};
    options.on_phase = [this](SessionPhase phase) { phase_changed(phase); };
    client().open_session(std::move(options), then<SessionRef>([this](absl::StatusOr<SessionRef> session) {
                            if (session.ok()) session_ = *std::move(session);
                            session.ok() ? begin() : again();
                          }));
  }
  void again() {
    process_.after(std::chrono::milliseconds(20), [this] { begin(); });
  }
  // The key is ours and first; `since` fences, because every later holder's is greater.
  void got_it(Revision since) {
    held_ = true;
    token_ = Token(since.value());
    std::exchange(granted_, nullptr)();
  }

  // Calls back once, when the key is deleted or that can no longer be known.
  void watch_until_gone(const std::string& key, Revision from, std::function<void()> gone) {
    stop_watching();
    WatchOptions options = WatchOptions::of(key);
    options.from = from;
    options.puts = false;
    watch_ = client().watch(options, [this, round = round_, gone = std::move(gone)](const WatchBatch& batch) {
      const bool over = batch.what == WatchBatch::What::Events || batch.what == WatchBatch::What::Ended;
      if (round != round_ || !over) return;
      stop_watching();
      gone();
    });
  }
  void stop_watching() {
    ++round_;
    if (watch_) client().end_watch(std::exchange(watch_, {}), [](const absl::Status&) {});
  }

  sim::Process& process_;
  const Duration ttl_;
  SessionRef session_;
  std::string own_;  // the key that stands for us; empty: none
  Token token_;
  bool held_ = false;
  std::function<void()> granted_;  // the waiter
  bool calm_ = false;

 private:
  // Until it is certain: a key left behind locks all others out for as long as its session lives.
  void take_back() {
    releasing_ = true;
    client().keys().commit({{still_own()}, {DeleteOperation{.key = own_}}, {}},
                           then<TransactionResult>([this](absl::StatusOr<TransactionResult> done) {
                             if (!done.ok() && !calm_) return take_back();
                             releasing_ = false;
                             own_.clear();
                             begin();
                           }),
                           {.deadline = soon()});
  }

  WatchId watch_;
  uint64_t round_ = 0;  // events of an older watch are ignored
  int open_ = 0;
  bool releasing_ = false;
};

}  // namespace example
