// Ends of asynchronous calls, batches and events, on their way to coordkit_poll(). The engine's thread and the callback thread
// put them in; a descriptor is readable while any waits. Everything that the end of a call needs is allocated when the call
// begins, so putting it in cannot fail.
//
// Threads: any. A queue outlives the calls, handles and streams that put something in; everything after end() is dropped. A
// forked child shares the descriptor with its parent and has a copy of the mutex, which another thread may have held: there
// every function leaves both alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/descriptor.h"
#include "c/c_handles.h"
#include "coordkit/call.h"
#include "coordkit/error.h"
#include "service/shell/fork_guard.h"

namespace coordkit::c {

// The end of a call, a batch of a watch, or an event.
struct CallEnd {
  uint64_t tag = 0;
  absl::Status status = {};
  std::unique_ptr<coordkit_session> session = {};
  std::unique_ptr<coordkit_grant> grant = {};
  std::unique_ptr<coordkit_entries> entries = {};
  std::unique_ptr<OwnedLeader> leader = {};
  uint64_t revision = 0;
  uint64_t deleted = 0;
  std::shared_ptr<const void> place = {};  // of a stream: counts those of its events that wait
  std::list<CallEnd>* notice = nullptr;    // where the slot belongs; null: it belongs to no notice
};

using Slot = std::list<CallEnd>;  // of one: it is moved between lists without an allocation

Slot slot_for(uint64_t tag);

class Completions {
 public:
  static absl::StatusOr<std::shared_ptr<Completions>> make();
  explicit Completions(Descriptor event) : event_(std::move(event)) {}

  int descriptor() const { return event_.get(); }
  bool forked() const { return fork_guard_.forked(); }

  // kFailedPrecondition (Closed): after close() or end(), or in a forked child.
  absl::Status usable();
  void close();  // the link is closed; completions that wait may still be fetched

  // A call with this tag is about to begin: its number. kFailedPrecondition (Closed): after end(), or in a forked child.
  absl::StatusOr<uint64_t> expect(uint64_t tag);
  void began(uint64_t call, AsyncCall control);
  // It never began. False: it has its completion already.
  bool forget(uint64_t call);
  // Drops the end of a call that was forgotten.
  void finish(uint64_t call, Slot slot);
  void put(Slot slot);
  void cancel(uint64_t tag);

  // A notice has a slot of its own, and is in line at most once: raise() puts it there, take() gives it back.
  void raise(Slot& notice);
  void retract(Slot& notice);

  std::optional<CallEnd> take();  // the oldest; nullopt: none waits
  void end();

 private:
  struct Call {
    uint64_t tag = 0;
    bool cancelled = false;
    AsyncCall control = {};
  };

  void add(Slot& slot);  // requires mutex_

  const Descriptor event_;
  const ForkGuard fork_guard_;
  std::mutex mutex_;
  Slot waiting_;  // the event is set exactly while there are some
  std::map<uint64_t, Call> calls_;
  uint64_t last_ = 0;
  bool closed_ = false;
  bool ended_ = false;
};

// Says that something has changed: at most one completion of it waits. Raising it cannot fail, so a change is never missed. Its
// end takes the one that waits away.
class Notice {
 public:
  Notice(std::shared_ptr<Completions> completions, uint64_t tag);
  ~Notice() { completions_->retract(slot_); }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  void raise() { completions_->raise(slot_); }

 private:
  const std::shared_ptr<Completions> completions_;
  Slot slot_;  // guarded by the queue's mutex. Empty: it is in line
};

// A stream of events with one tag. Its last event has its memory from the start, so its end is never lost.
class Stream {
 public:
  static constexpr long kWaitingMax = 1024;

  Stream(std::shared_ptr<Completions> completions, uint64_t tag)
      : completions_(std::move(completions)), tag_(tag), last_(slot_for(tag)), place_(std::make_shared<char>()) {}

  bool ended() const { return last_.empty(); }
  bool full() const { return place_.use_count() > kWaitingMax; }
  // fill(CallEnd&) describes an event, or answers false if there is none. Throws std::bad_alloc: nothing was added.
  template <typename Fill>
  void add(Fill fill) {
    Slot slot = slot_for(tag_);
    if (!fill(slot.front())) return;
    slot.front().place = place_;
    completions_->put(std::move(slot));
  }
  void end(absl::Status why);

 private:
  std::shared_ptr<Completions> completions_;
  uint64_t tag_;
  Slot last_;  // empty: it has been put
  std::shared_ptr<const void> place_;
};

// The callback of a call that begin_call() began.
template <typename Keep>
void settle(Completions& completions, uint64_t call, Slot slot, Keep& keep, absl::Status& answer) {
  CallEnd& end = slot.front();
  end.status = std::move(answer);
  if (end.status.ok()) keep(end);
  completions.finish(call, std::move(slot));
}

template <typename Keep, typename Value>
void settle(Completions& completions, uint64_t call, Slot slot, Keep& keep, absl::StatusOr<Value>& answer) {
  CallEnd& end = slot.front();
  end.status = answer.ok() ? keep(end, *std::move(answer)) : answer.status();
  completions.finish(call, std::move(slot));
}

// Begins a call: start(callback) answers its AsyncCall. keep(completion, value) keeps a good answer and says how the call
// ended; it must not throw.
template <typename Answer, typename Start, typename Keep>
absl::Status begin_call(const std::shared_ptr<Completions>& completions, Slot slot, Start start, Keep keep) {
  const absl::StatusOr<uint64_t> call = completions->expect(slot.front().tag);
  if (!call.ok()) return call.status();
  try {
    completions->began(*call, start([completions, call = *call, slot = std::move(slot), keep = std::move(keep)](
                                        Answer answer) mutable { settle(*completions, call, std::move(slot), keep, answer); }));
  } catch (...) {
    // A call that is dropped before it is answered is answered by that: then it has its completion.
    if (completions->forget(*call)) throw;
  }
  return absl::OkStatus();
}

}  // namespace coordkit::c
