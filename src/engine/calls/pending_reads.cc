#include "engine/calls/pending_reads.h"

#include <string>
#include <utility>

#include "engine/loop/turn.h"

namespace coordkit::engine {
namespace {

absl::Status not_confirmed() {
  return make_error(Reason::NoLeader, Outcome::NoEffect, "no leader confirmed the read before the deadline of the call");
}

absl::Status not_reached(Index index) {
  return make_error(Reason::CallTimeout, Outcome::NoEffect,
                    "this replica had not applied entry " + std::to_string(index.value()) +
                        " by the deadline of the call; allow more time, or ask another replica");
}

size_t bytes_of(const Ask& ask) { return ask.question ? ask.question->size() : 0; }

}  // namespace

void Reads::ask(Ask ask) {
  if (newest_ == asked_) ++newest_;
  const Ticket ticket = ask.ticket;
  bytes_ += bytes_of(ask);
  deadlines_.insert({ask.deadline, ticket});
  unconfirmed_.insert({newest_, ticket});
  reads_.emplace(ticket, Read{.ask = std::move(ask), .batch = newest_});
}

void Reads::await(Index index, Ask ask) {
  const Ticket ticket = ask.ticket;
  bytes_ += bytes_of(ask);
  deadlines_.insert({ask.deadline, ticket});
  confirmed_.insert({index, ticket});
  reads_.emplace(ticket, Read{.ask = std::move(ask), .index = index});
}

Ask Reads::take(Ticket ticket) {
  const auto it = reads_.find(ticket);
  Read read = std::move(it->second);
  reads_.erase(it);
  bytes_ -= bytes_of(read.ask);
  deadlines_.erase({read.ask.deadline, ticket});
  if (read.index) {
    confirmed_.erase({*read.index, ticket});
  } else {
    unconfirmed_.erase({read.batch, ticket});
  }
  return std::move(read.ask);
}

void Reads::leadership_changed() {
  ask_again_ = LaggingTime::min();
  for (const auto& [index, ticket] : std::exchange(confirmed_, {})) {
    Read& read = reads_.find(ticket)->second;
    if (read.batch == 0) {  // of no leader's word
      confirmed_.insert({index, ticket});
    } else {
      read.index.reset();
      unconfirmed_.insert({read.batch, ticket});
    }
  }
}

uint64_t Reads::question(LaggingTime now) {
  if (unconfirmed_.empty() || (!fresh() && now < ask_again_)) return 0;
  asked_ = newest_;
  ask_again_ = now + retry_;
  return asked_;
}

void Reads::confirmed(uint64_t id, Index read_index) {
  while (!unconfirmed_.empty() && unconfirmed_.begin()->first <= id) {
    const Ticket ticket = unconfirmed_.begin()->second;
    unconfirmed_.erase(unconfirmed_.begin());
    confirmed_.insert({read_index, ticket});
    reads_.find(ticket)->second.index = read_index;
  }
}

void Reads::collect(Index applied, std::vector<Ask>& ready) {
  while (!confirmed_.empty() && confirmed_.begin()->first <= applied) ready.push_back(take(confirmed_.begin()->second));
}

void Reads::forget(Ticket ticket) {
  if (reads_.contains(ticket)) take(ticket);
}

bool Reads::expire(LaggingTime now, std::vector<Completion>& completions) {
  const auto any = [&] { return !deadlines_.empty() && deadlines_.begin()->first <= now; };
  for (size_t left = kExpiredOfATurn; left > 0 && any(); --left) {
    const Ticket ticket = deadlines_.begin()->second;
    const std::optional<Index> awaited = reads_.find(ticket)->second.index;
    take(ticket);
    completions.push_back({.ticket = ticket, .status = awaited ? not_reached(*awaited) : not_confirmed()});
  }
  return any();
}

void Reads::fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  while (!deadlines_.empty()) {
    const Ticket ticket = deadlines_.begin()->second;
    take(ticket);
    completions.push_back({.ticket = ticket, .status = make_error(reason, Outcome::NoEffect, why)});
  }
}

LaggingTime Reads::next_deadline(bool leader_known) const {
  const LaggingTime next = deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first;
  if (!leader_known || unconfirmed_.empty()) return next;
  return std::min(next, fresh() ? LaggingTime::min() : ask_again_);
}

}  // namespace coordkit::engine
