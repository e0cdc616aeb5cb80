#include "machine/locks/cancel_marks.h"

#include <limits>
#include <utility>

#include "base/sums.h"

namespace coordkit::machine {
namespace {

constexpr Sequence kAll{std::numeric_limits<uint64_t>::max()};

uint64_t mark_hash(const Origin& origin, Sequence sequence) {
  uint64_t hash = 0x63616e63;
  for (const uint64_t field : {origin.replica.value(), origin.store.value(), origin.boot.value(), sequence.value()}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

}  // namespace

bool CancelMarks::arrived(const RequestId& request) {
  if (replicas_.empty()) return false;  // the usual case
  const auto found = replicas_.find(request.origin.replica);
  if (found == replicas_.end()) return false;
  auto& [origin, sequences] = found->second;
  const size_t before = sequences.size();
  bool cancelled = false;
  if (origin != request.origin) {
    forget(origin, sequences, kAll);
  } else {
    if (request.sequence.value() > kSequenceSpan) forget(origin, sequences, Sequence(request.sequence.value() - kSequenceSpan));
    cancelled = sequences.erase(request.sequence) != 0;
    if (cancelled) digest_ -= mark_hash(origin, request.sequence);
  }
  if (sequences.size() != before) dirty_.insert(request.origin.replica);
  if (sequences.empty()) replicas_.erase(found);
  return cancelled;
}

bool CancelMarks::mark(const RequestId& acquire, const RequestId& cancel) {
  if (acquire.origin != cancel.origin || acquire.sequence >= cancel.sequence) return false;
  if (cancel.sequence - acquire.sequence >= kSequenceSpan) return true;  // the acquire can no longer arrive
  const auto [row, fresh] = replicas_.try_emplace(acquire.origin.replica, Marks{acquire.origin, {}});
  auto& [origin, sequences] = row->second;
  if (origin != acquire.origin) forget(origin, sequences, kAll);
  origin = acquire.origin;
  if (sequences.insert(acquire.sequence).second) digest_ += mark_hash(origin, acquire.sequence);
  dirty_.insert(acquire.origin.replica);
  return true;
}

size_t CancelMarks::size() const {
  size_t count = 0;
  for (const auto& [replica, marks] : replicas_) count += marks.sequences.size();
  return count;
}

void CancelMarks::forget(const Origin& origin, absl::btree_set<Sequence>& sequences, Sequence before) {
  while (!sequences.empty() && *sequences.begin() < before) {
    digest_ -= mark_hash(origin, *sequences.begin());
    sequences.erase(sequences.begin());
  }
}

void CancelMarks::collect(absl::FunctionRef<void(ReplicaId, const Marks&)> put, absl::FunctionRef<void(ReplicaId)> erase) {
  for (const ReplicaId replica : dirty_) {
    const auto found = replicas_.find(replica);
    if (found != replicas_.end()) {
      put(replica, found->second);
      stored_.insert(replica);
    } else if (stored_.erase(replica) != 0) {
      erase(replica);
    }
  }
  dirty_.clear();
}

void CancelMarks::forget_stored() {
  stored_.clear();
  dirty_.clear();
  for (const auto& [replica, marks] : replicas_) dirty_.insert(replica);
}

absl::Status CancelMarks::restore(ReplicaId replica, Marks marks) {
  if (marks.sequences.empty() || marks.origin.replica != replica) return absl::DataLossError("impossible cancel marks");
  for (const Sequence sequence : marks.sequences) digest_ += mark_hash(marks.origin, sequence);
  stored_.insert(replica);
  if (!replicas_.emplace(replica, std::move(marks)).second) return absl::DataLossError("cancel marks of a replica twice");
  return absl::OkStatus();
}

uint64_t CancelMarks::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& [replica, marks] : replicas_) {
    for (const Sequence sequence : marks.sequences) sum += mark_hash(marks.origin, sequence);
  }
  return sum;
}

}  // namespace coordkit::machine
