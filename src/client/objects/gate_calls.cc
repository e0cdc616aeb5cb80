// Latches, barriers and double barriers: waiters wait until something is opened (objects.h).
#include <utility>

#include "client/impl.h"

namespace coordkit {
namespace {

using client::Executed;
using client::held_if;
using client::OutcomeOfView;
using coordination::Kind;
using machine::ObjectView;
using machine::ResultCode;

OutcomeOfView of_latch(const LockWait& wait) {
  return {Kind::Latch, [tries = wait.kind == LockWait::Kind::NoWait](const ObjectView& now) -> std::optional<ResultCode> {
            if (!now.exists) return ResultCode::NotFound;
            return now.number == 0 ? std::optional(ResultCode::Ok) : held_if(tries);
          }};
}

OutcomeOfView of_barrier(const LockWait& wait) {
  return {Kind::Barrier, [tries = wait.kind == LockWait::Kind::NoWait](const ObjectView& now) -> std::optional<ResultCode> {
            return now.exists ? held_if(tries) : std::optional(ResultCode::Ok);
          }};
}

}  // namespace

// ---- latches

CallId CoordinationCalls::create_latch(const SessionRef& session, std::string name, uint64_t count, DoneCallback done,
                                       CallDeadline deadline) {
  machine::CreateLatch body{.name = std::move(name), .count = count};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::count_down(const SessionRef& session, std::string name, uint64_t by, Callback<uint64_t> done,
                                     CallDeadline deadline) {
  machine::CountDown body{.name = std::move(name), .by = by};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done), [](const Executed& executed) {
    return static_cast<uint64_t>(executed.result.number);
  });
}

CallId CoordinationCalls::await_latch(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                                      CallDeadline deadline) {
  machine::AwaitLatch body{.name = std::move(name)};
  return client_->impl_->objects.await(session, std::move(body), wait, deadline, of_latch(wait), std::move(done));
}

CallId CoordinationCalls::delete_latch(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline) {
  machine::DeleteLatch body{.name = std::move(name)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::latch(std::string name, Callback<LatchInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(Kind::Latch, std::move(name), 0, deadline, std::move(done),
                                      [](const ObjectView& now, Index as_of) {
                                        return LatchInfo{now.exists, static_cast<uint64_t>(now.number), now.waiters, as_of};
                                      });
}

// ---- barriers

CallId CoordinationCalls::close_barrier(const SessionRef& session, std::string name, BarrierAtSessionEnd at_end,
                                        DoneCallback done, CallDeadline deadline) {
  machine::CloseBarrier body{.name = std::move(name), .at_end = machine::AtSessionEnd(static_cast<uint8_t>(at_end))};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::open_barrier(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline) {
  machine::OpenBarrier body{.name = std::move(name)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::await_barrier(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                                        CallDeadline deadline) {
  machine::AwaitBarrier body{.name = std::move(name)};
  return client_->impl_->objects.await(session, std::move(body), wait, deadline, of_barrier(wait), std::move(done));
}

CallId CoordinationCalls::barrier(std::string name, Callback<BarrierInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(Kind::Barrier, std::move(name), 0, deadline, std::move(done),
                                      [](const ObjectView& now, Index as_of) {
                                        return BarrierInfo{now.exists, now.waiters, as_of};
                                      });
}

// ---- double barriers

CallId CoordinationCalls::enter(const SessionRef& session, std::string name, uint64_t parties, PartyAtSessionEnd at_end,
                                LockWait wait, Callback<HoldRef> done, CallDeadline deadline) {
  machine::EnterBarrier body{
      .name = std::move(name), .parties = parties, .at_end = machine::AtPartyEnd(static_cast<uint8_t>(at_end))};
  return client_->impl_->objects.await(session, std::move(body), wait, deadline, {}, std::move(done), client::hold_of);
}

CallId CoordinationCalls::leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->objects.leave(place, wait, std::move(done), deadline);
}

CallId CoordinationCalls::double_barrier(std::string name, Callback<DoubleBarrierInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(Kind::DoubleBarrier, std::move(name), 0, deadline, std::move(done),
                                      [](const ObjectView& now, Index as_of) {
                                        return DoubleBarrierInfo{now.exists, now.limit, now.taken, now.waiters, as_of};
                                      });
}

}  // namespace coordkit
