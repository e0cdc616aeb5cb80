// A distributed read-write lock in the shape of std::shared_timed_mutex, for std::unique_lock,
// std::shared_lock and friends.
//
// Any number of threads, of any process, may share it; one alone may have it exclusively. It is
// granted in the order of asking: a waiting writer stops later readers, so no one starves. Each
// lock() and lock_shared() is a separate owner. So many threads may use one object at once, as with
// its model in the standard library. A thread must not lock it twice: the second call would wait
// for the first. Any thread may unlock. unlock() and unlock_shared() return at once; the release
// follows in order.
//
// Errors: as Mutex: an answer that is neither yes nor no throws std::system_error, whose code is a
// Reason.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/session.h"
#include "coordkit/timeout.h"

namespace COORDKIT_EXPORT coordkit {

class SharedMutex {
 public:
  // The lock `name` of this session. Makes no call.
  SharedMutex(Session session, std::string name);
  ~SharedMutex() = default;  // releases what is held
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  // ---- exclusively

  // Waits as long as it takes. Errors throw: it returns only with the lock.
  void lock();
  bool try_lock();  // false: another owner has it, or waits
  // Waits at most that long. False: it was not enough.
  template <typename Rep, typename Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return try_lock_within(LockMode::Exclusive, timeout_of(timeout));
  }
  // Waits until that moment of any clock, which becomes a time to wait at the call. False: it was
  // not enough.
  template <typename TimeClock, typename TimeDuration>
  bool try_lock_until(std::chrono::time_point<TimeClock, TimeDuration> deadline) {
    return try_lock_within(LockMode::Exclusive, timeout_until(deadline));
  }
  void unlock();  // gives the exclusive hold up at once; the release follows

  // ---- together with others

  // Waits as long as it takes. Errors throw: it returns only with the lock.
  void lock_shared();
  bool try_lock_shared();  // false: an owner has it exclusively, or waits
  // Waits at most that long. False: it was not enough.
  template <typename Rep, typename Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> timeout) {
    return try_lock_within(LockMode::Shared, timeout_of(timeout));
  }
  // Waits until that moment of any clock, which becomes a time to wait at the call. False: it was
  // not enough.
  template <typename TimeClock, typename TimeDuration>
  bool try_lock_shared_until(std::chrono::time_point<TimeClock, TimeDuration> deadline) {
    return try_lock_within(LockMode::Shared, timeout_until(deadline));
  }
  void unlock_shared();  // one of those this object has: they are all alike

  // These tell the state of the exclusive hold if there is one, else of all shared ones: valid
  // while every one of them is, and the newest token. Call them only while locked. If several
  // threads share it, fence each by a Grant of its own (Session::acquire_shared).
  bool valid() const;
  Token token() const;

 private:
  bool try_lock_within(LockMode mode, Duration timeout);
  bool take(LockMode mode, Duration timeout);

  Session session_;
  std::string name_;
  mutable std::mutex guard_;  // guards the grants: one thread may lock while another unlocks
  std::optional<Grant> exclusive_;
  std::vector<Grant> shared_;
};

}  // namespace coordkit
