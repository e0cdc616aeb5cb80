#include "coordination/claim_queues.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

namespace {

// Its place among the items of its queue, which a return does not change.
std::pair<int64_t, Index> place_of(Index id, const Item& item) { return {item.priority, id}; }

}  // namespace

Verdict ClaimQueues::enqueue(Step& step, std::string_view name, int64_t priority, std::string_view value) {
  const Index queue = queue_of(step, name);
  items_.add(step.index, {queue, priority, 0, std::string(value)});
  put_back(step.index);
  return {.id = step.index};
}

Verdict ClaimQueues::claim(Step& step, const Attempt& attempt, Duration term) {
  const std::optional<Index> existing = queues_.named(attempt.name);
  const std::optional<Index> item = existing ? next(*existing) : std::nullopt;
  if (item && step.waits.line(*existing) == 0) {
    return grant(step, *item, {{}, attempt.session, step.request, step.index, term, step.index});
  }
  if (!attempt.waits) return {.kind = Result::Held};
  return step.waits.join(step, attempt, WaitFor::Item, queue_of(step, attempt.name), 0, term);
}

Verdict ClaimQueues::acknowledge(Step& step, SessionId session, std::string_view name, Token token) {
  const Claim* claim = owned(session, name, token);
  if (!claim) return {.kind = Result::NotOwner};
  const Index item = claim->object;
  touch(items_.at(item).object);
  end_claim(step, token);
  items_.remove(item);
  return {.id = item};
}

bool ClaimQueues::release(Step& step, SessionId session, std::string_view name, Token token) {
  if (!owned(session, name, token)) return false;
  give_back(step, token);
  return true;
}

bool ClaimQueues::time_out(Step& step, Index queued, Token token) {
  const Claim* claim = claims_.find(token);
  if (!claim || claim->queued != queued || claim->term <= Duration::zero()) return false;
  give_back(step, token);
  return true;
}

void ClaimQueues::end(SessionId session, Step& step) {
  const auto claims = claims_.of_session(session);
  for (const Token token : claims) give_back(step, token);
}

void ClaimQueues::decide_waits(Step& step) {
  step.waits.serve(touched_, [&](Index queue, Index wait) {
    const std::optional<Index> item = next(queue);
    if (!item) return false;
    const Wait& row = step.waits.rows().at(wait);
    step.waits.decide(wait, grant(step, *item, {{}, row.session, row.request, wait, row.term, step.index}), step);
    return true;
  });
  for (const Index queue : touched_) {
    if (items_.of_object(queue).empty() && step.waits.line(queue) == 0) queues_.remove(queue);
  }
  touched_.clear();
}

void ClaimQueues::ready(Index queue, absl::FunctionRef<bool(Index, const Item&)> visit) const {
  const auto found = ready_.find(queue);
  if (found == ready_.end()) return;
  for (const auto& [priority, item] : found->second) {
    if (!visit(item, items_.at(item))) return;
  }
}

size_t ClaimQueues::length(Index queue) const {
  const auto found = ready_.find(queue);
  return found == ready_.end() ? 0 : found->second.size();
}

Verdict ClaimQueues::grant_verdict(Token token) const {
  const Claim& claim = claims_.at(token);
  const Item& item = items_.at(claim.object);
  return {.kind = Result::Granted,
          .token = token,
          .id = claim.object,
          .since = claim.since,
          .number = static_cast<int64_t>(item.deliveries),
          .value = item.value};
}

Index ClaimQueues::queue_of(Step& step, std::string_view name) {
  if (const std::optional<Index> queue = queues_.named(name)) return *queue;
  queues_.add(step.index, {std::string(name)});
  return step.index;
}

std::optional<Index> ClaimQueues::next(Index queue) const {
  const auto found = ready_.find(queue);
  return found == ready_.end() ? std::nullopt : std::optional(found->second.begin()->second);
}

Verdict ClaimQueues::grant(Step& step, Index item, Claim claim) {
  const Item& row = items_.at(item);
  const auto ready = ready_.find(row.object);
  ready->second.erase(place_of(item, row));
  if (ready->second.empty()) ready_.erase(ready);
  claim.object = item;
  const Token token = step.next_token();
  if (claim.term > Duration::zero()) step.timers.push_back({claim.queued, token, claim.term});
  claims_.add(token, claim);
  return grant_verdict(token);
}

const Claim* ClaimQueues::owned(SessionId session, std::string_view name, Token token) const {
  const Claim* claim = claims_.find(token);
  if (!claim || claim->session != session) return nullptr;
  return queues_.at(items_.at(claim->object).object).name == name ? claim : nullptr;
}

void ClaimQueues::end_claim(Step& step, Token token) {
  const Claim& claim = claims_.at(token);
  if (claim.term > Duration::zero()) step.timers.push_back({claim.queued, token, {}});
  claims_.remove(token);
}

void ClaimQueues::give_back(Step& step, Token token) {
  const Index item = claims_.at(token).object;
  end_claim(step, token);
  items_.change(item, [](Item& row) { ++row.deliveries; });
  put_back(item);
}

void ClaimQueues::put_back(Index item) {
  const Item& row = items_.at(item);
  ready_[row.object].insert(place_of(item, row));
  touch(row.object);
}

// The terms of the claims start over: the timer of each claim continues under the new token.
void ClaimQueues::regrant_all(SessionId session, Step& step) {
  claims_.rekey(
      session, [&step] { return step.next_token(); },
      [&step](Token token, Claim& claim) {
        claim.since = step.index;
        if (claim.term > Duration::zero()) step.timers.push_back({claim.queued, token, claim.term});
      });
}

absl::Status ClaimQueues::restored(const Waits& waits) {
  absl::Status status;
  claims_.each([&](Token, const Claim& claim) {
    const bool possible = items_.find(claim.object) && claims_.of_object(claim.object).size() == 1 && claim.session &&
                          claim.queued && claim.queued <= claim.since && claim.term >= Duration::zero();
    if (!possible) status = absl::DataLossError("an impossible claim on an item");
  });
  items_.each([&](Index id, const Item& item) {
    if (!queues_.find(item.object)) status = absl::DataLossError("an item without a queue");
    if (claims_.of_object(id).empty()) ready_[item.object].insert(place_of(id, item));
  });
  queues_.each([&](Index id, const Queue&) {
    const bool waited_for = waits.line(id) != 0;
    if (items_.of_object(id).empty() && !waited_for) status = absl::DataLossError("a queue of nothing");
    if (waited_for && length(id) != 0) status = absl::DataLossError("a wait for an item that is free");
  });
  return status;
}

}  // namespace coordkit::coordination
