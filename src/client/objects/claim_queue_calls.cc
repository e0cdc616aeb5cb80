// Claim queues, with the caller's types around commands, waits and reads (objects.h).
#include <utility>

#include "client/impl.h"

namespace coordkit {
namespace {

using client::Executed;
using coordination::Kind;

client::OutcomeOfView of_item(const LockWait& wait) {
  if (wait.kind != LockWait::Kind::NoWait) return {};
  return {Kind::Queue, [](const machine::ObjectView& now) { return client::held_if(now.number == 0); }};
}

}  // namespace

CallId CoordinationCalls::enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done,
                                  CallDeadline deadline) {
  machine::Enqueue body{.name = std::move(name), .priority = priority, .value = std::move(value)};
  return client_->impl_->objects.command(std::move(body), deadline, std::move(done), client::id_made);
}

CallId CoordinationCalls::claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done) {
  machine::ClaimItem body{.name = std::move(name), .term = options.term};
  return client_->impl_->objects.await(
      session, std::move(body), options.wait, options.deadline, of_item(options.wait), std::move(done),
      [](const Executed& executed) {
        const machine::Result& result = executed.result;
        return ClaimedItem{executed.hold, result.id, static_cast<uint64_t>(result.number), result.value};
      });
}

CallId CoordinationCalls::acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->objects.acknowledge(claim, std::move(done), deadline);
}

CallId CoordinationCalls::item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(Kind::Queue, std::move(name), limit, deadline, std::move(done),
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
