#include "sim/objects/waits_and_holds.h"

#include <utility>

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

auto at(coordination::Kind kind, const std::string& name) {
  return [kind, &name](const auto& one) { return one.of == kind && one.name == name; };
}

}  // namespace

// ---- a line

WaitsAndHolds::Wait WaitsAndHolds::wait_at(Kind kind, const std::string& name, SessionId session) const {
  return {.of = kind, .name = name, .session = session, .request = entry_.request, .queued = entry_.index};
}

Result WaitsAndHolds::join_line(Wait wait, const machine::Wait& how) {
  if (how.kind == machine::Wait::Kind::None) return {.code = ResultCode::Held};
  entry_.touch(wait.of, wait.name);
  const uint64_t position = waiting(wait.of, wait.name);
  wait.timed = how.kind == machine::Wait::Kind::Timed;
  waits_.push_back(std::move(wait));
  return {.code = ResultCode::Queued, .position = position};
}

WaitsAndHolds::Hold& WaitsAndHolds::grant(const Wait& wait) {
  entry_.touch(wait.of, wait.name);
  return holds_.emplace_back(Hold{.of = wait.of,
                                  .name = wait.name,
                                  .session = wait.session,
                                  .request = wait.request,
                                  .queued = wait.queued,
                                  .since = entry_.index,
                                  .token = Token(++counter_),
                                  .count = wait.count,
                                  .item = {},
                                  .term = wait.term});
}

void WaitsAndHolds::grant_line(Kind kind, const std::string& name) {
  for (const Wait& wait : waits_) {
    if (wait.of == kind && wait.name == name) entry_.ended.push_back({wait.request, grant(wait).granted()});
  }
  std::erase_if(waits_, at(kind, name));
}

void WaitsAndHolds::end_line(Kind kind, const std::string& name, const Result& result) {
  entry_.touch(kind, name);
  for (const Wait& wait : waits_) {
    if (wait.of == kind && wait.name == name) end(wait, result);
  }
  std::erase_if(waits_, at(kind, name));
}

bool WaitsAndHolds::first_in_line(const Wait& wait) const {
  return &*std::ranges::find_if(waits_, at(wait.of, wait.name)) == &wait;
}

void WaitsAndHolds::end(const Wait& wait, Result result) {
  entry_.touch(wait.of, wait.name);
  entry_.ended.push_back({wait.request, std::move(result)});
}

// ---- one wait, one hold, a session

bool WaitsAndHolds::cancel(SessionId session, const RequestId& request) {
  const auto wait =
      std::ranges::find_if(waits_, [&](const Wait& one) { return one.session == session && one.request == request; });
  if (wait == waits_.end()) return false;
  end(*wait, {.code = ResultCode::Cancelled});
  waits_.erase(wait);
  return true;
}

void WaitsAndHolds::time_out(Index queued) {
  const auto wait = std::ranges::find_if(waits_, [&](const Wait& one) { return one.queued == queued && one.timed; });
  if (wait == waits_.end()) return;
  end(*wait, {.code = ResultCode::WaitTimeout});
  waits_.erase(wait);
}

void WaitsAndHolds::end_waits(SessionId session) {
  for (const Wait& wait : waits_) {
    if (wait.session == session) end(wait, {.code = ResultCode::Lost});
  }
  std::erase_if(waits_, [session](const Wait& wait) { return wait.session == session; });
}

void WaitsAndHolds::give_back(Token token) {
  const auto hold = std::ranges::find(holds_, token, &Hold::token);
  if (hold == holds_.end()) return;
  entry_.touch(hold->of, hold->name);
  holds_.erase(hold);
}

void WaitsAndHolds::give_back_all(Kind kind, const std::string& name) { std::erase_if(holds_, at(kind, name)); }

// S-45: by kind, and within a kind in grant order; each becomes the newest grant.
void WaitsAndHolds::regrant_all(SessionId session) {
  std::vector<Hold> again;
  for (const Hold& hold : holds_) {
    if (hold.session == session) again.push_back(hold);
  }
  std::erase_if(holds_, [session](const Hold& hold) { return hold.session == session; });
  std::ranges::stable_sort(again, {}, &Hold::of);
  for (Hold& hold : again) {
    hold.token = Token(++counter_);
    hold.since = entry_.index;
    entry_.touch(hold.of, hold.name);
    holds_.push_back(hold);
  }
}

// ---- queries

uint64_t WaitsAndHolds::waiting(Kind kind, const std::string& name) const {
  return std::ranges::count_if(waits_, at(kind, name));
}

uint64_t WaitsAndHolds::holding(Kind kind, const std::string& name) const {
  return std::ranges::count_if(holds_, at(kind, name));
}

const WaitsAndHolds::Hold* WaitsAndHolds::find(SessionId session, const std::string& name, Token token) const {
  const auto found = std::ranges::find_if(
      holds_, [&](const Hold& hold) { return hold.token == token && hold.session == session && hold.name == name; });
  return found == holds_.end() ? nullptr : &*found;
}

}  // namespace coordkit::sim
