// Claim queues, with the caller's types around commands, waits and questions (objects.h).
#include <utility>

#include "client/impl.h"
#include "client/typed_answers.h"
#include "client/waits.h"

namespace coordkit {
namespace {

using client::Executed;
using client::giving;
using client::held_if;
using client::OutcomeOfView;
using coordination::Kind;
using machine::CoordinationCommand;

Index entry_of(const Executed& executed) { return executed.result.id; }

OutcomeOfView of_item(const LockWait& wait) {
  if (wait.kind != LockWait::Kind::None) return {};
  return {Kind::Queue, [](const machine::ObjectView& now) { return held_if(now.number == 0); }};
}

}  // namespace

CallId CoordinationCalls::enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done,
                                  CallDeadline deadline) {
  machine::Enqueue body{.name = name, .priority = priority, .value = std::move(value)};
  return client_->impl_->objects.command(nullptr, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                         giving<Executed>(std::move(done), entry_of));
}

CallId CoordinationCalls::claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done) {
  machine::ClaimItem body{
      .session = client::id_of(session), .name = name, .wait = client::wait_of(options.wait), .term = options.term};
  return client_->impl_->objects.await(
      session, std::move(body), std::move(name), options.wait, options.deadline, of_item(options.wait),
      giving<Executed>(std::move(done), [](const Executed& executed) {
        const machine::Result& result = executed.result;
        return ClaimedItem{executed.hold, result.id, static_cast<uint64_t>(result.number), result.value};
      }));
}

CallId CoordinationCalls::acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->objects.acknowledge(claim, std::move(done), deadline);
}

CallId CoordinationCalls::item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline) {
  return client_->impl_->objects.look(Kind::Queue, std::move(name), limit, deadline, std::move(done),
                                      [](const machine::ObjectView& now, Index as_of) {
                                        ItemQueueInfo info{.length = static_cast<uint64_t>(now.number),
                                                           .claimed = now.taken,
                                                           .waiters = now.waiters,
                                                           .next = {},
                                                           .more = now.more,
                                                           .as_of = as_of};
                                        for (const auto& row : now.rows) {
                                          info.next.push_back({row.id, row.priority, row.count, row.value});
                                        }
                                        return info;
                                      });
}

}  // namespace coordkit
