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
  return asio_detail::without_effect<&Semaphore::acquire_async, Token>(token, std::move(semaphore), wanted);
}

// Latch::wait() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_wait(Latch latch, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::without_effect<&Latch::wait_async, Token>(token, std::move(latch), timeout);
}

// Barrier::wait() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_wait(Barrier barrier, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::without_effect<&Barrier::wait_async, Token>(token, std::move(barrier), timeout);
}

// DoubleBarrier::enter() as an operation. Completes with `absl::StatusOr<Grant>`.
template <typename Token = DefaultToken>
auto async_enter(DoubleBarrier barrier, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::without_effect<&DoubleBarrier::enter_async, Token>(token, std::move(barrier), timeout);
}

// ClaimQueue::claim() as an operation. Completes with `absl::StatusOr<WorkItem>`.
template <typename Token = DefaultToken>
auto async_claim(ClaimQueue queue, ClaimWanted wanted = {}, Token&& token = Token()) {
  return asio_detail::without_effect<&ClaimQueue::claim_async, Token>(token, std::move(queue), wanted);
}

// Election::campaign() as an operation. Completes with `absl::StatusOr<Grant>`.
template <typename Token = DefaultToken>
auto async_campaign(Election election, std::string value = {}, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::without_effect<&Election::campaign_async, Token>(token, std::move(election), std::move(value), timeout);
}

// ---- calls that may take effect although they were cancelled

// Gives up the place, however the wait for the other parties ends.
template <typename Token = DefaultToken>
auto async_leave(DoubleBarrier barrier, const Grant& place, Duration timeout = kForever, Token&& token = Token()) {
  return asio_detail::may_take_effect<&DoubleBarrier::leave_async, Token>(token, std::move(barrier), std::cref(place), timeout);
}

// Latch::count_down() as an operation. Completes with `absl::StatusOr<uint64_t>`.
template <typename Token = DefaultToken>
auto async_count_down(Latch latch, uint64_t by = 1, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Latch::count_down_async, Token>(token, std::move(latch), by);
}

// ClaimQueue::enqueue() as an operation. Completes with `absl::StatusOr<Index>`.
template <typename Token = DefaultToken>
auto async_enqueue(ClaimQueue queue, std::string value, int64_t priority = 0, Token&& token = Token()) {
  return asio_detail::may_take_effect<&ClaimQueue::enqueue_async, Token>(token, std::move(queue), std::move(value), priority);
}

// ClaimQueue::acknowledge() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_acknowledge(ClaimQueue queue, const WorkItem& item, Token&& token = Token()) {
  return asio_detail::may_take_effect<&ClaimQueue::acknowledge_async, Token>(token, std::move(queue), std::cref(item));
}

// Election::proclaim() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_proclaim(Election election, const Grant& leadership, std::string value, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Election::proclaim_async, Token>(token, std::move(election), std::cref(leadership),
                                                                        std::move(value));
}

// Group::join() as an operation. Completes with `absl::StatusOr<Index>`.
template <typename Token = DefaultToken>
auto async_join(Group group, std::string value = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Group::join_async, Token>(token, std::move(group), std::move(value));
}

// Counter::allocate() as an operation. Completes with `absl::StatusOr<int64_t>`.
template <typename Token = DefaultToken>
auto async_allocate(Counter counter, int64_t count, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Counter::allocate_async, Token>(token, std::move(counter), count);
}

}  // namespace coordkit
