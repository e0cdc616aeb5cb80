#include "engine/reads.h"

#include <utility>

namespace coordkit::engine {

void Reads::ask(Ask ask) {
  deadlines_.insert({ask.deadline, ask.ticket});
  waiting_.emplace(ask.ticket, ask.deadline);
  if (ask.consistency == Consistency::Local) {  // whatever is applied here will do (S-10)
    confirmed_.emplace_back(Index(), std::move(ask));
    return;
  }
  if (newest_ == asked_) ++newest_;
  batches_[newest_].push_back(std::move(ask));
}

uint64_t Reads::question(LaggingTime now) {
  if (batches_.empty()) return 0;
  const bool fresh = batches_.rbegin()->first > asked_;
  if (!fresh && now < ask_again_) return 0;
  asked_ = newest_;
  ask_again_ = now + retry_;
  return asked_;
}

void Reads::confirmed(uint64_t id, Index read_index) {
  while (!batches_.empty() && batches_.begin()->first <= id) {
    for (Ask& ask : batches_.begin()->second) confirmed_.emplace_back(read_index, std::move(ask));
    batches_.erase(batches_.begin());
  }
}

void Reads::collect(Index applied, std::vector<Ask>& ready) {
  for (auto it = confirmed_.begin(); it != confirmed_.end();) {
    if (it->first > applied) {
      ++it;
      continue;
    }
    Ask ask = std::move(it->second);
    it = confirmed_.erase(it);
    if (waiting_.erase(ask.ticket) == 0) continue;  // forgotten or expired meanwhile
    deadlines_.erase({ask.deadline, ask.ticket});
    ready.push_back(std::move(ask));
  }
}

void Reads::forget(Ticket ticket) {
  const auto it = waiting_.find(ticket);
  if (it == waiting_.end()) return;
  deadlines_.erase({it->second, ticket});
  waiting_.erase(it);
}

void Reads::expire(LaggingTime now, std::vector<Completion>& completions) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const Ticket ticket = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    waiting_.erase(ticket);
    completions.push_back({.ticket = ticket,
                           .status = make_error(Reason::NoLeader, Outcome::None,
                                                "no leader confirmed the read before the deadline of the call")});
  }
}

void Reads::fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  for (const auto& [deadline, ticket] : deadlines_) {
    completions.push_back({.ticket = ticket, .status = make_error(reason, Outcome::None, why)});
  }
  deadlines_.clear();
  batches_.clear();
  confirmed_.clear();
  waiting_.clear();
}

LaggingTime Reads::next_deadline(bool leader_known) const {
  LaggingTime next = deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first;
  if (!leader_known || batches_.empty()) return next;
  const bool fresh = batches_.rbegin()->first > asked_;
  return std::min(next, fresh ? LaggingTime::min() : ask_again_);
}

}  // namespace coordkit::engine
