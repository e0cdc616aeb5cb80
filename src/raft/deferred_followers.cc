#include "raft/deferred_followers.h"

#include <algorithm>
#include <tuple>

#include "absl/container/inlined_vector.h"
#include "raft/quorum.h"

namespace coordkit::raft {
namespace {

// A follower that is relied on stays so until another takes half the time. A follower that waits for an answer gets the same
// preference: it gets its entries at once in any case.
Duration patience_with(const Progress& peer, bool waits, LaggingTime now) {
  const Duration takes = std::max(peer.answers.mean(), peer.window.waits(now));
  return waits || peer.relied_on ? takes / 2 : takes;
}

}  // namespace

void DeferredFollowers::choose(Peers& peers, const Log& log, LaggingTime now) {
  if (options_.append_delay == Duration::zero()) return;
  watch_own_disk(log, now);
  if (must_not_defer(log, now) || !rely_on_quickest(peers, log.configuration(), now)) {
    due_ = LaggingTime::max();
    for (Progress& peer : peers) peer.spare = false;
    return;
  }
  const Index last = log.last().index;
  const bool kept = std::any_of(peers.begin(), peers.end(), [last](const Progress& one) { return one.kept_waiting(last); });
  if (!kept || due_ != LaggingTime::max()) return;
  due_ = now + options_.append_delay;
  kept_through_ = last;
}

void DeferredFollowers::watch_own_disk(const Log& log, LaggingTime now) {
  if (own_upto_ && log.durable() >= own_upto_) {
    own_disk_.took(now - own_since_);
    own_upto_ = Index();
  }
  if (own_upto_ || log.last().index <= log.durable()) return;
  own_upto_ = log.last().index;
  own_since_ = now;
}

bool DeferredFollowers::must_not_defer(const Log& log, LaggingTime now) {
  const bool busy = now - grown_at_ < options_.append_delay;
  if (due_ == LaggingTime::max()) kept_after_ = last_;
  if (log.last().index != last_) {
    last_ = log.last().index;
    grown_at_ = now;
  }
  const bool due = due_ <= now;
  if (due && log.commit() < kept_through_) stop_deferring(now);
  return due || !busy || now < all_until_;
}

// Relies on a majority of the voters with us. False: all must be asked.
bool DeferredFollowers::rely_on_quickest(Peers& peers, const Configuration& configuration, LaggingTime now) const {
  if (!configuration.outgoing.empty() || !is_voter(configuration, options_.self)) return false;
  const auto waits = [&](const Progress& peer) { return now < peer.waited + options_.heartbeat_interval; };
  const auto keeps_up = [&](const Progress& peer) {
    return peer.state == Progress::State::Stream && peer.next > kept_after_ && peers.answers(peer, now);
  };
  absl::InlinedVector<Progress*, 8> quick;
  for (Progress& peer : peers) {
    if (keeps_up(peer) && is_voter(configuration, peer.peer)) quick.push_back(&peer);
  }
  const auto patience = [&](const Progress* peer) { return patience_with(*peer, waits(*peer), now); };
  std::sort(quick.begin(), quick.end(), [&](const Progress* a, const Progress* b) {
    return std::tuple(patience(a), !waits(*a), a->peer) < std::tuple(patience(b), !waits(*b), b->peer);
  });
  size_t enough = majority(configuration.voters.size()) - 1;
  if (quick.size() < enough) return false;
  const Duration own = std::max(own_disk_.mean(), own_upto_ ? now - own_since_ : Duration());
  if (quick.size() > enough && patience(quick[enough]) < own / 2) ++enough;  // so that we do not wait for our own disk
  for (Progress& peer : peers) peer.relied_on = false;
  for (size_t i = 0; i < enough; ++i) quick[i]->relied_on = true;
  for (Progress& peer : peers) peer.spare = keeps_up(peer) && !peer.relied_on && !waits(peer);
  return true;
}

}  // namespace coordkit::raft
