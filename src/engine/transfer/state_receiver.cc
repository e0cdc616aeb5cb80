#include "engine/transfer/state_receiver.h"

#include <algorithm>
#include <utility>

#include "base/row_sums.h"

namespace coordkit::engine {
namespace {

constexpr Duration kRetryMax = std::chrono::minutes(1);
constexpr uint64_t kStagingMax = 1;  // while the next range is fetched: two are in memory

// Whether it answers the question at all, with rows that can be staged: bytes from a peer.
bool answers(const StateChunk& chunk, const StateRequest& asked) {
  const KeyRange& got = chunk.rows.range;
  if (chunk.at != asked.at || got.after != asked.range.after) return false;
  if (!asked.range.upto.empty() && (got.upto.empty() || got.upto > asked.range.upto)) return false;
  if (chunk.rows.same) return got == asked.range && asked.sum == chunk.rows.sum;
  return check_chunk(got, chunk.rows.rows).ok() && chunk_sum(got, chunk.rows.rows) == chunk.rows.sum;
}

}  // namespace

// A newer term's offer replaces what was in progress (regression R70); the same state again only names its sender.
void StateReceiver::offered(ReplicaId from, const StateOffer& offer, LaggingTime) {
  if (installing()) return;
  const bool same = offer_ && offer_->at == offer.at && offer_->digest == offer.digest;
  if (same && offer_->term == offer.term && from_ == from) return;
  phase_ = Phase::Fetching;
  from_ = from;
  offer_ = offer;
  if (!same) {
    cursor_.clear();
    complete_ = false;
    bytes_ = 0;
  }
  ask_now();
}

void StateReceiver::ask_now() {
  asked_.reset();
  ask_at_ = LaggingTime::min();
  retry_ = 4 * options_.raft.election_timeout;
}

void StateReceiver::reconnected(ReplicaId peer) {
  if (phase_ == Phase::Fetching && peer == from_) ask_now();
}

// A range that we have already staged is compared; between two of those we ask for what is missing.
StateRequest StateReceiver::next_request() const {
  StateRequest request{offer_->term, offer_->at, {cursor_, ""}, std::nullopt};
  for (const Staged& staged : staged_) {
    if (staged.range.after < cursor_) continue;
    if (staged.range.after == cursor_) {
      request.range.upto = staged.range.upto;
      request.sum = staged.sum;
    } else {
      request.range.upto = staged.range.after;
    }
    break;
  }
  return request;
}

void StateReceiver::received(ReplicaId from, StateChunk chunk) {
  if (phase_ != Phase::Fetching || from != from_ || !asked_ || chunk.term != offer_->term || !answers(chunk, *asked_)) return;
  const KeyRange range = chunk.rows.range;
  if (!chunk.rows.same) {
    const auto place =
        std::find_if(staged_.begin(), staged_.end(), [&](const Staged& s) { return s.range.after >= range.after; });
    for (const CheckpointBatch::Row& row : chunk.rows.rows) bytes_ += row.key.size() + row.value->size();
    const Staged now{range, chunk.rows.sum};
    if (place != staged_.end() && place->range.after == range.after) {
      *place = now;
    } else {
      staged_.insert(place, now);
    }
    last_ticket_ = last_ticket_.next();
    orders_.emplace_back(StageRange{last_ticket_, std::move(chunk.rows)});
  }
  cursor_ = range.upto;
  complete_ = range.upto.empty();
  ask_now();
}

void StateReceiver::staged(Ticket ticket) { staged_upto_ = std::max(staged_upto_, ticket); }

void StateReceiver::installed() {
  if (phase_ == Phase::Installing) phase_ = Phase::Building;
}

// Two states were mixed up, or bytes changed on the way: start over, with the next offer.
void StateReceiver::refused() {
  if (phase_ != Phase::Installing) return;
  restored();
}

void StateReceiver::restored() {
  phase_ = Phase::Idle;
  offer_.reset();
  staged_.clear();
  cursor_.clear();
  complete_ = false;
  bytes_ = 0;
  ask_now();
}

void StateReceiver::forgotten() {
  restored();
  staged_upto_ = last_ticket_;
  orders_.clear();
}

void StateReceiver::drop() {
  if (phase_ != Phase::Fetching) return;
  restored();
  staged_upto_ = last_ticket_;
  orders_.emplace_back(std::in_place_type<ForgetStaged>);  // not push_back: g++ 12 reports the moved variant as uninitialised
}

void StateReceiver::collect(ReplicaId leader, Term term, May may, LaggingTime now, std::vector<StagingOrder>& orders,
                            std::vector<Outbound>& sends) {
  if (phase_ == Phase::Fetching && complete_ && staging() == 0 && may == May::Install) {
    phase_ = Phase::Installing;
    orders_.emplace_back(InstallState{offer_->at, offer_->digest});
    ask_at_ = LaggingTime::min();
  }
  std::move(orders_.begin(), orders_.end(), std::back_inserter(orders));
  orders_.clear();
  asking_ = false;
  if (installing()) {
    if (now < ask_at_) return;
    if (leader) sends.push_back({leader, StateLoading{term, offer_->at}});
    ask_at_ = now + options_.raft.election_timeout;
    return;
  }
  asking_ = phase_ == Phase::Fetching && !complete_ && staging() <= kStagingMax && leader == from_ && term == offer_->term;
  if (!asking_ || now < ask_at_) return;
  asked_ = next_request();
  ask_at_ = now + retry_;
  retry_ = std::min(2 * retry_, kRetryMax);
  sends.push_back({leader, *asked_});
}

LaggingTime StateReceiver::next_deadline() const { return installing() || asking_ ? ask_at_ : LaggingTime::max(); }

}  // namespace coordkit::engine
