#include "lock/delays.h"

#include <algorithm>
#include <utility>

#include "lock/claim_hash.h"

namespace coordkit::lock {

void Delays::begin(Lock& lock, Duration duration, TokenCounter& tokens, Claims& claims, Decisions& decisions) {
  if (lock.delay != 0) {
    duration = std::max(duration, delays_.at(lock.delay).duration);
    end(lock.delay, claims, decisions);
  }
  lock.delay = tokens.next();
  delays_.emplace(lock.delay, Delay{&lock, duration});
  digest_ += delay_hash({lock.delay, lock.name.view(), duration});
  decisions.delays.push_back({DelayChange::Kind::Begun, lock.delay, duration});
}

bool Delays::end(uint64_t id, Claims& claims, Decisions& decisions) {
  const auto found = delays_.find(id);
  if (found == delays_.end()) return false;
  const Delay& delay = found->second;
  digest_ -= delay_hash({id, delay.lock->name.view(), delay.duration});
  if (delay.stored) erased_.push_back(id);
  delay.lock->delay = 0;
  claims.touch(*delay.lock);
  delays_.erase(found);
  decisions.delays.push_back({DelayChange::Kind::Over, id});
  return true;
}

void Delays::each(Visitor visit) const {
  for (const auto& [id, delay] : delays_) visit({id, delay.lock->name.view(), delay.duration});
}

void Delays::take_erased(absl::FunctionRef<void(RowId)> erase) {
  std::ranges::sort(erased_);
  for (const uint64_t id : std::exchange(erased_, {})) erase({RowId::Kind::Delay, id});
}

void Delays::take_changed(Visitor put) {
  for (auto& [id, delay] : delays_) {
    if (std::exchange(delay.stored, true)) continue;
    put({id, delay.lock->name.view(), delay.duration});
  }
}

void Delays::forget_stored() {
  erased_.clear();
  for (auto& [id, delay] : delays_) delay.stored = false;
}

absl::Status Delays::restore(const DelayView& row, Claims& claims) {
  if (row.duration <= Duration::zero() || row.duration > kDelayMax) return absl::DataLossError("a lock-delay out of range");
  Lock& lock = claims.restore_lock(row.name);
  if (lock.delay != 0 || delays_.contains(row.id)) return absl::DataLossError("two delays of one lock");
  lock.delay = row.id;
  delays_.emplace(row.id, Delay{&lock, row.duration, true});
  digest_ += delay_hash(row);
  return absl::OkStatus();
}

uint64_t Delays::recomputed_digest() const {
  uint64_t sum = 0;
  each([&sum](const DelayView& delay) { sum += delay_hash(delay); });
  return sum;
}

}  // namespace coordkit::lock
