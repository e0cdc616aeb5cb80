#include "coordination/semaphores.h"

#include <limits>

namespace coordkit::coordination {

using Result = Verdict::Kind;

Verdict Semaphores::set_limit(Step& step, std::string_view name, uint64_t limit) {
  const std::optional<Index> existing = semaphores_.named(name);
  if (!existing) {
    semaphores_.add(step.index, {std::string(name), limit});
    return {};
  }
  semaphores_.change(*existing, [limit](Semaphore& semaphore) { semaphore.limit = limit; });
  touch(*existing);
  return {};
}

// A try that fails leaves no trace, so a semaphore is created only for a request that gets permits or waits for them.
Verdict Semaphores::acquire(Step& step, const Attempt& attempt, uint64_t count, std::optional<uint64_t> initial_limit) {
  std::optional<Index> semaphore = semaphores_.named(attempt.name);
  if (!semaphore) {
    if (!initial_limit) return {.kind = Result::NotFound};
    if (!attempt.waits && count > *initial_limit) return {.kind = Result::Held};
    semaphores_.add(step.index, {std::string(attempt.name), *initial_limit});
    semaphore = step.index;
  }
  const bool first = step.waits.line(*semaphore) == 0;
  if (first && fits(*semaphore, count)) return grant(step, *semaphore, attempt.session, step.request, count);
  return step.waits.join(step, attempt, WaitFor::Permits, *semaphore, count);
}

bool Semaphores::release(SessionId session, std::string_view name, Token token) {
  const Permits* permits = permits_.find(token);
  if (!permits || permits->session != session || semaphores_.at(permits->object).name != name) return false;
  give_back(token);
  return true;
}

Verdict Semaphores::erase(Step& step, std::string_view name) {
  const std::optional<Index> semaphore = semaphores_.named(name);
  if (!semaphore) return {.kind = Result::NotFound};
  if (held(*semaphore) != 0 || step.waits.line(*semaphore) != 0) return {.kind = Result::Held};
  semaphores_.remove(*semaphore);
  return {};
}

void Semaphores::end(SessionId session) {
  const auto permits = permits_.of_session(session);
  for (const Token token : permits) give_back(token);
}

void Semaphores::decide_waits(Step& step) {
  step.waits.serve(touched_, [&](Index semaphore, Index wait) {
    const Wait& row = step.waits.rows().at(wait);
    if (!fits(semaphore, row.amount)) return false;
    step.waits.decide(wait, grant(step, semaphore, row.session, row.request, row.amount), step);
    return true;
  });
  touched_.clear();
}

uint64_t Semaphores::held(Index semaphore) const {
  const auto found = held_.find(semaphore);
  return found == held_.end() ? 0 : found->second;
}

// Whether held + count <= limit, without overflow: the limit may have been lowered below the permits held.
bool Semaphores::fits(Index semaphore, uint64_t count) const {
  const uint64_t limit = semaphores_.at(semaphore).limit;
  const uint64_t taken = held(semaphore);
  return taken <= limit && count <= limit - taken;
}

Verdict Semaphores::grant(Step& step, Index semaphore, SessionId session, const RequestId& request, uint64_t count) {
  const Token token = step.next_token();
  permits_.add(token, {semaphore, session, request, count, step.index});
  held_[semaphore] += count;
  return {.kind = Result::Granted, .token = token, .since = step.index};
}

void Semaphores::give_back(Token token) {
  const Permits& permits = permits_.at(token);
  const auto held = held_.find(permits.object);
  held->second -= permits.count;
  if (held->second == 0) held_.erase(held);
  touch(permits.object);
  permits_.remove(token);
}

void Semaphores::regrant_all(SessionId session, Step& step) {
  permits_.rekey(
      session, [&step] { return step.next_token(); }, [&step](Token, Permits& hold) { hold.since = step.index; });
}

absl::Status Semaphores::restored(const Waits& waits) {
  absl::Status status;
  permits_.each([&](Token, const Permits& permits) {
    uint64_t& held = held_[permits.object];
    const bool possible = semaphores_.find(permits.object) && permits.session && permits.count != 0 &&
                          permits.count <= std::numeric_limits<uint64_t>::max() - held;
    if (!possible) status = absl::DataLossError("impossible permits of a semaphore");
    held += permits.count;
  });
  if (!status.ok()) return status;
  semaphores_.each([&](Index id, const Semaphore&) {
    const auto& line = waits.rows().of_object(id);
    if (!line.empty() && fits(id, waits.rows().at(*line.begin()).amount)) {
      status = absl::DataLossError("a wait for permits that are free");
    }
  });
  return status;
}

}  // namespace coordkit::coordination
