#include "client/sessions/session_renewals.h"

#include <algorithm>

#include "client/calls/times.h"
#include "coordkit/engine/wire.h"

namespace coordkit::client {
namespace {

constexpr Duration kPauseMin = std::chrono::milliseconds(1);  // even if the slack leaves little validity

}  // namespace

void Renewals::add(const TimerGroup& of, const Session& session, LeadingTime reference) {
  Group& group = groups_[of];
  const TimerId id = timer_of(session.id());
  group.members.insert(session.id());
  group.orphans.erase(id);
  group.unknown.erase(id);
  group.highest = std::max(group.highest, id);
  group.sum += timer_set_hash(id);
  group.newest_due = std::min(group.newest_due, later(reference, sessions_.renewal_interval(session.ttl())));
  set_due(of, group, std::min(group.due, group.newest_due));
}

void Renewals::exclude(const TimerGroup& of, SessionId id) {
  const auto group = groups_.find(of);
  if (group == groups_.end() || group->second.members.erase(id) == 0) return;
  group->second.excluded.insert(id);
  group->second.sum -= timer_set_hash(timer_of(id));
  set_due(of, group->second, group->second.due);
}

void Renewals::ended(const TimerGroup& of, SessionId id) {
  const auto at = groups_.find(of);
  if (at == groups_.end()) return;
  ++looks_;
  Group& group = at->second;
  const bool member = group.members.erase(id) != 0;
  if (member) group.sum -= timer_set_hash(timer_of(id));
  if (member || group.excluded.erase(id) != 0) ended_[id] = last_attempt_;
  set_due(of, group, group.due);
  erase_if_over(at);
}

void Renewals::stranger_ended(SessionId id) {
  const std::vector<TimerGroup> keys(with_strangers_.begin(), with_strangers_.end());
  for (const TimerGroup& key : keys) {
    ++looks_;
    const auto at = groups_.find(key);
    Group& group = at->second;
    group.orphans.erase(timer_of(id));
    group.unknown.erase(timer_of(id));
    if (group.orphans.empty() && group.unknown.empty()) with_strangers_.erase(key);
    erase_if_over(at);
  }
}

void Renewals::erase_if_over(Groups::iterator at) {
  const Group& group = at->second;
  if (!group.members.empty() || !group.excluded.empty() || !group.orphans.empty()) return;
  with_strangers_.erase(at->first);
  groups_.erase(at);
  if (groups_.empty()) ended_.clear();
}

// One message names as many groups as it may, due or not: renewing early is free.
std::optional<RenewRequest> Renewals::due(LeadingTime now) {
  if (now < next_due()) return std::nullopt;
  std::vector<Groups::value_type*> named;
  size_t ids = 0;
  for (const auto& [due, key] : by_due_) {
    Groups::value_type& each = *groups_.find(key);
    ids += each.second.ids();
    if (named.size() == kRenewGroupsMax || (ids > kTimersListedMax && !named.empty())) break;
    named.push_back(&each);
  }
  RenewRequest request;
  request.attempt = ++last_attempt_;
  for (Groups::value_type* each : named) {
    ++looks_;
    auto& [key, group] = *each;
    request.groups.push_back(describe(key, group));
    group.sent = request.attempt;
    group.last_sent = now;
    group.unanswered += 1;
    group.newest_due = LeadingTime::max();
    reschedule(key, group);
  }
  statistics_.sent += 1;
  sent_.push_back({request.attempt, now});
  if (sent_.size() > kAttemptsKept * (1 + groups_.size() / kRenewGroupsMax)) {
    sent_.pop_front();
    absl::erase_if(ended_, [&](const auto& ended) { return ended.second < sent_.front().number; });
  }
  return request;
}

void Renewals::hurry(LeadingTime now) {
  for (auto& [key, group] : groups_) {
    if (group.unanswered > 0) set_due(key, group, std::min(group.due, now));
  }
}

void Renewals::restart(LeadingTime now) {
  sent_.clear();
  for (auto& [key, group] : groups_) set_due(key, group, now);
}

std::vector<SessionId> Renewals::confirm(const RenewReply& reply, const Opens& opens, LeadingTime now) {
  std::vector<SessionId> doubtful;
  if (sent_.empty() || reply.attempt < sent_.front().number || reply.attempt > sent_.back().number) return doubtful;
  Attempt& attempt = sent_[reply.attempt - sent_.front().number];
  count(attempt, reply, now);
  for (const RenewReply::Group& group : reply.groups) confirm(group, attempt, opens, now, doubtful);
  return doubtful;
}

void Renewals::count(Attempt& attempt, const RenewReply& reply, LeadingTime now) {
  if (attempt.answered || reply.groups.empty()) return;
  attempt.answered = true;
  statistics_.answered.add(now - attempt.sent);
}

void Renewals::confirm(const RenewReply::Group& reply, const Attempt& attempt, const Opens& opens, LeadingTime now,
                       std::vector<SessionId>& doubtful) {
  const auto found = groups_.find(reply.group);
  if (found == groups_.end()) return;
  Group& group = found->second;
  if (later(attempt.sent, sessions_.validity_of(reply.group.ttl)) <= now) return;  // too late to change anything
  if (attempt.number > group.answered) {
    group.answered = attempt.number;
    group.unanswered = static_cast<uint32_t>(std::min<uint64_t>(group.unanswered, group.sent - attempt.number));
    reschedule(found->first, group);
  }
  const auto listed = [&reply](SessionId id) {
    return std::binary_search(reply.listed.begin(), reply.listed.end(), timer_of(id));
  };
  for (const SessionId id : group.members) {
    Session* session = sessions_.find(id);
    if (session == nullptr || session->first_attempt > attempt.number) continue;
    const bool covered =
        reply.coverage == RenewReply::Coverage::All || listed(id) == (reply.coverage == RenewReply::Coverage::Only);
    if (covered) {
      sessions_.confirm(*session, attempt.sent, now);
    } else {
      doubtful.push_back(id);
    }
  }
  if (reply.coverage != RenewReply::Coverage::Only) return;
  absl::erase_if(group.unknown, [&](const auto& each) { return !listed(session_of(each.first)); });
  for (const TimerId id : reply.listed) {
    const SessionId session = session_of(id);
    const bool known = group.members.contains(session) || group.excluded.contains(session) || ended_.contains(session);
    if (known || group.orphans.contains(id)) continue;
    const auto seen = group.unknown.try_emplace(id, opens.next).first;
    if (opens.oldest < seen->second) continue;
    group.unknown.erase(seen);
    group.orphans.insert(id);
  }
  if (!group.unknown.empty() || !group.orphans.empty()) with_strangers_.insert(reply.group);
}

size_t Renewals::orphans() const {
  size_t count = 0;
  for (const auto& [key, group] : groups_) count += group.orphans.size();
  return count;
}

RenewRequest::Group Renewals::describe(const TimerGroup& key, const Group& group) const {
  RenewRequest::Group out{.group = key, .highest = group.highest, .count = group.members.size(), .sum = group.sum};
  for (const SessionId id : group.excluded) out.excluded.push_back(timer_of(id));
  out.excluded.insert(out.excluded.end(), group.orphans.begin(), group.orphans.end());
  std::sort(out.excluded.begin(), out.excluded.end());
  if (out.excluded.size() > kTimersListedMax) out.excluded.resize(kTimersListedMax);
  return out;
}

void Renewals::set_due(const TimerGroup& key, Group& group, LeadingTime due) {
  by_due_.erase({group.due, key});
  group.due = due;
  if (!group.members.empty()) by_due_.insert({due, key});
}

void Renewals::reschedule(const TimerGroup& key, Group& group) {
  set_due(key, group, std::min(later(group.last_sent, pause(key, group)), group.newest_due));
}

// V/3 if all attempts are answered. Otherwise an early repeat that backs off, so that an outage causes no storm and a new
// leader is found soon.
Duration Renewals::pause(const TimerGroup& key, const Group& group) const {
  const Duration interval = std::max(sessions_.renewal_interval(key.ttl), kPauseMin);
  if (group.unanswered == 0) return interval;
  const Duration first = std::min(interval / 2, options_.election_timeout / 2);
  const Duration most = std::min(interval, 2 * options_.election_timeout);
  const Duration backed_off = first * (1 << std::min(group.unanswered - 1, 10U));
  return std::max(std::min(backed_off, most), kPauseMin);
}

}  // namespace coordkit::client
