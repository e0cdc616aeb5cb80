#include "sim/record/grant_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/oracle/command_reader.h"

namespace coordkit::sim {

void GrantRecorder::applied(const Model& model) {
  follow_sessions(model);
  end_holds(model);
  for (const LockModel::Claim& hold : model.locks().granted()) {
    for (const NamedLock& each : hold.names) begin_hold(model, hold, each.name);
  }
}

void GrantRecorder::follow_sessions(const Model& model) {
  const auto& sessions = model.sessions().all();
  const SessionId newest = session_lanes_.empty() ? SessionId() : session_lanes_.rbegin()->first;
  for (auto it = sessions.upper_bound(newest); it != sessions.end(); ++it) {
    session_lanes_[it->first] = static_cast<uint32_t>(it->second.node.value() - 1);
  }
  for (const Model::Ended& ended : model.ended()) {
    const auto lane = session_lanes_.find(ended.session);
    if (!ended.expired || lane == session_lanes_.end()) continue;
    notes_.add(lane->second, Timeline::Weight::Loss,
               fmt::format("session {} expires", counted(ended.session.value(), timeline_)));
  }
}

void GrantRecorder::end_holds(const Model& model) {
  for (auto it = held_.begin(); it != held_.end();) {
    const auto& [place, held] = *it;
    if (model.locks().hold(place.first, place.second) != nullptr) {
      ++it;
      continue;
    }
    const auto with_session = [session = held.session](const Model::Ended& ended) { return ended.session == session; };
    const auto ended = std::find_if(model.ended().begin(), model.ended().end(), with_session);
    if (Timeline::Grant* row = grants_.find(held.grant)) {
      row->ended = time_of(world_);
      row->end = ended == model.ended().end() ? "released" : ended->expired ? "its session expired" : "its session was closed";
      row->end += fmt::format(" by entry {}", model.applied().value());
    }
    it = held_.erase(it);
  }
}

void GrantRecorder::begin_hold(const Model& model, const LockModel::Claim& hold, const std::string& lock) {
  Timeline::Grant row;
  row.lock = lock;
  row.token = hold.token;
  row.index = model.applied();
  row.granted = time_of(world_);
  const auto lane = session_lanes_.find(hold.session);
  if (lane != session_lanes_.end()) row.lane = lane->second;
  row.operation = operations_.caller(hold.texts.value);
  if (row.operation) operations_.granted(*row.operation, row.index, row.token);
  if (const Timeline::Grant* oldest = grants_.next_to_go()) by_token_.erase(oldest->token);
  const uint64_t number = grants_.add(std::move(row));
  by_token_.emplace(hold.token, number);
  held_[{lock, hold.token}] = {number, hold.session};
}

void GrantRecorder::notified(uint32_t node, const HoldRef& hold) {
  const auto [first, last] = by_token_.equal_range(hold->token());
  for (auto it = first; it != last; ++it) {
    if (Timeline::Grant* row = grants_.find(it->second)) row->trusted_from = row->trusted_from.value_or(time_of(world_));
    trusted_.push_back({node, hold, it->second});
  }
}

// Goes by what its own clock will say: a frozen holder may believe in its hold until its deadline.
void GrantRecorder::looked(uint32_t node, const NodeClock& clock) {
  const LeadingTime reading = clock.read(world_.now()).leading;
  std::erase_if(trusted_, [&](const Trusted& trusted) {
    if (trusted.node != node) return false;
    Timeline::Grant* row = grants_.find(trusted.grant);
    if (row == nullptr) return true;
    const bool over = trusted.hold->released() || trusted.hold->lost();
    if (!over && trusted.hold->valid(reading)) {
      row->trusted_until = clock.when(trusted.hold->session()->validity_deadline(), world_.now()).time_since_epoch();
    } else if (row->trusted_until) {
      row->trusted_until = std::min(*row->trusted_until, time_of(world_));
    } else {
      row->trusted_from.reset();  // over before it was known
    }
    return over;
  });
}

// Accepted writes are many and normal; one that broke an invariant is named by the invariant.
void GrantRecorder::resource(const std::string& lock, Token token, bool accepted) {
  const auto number = by_token_.find(token);
  const Timeline::Grant* grant = number == by_token_.end() ? nullptr : grants_.find(number->second);
  notes_.add(grant ? std::optional(grant->lane) : std::nullopt, accepted ? Timeline::Weight::Plain : Timeline::Weight::Refused,
             fmt::format("a write to the resource of {} with token {} is {}", lock, counted(token.value(), timeline_),
                         accepted ? "taken" : "refused"));
}

void GrantRecorder::process_died(uint32_t node) {
  std::erase_if(trusted_, [&](const Trusted& trusted) {
    if (trusted.node != node) return false;
    Timeline::Grant* row = grants_.find(trusted.grant);
    if (row != nullptr && row->trusted_from)
      row->trusted_until = std::min(row->trusted_until.value_or(time_of(world_)), time_of(world_));
    return true;
  });
}

}  // namespace coordkit::sim
