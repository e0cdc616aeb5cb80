#include "c/c_completions.h"

#include <algorithm>
#include <vector>

#include "c/c_errors.h"

namespace coordkit::c {
namespace {

// The event's number is 0 or 1, so neither of these has a reason to fail.
void make_readable(const Descriptor& event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = uninterrupted([&] { return ::write(event.get(), &one, sizeof one); });
}

void make_unreadable(const Descriptor& event) {
  uint64_t number = 0;
  [[maybe_unused]] const ssize_t got = uninterrupted([&] { return ::read(event.get(), &number, sizeof number); });
}

}  // namespace

Slot slot_for(uint64_t tag) {
  Slot slot(1);
  slot.front().tag = tag;
  return slot;
}

absl::StatusOr<std::shared_ptr<Completions>> Completions::make() {
  Descriptor event = open_event();
  if (!event) return make_error(Reason::LimitExceeded, "no descriptor is left for the completions (eventfd)");
  return std::make_shared<Completions>(std::move(event));
}

absl::Status Completions::usable() {
  if (forked()) return fork_of_opener();
  const std::lock_guard lock(mutex_);
  return closed_ || ended_ ? make_error(Reason::Closed, "the remote of this handle was closed") : absl::OkStatus();
}

void Completions::close() {
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

absl::StatusOr<uint64_t> Completions::expect(uint64_t tag) {
  if (forked()) return fork_of_opener();
  const std::lock_guard lock(mutex_);
  if (ended_) return make_error(Reason::Closed, "the remote of this handle was freed");
  calls_[++last_].tag = tag;
  return last_;
}

void Completions::began(uint64_t call, AsyncCall control) {
  bool cancelled = false;
  if (forked()) return;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(call);
    if (found == calls_.end()) return;  // it has ended already
    found->second.control = control;
    cancelled = found->second.cancelled;
  }
  if (cancelled) control.cancel();
}

bool Completions::forget(uint64_t call) {
  if (forked()) return true;
  const std::lock_guard lock(mutex_);
  return calls_.erase(call) > 0;
}

void Completions::finish(uint64_t call, Slot slot) {
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  if (calls_.erase(call) > 0 && !ended_) add(slot);
}

// A slot that it drops is destroyed by the caller, outside of the lock.
void Completions::put(Slot slot) {
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  if (!ended_) add(slot);
}

void Completions::add(Slot& slot) {
  if (waiting_.empty()) make_readable(event_);
  waiting_.splice(waiting_.end(), slot);
}

void Completions::raise(Slot& notice) {
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  if (!ended_ && !notice.empty()) add(notice);
}

void Completions::retract(Slot& notice) {
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(waiting_, &notice, &CallEnd::notice);
  if (found == waiting_.end()) return;
  notice.splice(notice.begin(), waiting_, found);
  if (waiting_.empty()) make_unreadable(event_);
}

void Completions::cancel(uint64_t tag) {
  std::vector<AsyncCall> controls;
  if (forked()) return;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, call] : calls_) {
      if (call.tag != tag) continue;
      controls.push_back(call.control);
      call.cancelled = true;
    }
  }
  for (const AsyncCall& control : controls) control.cancel();
}

std::optional<CallEnd> Completions::take() {
  Slot spent;  // destroyed outside of the lock
  if (forked()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  Slot* const notice = waiting_.front().notice;
  Slot& home = notice != nullptr ? *notice : spent;
  home.splice(home.begin(), waiting_, waiting_.begin());
  if (waiting_.empty()) make_unreadable(event_);
  if (notice != nullptr) return CallEnd{.tag = home.front().tag};
  return std::move(home.front());
}

void Completions::end() {
  Slot dropped;
  if (forked()) return;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  waiting_.swap(dropped);
}

Notice::Notice(std::shared_ptr<Completions> completions, uint64_t tag)
    : completions_(std::move(completions)), slot_(slot_for(tag)) {
  slot_.front().notice = &slot_;
}

void Stream::end(absl::Status why) {
  if (ended()) return;
  last_.front().status = std::move(why);
  completions_->put(std::move(last_));
  last_.clear();
}

}  // namespace coordkit::c
