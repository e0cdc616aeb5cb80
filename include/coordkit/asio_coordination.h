// Semaphores, latches, barriers, queues, groups and elections as asynchronous operations with any completion token of
// Boost.Asio: what asio.h is to sessions and locks, and under its rules. Link coordkit::asio.
//
//   absl::StatusOr<WorkItem> item = co_await async_claim(queue, {.term = 1min}, use_awaitable);
//
// The handle is copied; a grant or an item that is given outlives the start of the operation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "coordkit/asio.h"
#include "coordkit/barrier.h"
#include "coordkit/claim_queue.h"
#include "coordkit/counter.h"
#include "coordkit/election.h"
#include "coordkit/export.h"
#include "coordkit/group.h"
#include "coordkit/latch.h"
#include "coordkit/semaphore.h"

namespace COORDKIT_EXPORT coordkit {

static_assert(std::is_trivially_destructible_v<PermitsWanted> && std::is_trivially_destructible_v<ClaimWanted>);

// ---- waits: cancelled without effect

template <typename Token>
auto async_acquire(Semaphore semaphore, PermitsWanted wanted, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<Grant>>(
      [semaphore = std::move(semaphore), wanted](Callback<Grant> done) mutable {
        return semaphore.acquire_async(wanted, std::move(done));
      },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_wait(Latch latch, Duration timeout, Token&& token) {
  return asio_detail::initiate<absl::Status>(
      [latch = std::move(latch), timeout](DoneCallback done) mutable { return latch.wait_async(timeout, std::move(done)); },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_wait(Barrier barrier, Duration timeout, Token&& token) {
  return asio_detail::initiate<absl::Status>(
      [barrier = std::move(barrier), timeout](DoneCallback done) mutable {
        return barrier.wait_async(timeout, std::move(done));
      },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_enter(DoubleBarrier barrier, Duration timeout, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<Grant>>(
      [barrier = std::move(barrier), timeout](Callback<Grant> done) mutable {
        return barrier.enter_async(timeout, std::move(done));
      },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_claim(ClaimQueue queue, ClaimWanted wanted, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<WorkItem>>(
      [queue = std::move(queue), wanted](Callback<WorkItem> done) mutable {
        return queue.claim_async(wanted, std::move(done));
      },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_campaign(Election election, std::string value, Duration timeout, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<Grant>>(
      [election = std::move(election), value = std::move(value), timeout](Callback<Grant> done) mutable {
        return election.campaign_async(std::move(value), timeout, std::move(done));
      },
      asio_detail::kWithoutEffect, std::forward<Token>(token));
}

// ---- what may take effect all the same

// The place is given up whatever becomes of the wait for the others.
template <typename Token>
auto async_leave(DoubleBarrier barrier, const Grant& place, Duration timeout, Token&& token) {
  return asio_detail::initiate<absl::Status>(
      [barrier = std::move(barrier), &place, timeout](DoneCallback done) mutable {
        return barrier.leave_async(place, timeout, std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_count_down(Latch latch, uint64_t by, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<uint64_t>>(
      [latch = std::move(latch), by](Callback<uint64_t> done) mutable { return latch.count_down_async(by, std::move(done)); },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_enqueue(ClaimQueue queue, std::string value, int64_t priority, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<Index>>(
      [queue = std::move(queue), value = std::move(value), priority](Callback<Index> done) mutable {
        return queue.enqueue_async(std::move(value), priority, std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_acknowledge(ClaimQueue queue, const WorkItem& item, Token&& token) {
  return asio_detail::initiate<absl::Status>(
      [queue = std::move(queue), &item](DoneCallback done) mutable { return queue.acknowledge_async(item, std::move(done)); },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_proclaim(Election election, const Grant& leadership, std::string value, Token&& token) {
  return asio_detail::initiate<absl::Status>(
      [election = std::move(election), &leadership, value = std::move(value)](DoneCallback done) mutable {
        return election.proclaim_async(leadership, std::move(value), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_join(Group group, std::string value, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<Index>>(
      [group = std::move(group), value = std::move(value)](Callback<Index> done) mutable {
        return group.join_async(std::move(value), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token>
auto async_allocate(Counter counter, int64_t count, Token&& token) {
  return asio_detail::initiate<absl::StatusOr<int64_t>>(
      [counter = std::move(counter), count](Callback<int64_t> done) mutable {
        return counter.allocate_async(count, std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

}  // namespace coordkit
