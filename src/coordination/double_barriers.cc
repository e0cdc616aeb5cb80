#include "coordination/double_barriers.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

Verdict DoubleBarriers::enter(Step& step, const Attempt& attempt, uint64_t parties, AtPartyEnd at_end) {
  const std::optional<Index> existing = barriers_.named(attempt.name);
  if (existing && barriers_.at(*existing).parties != parties) return {.kind = Result::InvalidArgument};
  if (existing && barriers_.at(*existing).complete) return {.kind = Result::TooManyParties};
  const uint64_t expected = existing ? barriers_.at(*existing).expected : parties;
  const bool last = (existing ? step.waits.line(*existing) : 0) + 1 >= expected;
  if (!last && !attempt.waits) return {.kind = Result::Held};
  if (!existing) barriers_.add(step.index, {std::string(attempt.name), parties, parties, at_end});
  const Index barrier = existing.value_or(step.index);
  if (!last) return step.waits.join(step, attempt, WaitFor::Entering, barrier);
  complete(step, barrier);
  return {.kind = Result::Granted, .token = admit(step, barrier, attempt.session, step.request), .since = step.index};
}

Verdict DoubleBarriers::leave(Step& step, const Attempt& attempt, Token token) {
  const Place* place = places_.find(token);
  if (!place) return {.kind = Result::NotOwner};
  const Index barrier = place->object;
  if (!remove(attempt.session, attempt.name, token)) return {.kind = Result::NotOwner};
  const bool last = places_.of_object(barrier).empty();
  if (last || !attempt.waits) return {};
  return step.waits.join(step, attempt, WaitFor::Leaving, barrier);
}

bool DoubleBarriers::release(SessionId session, std::string_view name, Token token) { return remove(session, name, token); }

void DoubleBarriers::end(SessionId session) {
  const auto places = places_.of_session(session);
  for (const Token token : places) {
    const Index barrier = places_.at(token).object;
    if (barriers_.at(barrier).at_end == AtPartyEnd::Breaks) broken_.insert(barrier);
    touch(barrier);
    places_.remove(token);
  }
}

void DoubleBarriers::lost_while_entering(Index barrier) {
  touch(barrier);
  if (barriers_.at(barrier).at_end == AtPartyEnd::Breaks) {
    broken_.insert(barrier);
  } else {
    barriers_.change(barrier, [](DoubleBarrier& row) { --row.expected; });
  }
}

void DoubleBarriers::decide_waits(Step& step) {
  for (const Index barrier : touched_) decide_waits_at(step, barrier);
  touched_.clear();
  broken_.clear();
}

void DoubleBarriers::decide_waits_at(Step& step, Index barrier) {
  const DoubleBarrier& row = barriers_.at(barrier);
  const size_t waiting = step.waits.line(barrier);
  if (broken_.contains(barrier)) {
    step.waits.decide_all(barrier, {.kind = Result::Broken}, step);
    const auto places = places_.of_object(barrier);
    for (const Token token : places) places_.remove(token);
    barriers_.remove(barrier);
  } else if (row.complete && places_.of_object(barrier).empty()) {  // the last one has left
    step.waits.decide_all(barrier, {}, step);
    barriers_.remove(barrier);
  } else if (!row.complete && waiting == 0) {  // no party is left
    barriers_.remove(barrier);
  } else if (!row.complete && waiting >= row.expected) {  // the last missing party has died
    complete(step, barrier);
  }
}

// All parties in line get a place inside, in order of arrival.
void DoubleBarriers::complete(Step& step, Index barrier) {
  barriers_.change(barrier, [](DoubleBarrier& row) { row.complete = true; });
  const auto line = step.waits.rows().of_object(barrier);
  for (const Index wait : line) {
    const Wait row = step.waits.rows().at(wait);
    const Token token = admit(step, barrier, row.session, row.request);
    step.waits.decide(wait, {.kind = Result::Granted, .token = token, .since = step.index}, step);
  }
}

Token DoubleBarriers::admit(Step& step, Index barrier, SessionId session, const RequestId& request) {
  const Token token = step.next_token();
  places_.add(token, {barrier, session, request, step.index});
  return token;
}

bool DoubleBarriers::remove(SessionId session, std::string_view name, Token token) {
  const Place* place = places_.find(token);
  if (!place || place->session != session || barriers_.at(place->object).name != name) return false;
  touch(place->object);
  places_.remove(token);
  return true;
}

void DoubleBarriers::regrant_all(SessionId session, Step& step) {
  places_.rekey(
      session, [&step] { return step.next_token(); }, [&step](Token, Place& hold) { hold.since = step.index; });
}

absl::Status DoubleBarriers::restored(const Waits& waits) const {
  absl::Status status;
  places_.each([&](Token, const Place& place) {
    const DoubleBarrier* barrier = barriers_.find(place.object);
    if (!barrier || !barrier->complete || !place.session) status = absl::DataLossError("a place without a barrier");
  });
  waits.rows().each([&](Index, const Wait& wait) {
    const bool enters = wait.purpose == WaitFor::Entering;
    if (!enters && wait.purpose != WaitFor::Leaving) return;
    const DoubleBarrier* barrier = barriers_.find(wait.object);
    if (!barrier || barrier->complete == enters) status = absl::DataLossError("a wait at the wrong side of a barrier");
  });
  if (!status.ok()) return status;
  barriers_.each([&](Index id, const DoubleBarrier& barrier) {
    const size_t line = waits.line(id);
    const bool rule = barrier.at_end == AtPartyEnd::Breaks || barrier.at_end == AtPartyEnd::Shrinks;
    const bool present = barrier.complete ? !places_.of_object(id).empty() : line != 0 && line < barrier.expected;
    if (!rule || !present || barrier.expected > barrier.parties) status = absl::DataLossError("an impossible double barrier");
  });
  return status;
}

}  // namespace coordkit::coordination
