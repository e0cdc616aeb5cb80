// Semaphores, latches, barriers, queues, groups and elections as asynchronous operations of
// Boost.Asio with any completion token. The rules of asio.h apply. Link coordkit::asio.
//
//   absl::StatusOr<WorkItem> item = co_await async_claim(queue, {.term = 1min});
//
// Lifetime: the handle is copied. A grant or an item that is passed must outlive the start of the
// operation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "coordkit/asio/asio.h"
#include "coordkit/export.h"
#include "coordkit/objects/barrier.h"
#include "coordkit/objects/claim_queue.h"
#include "coordkit/objects/counter.h"
#include "coordkit/objects/election.h"
#include "coordkit/objects/group.h"
#include "coordkit/objects/latch.h"
#include "coordkit/objects/semaphore.h"

namespace COORDKIT_EXPORT coordkit {

static_assert(std::is_trivially_destructible_v<PermitsWanted> && std::is_trivially_destructible_v<ClaimWanted>);

// ---- waits: cancelled without effect

// Semaphore::acquire() as an operation. Completes with `absl::StatusOr<Grant>`.
template <typename Token = DefaultToken>
auto async_acquire(Semaphore semaphore, PermitsWanted wanted = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(semaphore)}, &Semaphore::acquire_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), wanted);
}

// Latch::wait() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_wait(Latch latch, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(latch)}, &Latch::wait_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), timeout);
}

// Barrier::wait() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_wait(Barrier barrier, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(barrier)}, &Barrier::wait_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), timeout);
}

// DoubleBarrier::enter() as an operation. Completes with `absl::StatusOr<Grant>`.
template <typename Token = DefaultToken>
auto async_enter(DoubleBarrier barrier, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(barrier)}, &DoubleBarrier::enter_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), timeout);
}

// ClaimQueue::claim() as an operation. Completes with `absl::StatusOr<WorkItem>`.
template <typename Token = DefaultToken>
auto async_claim(ClaimQueue queue, ClaimWanted wanted = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(queue)}, &ClaimQueue::claim_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), wanted);
}

// Election::campaign() as an operation. Completes with `absl::StatusOr<Grant>`.
template <typename Token = DefaultToken>
auto async_campaign(Election election, std::string value = {}, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(election)}, &Election::campaign_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), std::move(value), timeout);
}

// ---- calls that may take effect although they were cancelled

// Gives up the place, however the wait for the other parties ends.
template <typename Token = DefaultToken>
auto async_leave(DoubleBarrier barrier, const Grant& place, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(barrier)}, &DoubleBarrier::leave_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), std::cref(place), timeout);
}

// Latch::count_down() as an operation. Completes with `absl::StatusOr<uint64_t>`.
template <typename Token = DefaultToken>
auto async_count_down(Latch latch, uint64_t by = 1, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(latch)}, &Latch::count_down_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), by);
}

// ClaimQueue::enqueue() as an operation. Completes with `absl::StatusOr<Index>`.
template <typename Token = DefaultToken>
auto async_enqueue(ClaimQueue queue, std::string value, int64_t priority = 0, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(queue)}, &ClaimQueue::enqueue_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), std::move(value), priority);
}

// ClaimQueue::acknowledge() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_acknowledge(ClaimQueue queue, const WorkItem& item, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(queue)}, &ClaimQueue::acknowledge_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), std::cref(item));
}

// Election::proclaim() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_proclaim(Election election, const Grant& leadership, std::string value, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(election)}, &Election::proclaim_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), std::cref(leadership), std::move(value));
}

// Group::join() as an operation. Completes with `absl::StatusOr<Index>`.
template <typename Token = DefaultToken>
auto async_join(Group group, std::string value = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(group)}, &Group::join_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), std::move(value));
}

// Counter::allocate() as an operation. Completes with `absl::StatusOr<int64_t>`.
template <typename Token = DefaultToken>
auto async_allocate(Counter counter, int64_t count, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(counter)}, &Counter::allocate_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), count);
}

}  // namespace coordkit
