// A distributed lock in the shape of std::timed_mutex, for std::unique_lock, std::scoped_lock and
// friends.
//
// Each Mutex object is a separate owner: two objects of one session exclude each other. Threads
// that share one object exclude each other too: they wait for each other in this process, and one
// of them at a time asks the cluster. As with std::timed_mutex, the thread that has it must not
// lock it again. Unlike it, any thread may unlock. unlock() returns at once; the release follows in
// order.
//
// To lock several at once, use MultiLock below. std::scoped_lock and std::lock work too, but they
// try, release and try again. Each of these tries is an entry of the log: under contention dozens
// of entries for each success.
//
// Errors: lock() and the try functions throw std::system_error when the answer is neither yes nor
// no (dead session, no leader in time). These are the only throws of this library. The exception's
// code is a Reason (error.h), its what() the sentence.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/session.h"
#include "coordkit/timeout.h"

namespace COORDKIT_EXPORT coordkit {

// Options of a Mutex.
struct MutexOptions {
  bool sticky = false;  // LockOptions::sticky
};

class Mutex {
 public:
  // The lock `name` of this session. Makes no call.
  Mutex(Session session, std::string name, MutexOptions options = {});
  ~Mutex() = default;  // releases what is held
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Waits as long as it takes. Errors throw (see above): it returns only with the lock.
  void lock();
  bool try_lock();  // false: another owner has it, or waits
  // Waits at most that long, for other threads and for other owners together. False: it was not
  // enough.
  template <typename Rep, typename Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return try_lock_within(timeout_of(timeout));
  }
  // Waits until that moment of any clock, which becomes a time to wait at the call. False: it was
  // not enough.
  template <typename TimeClock, typename TimeDuration>
  bool try_lock_until(std::chrono::time_point<TimeClock, TimeDuration> deadline) {
    return try_lock_within(timeout_until(deadline));
  }
  void unlock();  // gives it up at once; the release follows

  // These concern the current hold. Call them only while locked.
  bool valid() const;
  Token token() const;
  std::stop_token lost() const;

 private:
  friend class MultiLock;
  static absl::StatusOr<Grant> acquire_all(const std::vector<Mutex*>& mutexes, Duration timeout);
  bool try_lock_within(Duration timeout);
  void refuse_to_wait();
  bool enter(Duration timeout);  // enters this object before the cluster is asked; false: another
                                 // thread has it for that long
  bool ask(Duration timeout);

  Session session_;
  std::string name_;
  std::string owner_;
  bool sticky_;
  mutable std::mutex guard_;  // guards the fields below: lock() may run in one thread and unlock()
                              // in another
  std::condition_variable left_;
  bool taken_ = false;  // by a thread that has the lock or asks for it
  Grant grant_;
};

// All of them or none, in one log entry (Session::acquire_all), until the end of the scope. It has
// the shape of std::scoped_lock, but neither its tries nor an order to agree on. The mutexes lend
// their names and their session, which must be the same for all. The hold belongs to this object,
// with one token for all.
//
// Threads: used by one thread.
//
//   MultiLock both(from, to);
//   move_money(both.token());
class MultiLock {
 public:
  // Waits as long as it takes.
  template <typename... More>
  explicit MultiLock(Mutex& first, More&... more) : MultiLock(kForever, first, more...) {}
  // Waits at most that long. owns_lock() says whether it has them.
  template <typename... More>
  MultiLock(Duration timeout, Mutex& first, More&... more) : MultiLock(std::vector<Mutex*>{&first, &more...}, timeout) {}
  ~MultiLock() = default;  // releases what is held
  MultiLock(const MultiLock&) = delete;
  MultiLock& operator=(const MultiLock&) = delete;

  bool owns_lock() const { return owns_; }          // whether it has them; false: it waited in vain
  explicit operator bool() const { return owns_; }  // as owns_lock()
  void unlock();                                    // releases all of them now
  // As those of Mutex. Call them only while locked.
  bool valid() const { return grant_.valid(); }
  Token token() const { return grant_.token(); }
  std::stop_token lost() const { return grant_.lost(); }

 private:
  MultiLock(const std::vector<Mutex*>& mutexes, Duration timeout);

  Grant grant_;
  bool owns_ = false;
};

}  // namespace coordkit
