#include "engine/timers/renewal_rounds.h"

#include <utility>

#include "coordkit/engine/wire.h"

namespace coordkit::engine {

void shorten(RenewReply& reply) {
  size_t left = kTimersListedMax;
  for (RenewReply::Group& group : reply.groups) {
    if (group.listed.size() > left) {
      if (group.coverage == RenewReply::Coverage::AllExcept) group.listed.clear();
      group.coverage = RenewReply::Coverage::Only;
      if (group.listed.size() > left) group.listed.resize(left);
    }
    left -= group.listed.size();
  }
}

Ticket Renewals::question(Ticket ticket) {
  rounds_.push_back({.ticket = ticket, .renewals = std::exchange(received_, {})});
  return ticket;
}

void Renewals::confirmed(Ticket ticket, Index read_index) {
  for (Round& round : rounds_) {
    if (round.ticket != ticket) continue;
    round.held = true;
    round.read_index = read_index;
  }
}

void Renewals::drop_all() {
  received_.clear();
  rounds_.clear();
}

void Renewals::answer(Index applied, LaggingTime now, TimerKeeper& keeper, std::vector<AnsweredRenewal>& out) {
  if (!keeper.leading()) return;
  std::erase_if(rounds_, [&](Round& round) {
    if (!round.held || round.read_index > applied) return false;
    for (const ReceivedRenewal& renewal : round.renewals) {
      AnsweredRenewal answered{renewal.from, {.attempt = renewal.request.attempt}};
      for (const RenewRequest::Group& group : renewal.request.groups) {
        answered.reply.groups.push_back(keeper.renew(renewal.request.machine, group, renewal.received, renewal.request.as_of));
      }
      for (const TimerId timer : renewal.request.looks) {
        const std::optional<Duration> left = keeper.remaining(renewal.request.machine, timer, now);
        if (left) answered.reply.looks.push_back({timer, *left});
      }
      out.push_back(std::move(answered));
    }
    return true;
  });
}

}  // namespace coordkit::engine
