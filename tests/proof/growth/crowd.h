// One machine with as many locks, sessions or keys in it as a test asks for, and what one operation among them costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace coordkit::growth {

class Crowd {
 public:
  Crowd();

  // ---- the crowd that stays while others come and go
  void hold_locks(uint64_t count);  // by one session
  void lose_locks(uint64_t count);  // that a session had which is over
  enum class Holding : uint8_t { Nothing, Shared };
  // Sessions in one line, the first of which holds the lock. Shared: all of them hold another one, together.
  void wait_for_lock(uint64_t count, Holding holding = Holding::Nothing);
  void open_sessions(uint64_t count);
  void put_keys(uint64_t count);
  void erase_keys();  // by one command
  void checkpoint();

  // ---- one operation; answers how many steps it took
  uint64_t acquire_and_release();
  uint64_t pass_on();  // the holder of that line releases, and goes to its end
  uint64_t open_and_close();
  uint64_t expire();  // of a session with a lock
  uint64_t put_again();
  uint64_t put_and_erase();
  uint64_t look();               // at a key, at some of its neighbours, and at what has changed last
  uint64_t watch_the_end();      // of what erase_keys() has changed
  uint64_t store_what_is_new();  // a checkpoint after one more acquire
  uint64_t look_at_newest();     // the ten newest of the locks that are held

  uint64_t rows() const { return rows_; }  // of the last checkpoint

 private:
  machine::Result submit(machine::Request::Body body);
  SessionId open();
  Token acquire(SessionId session, std::string name, machine::Wait wait = machine::Wait::none(),
                LockMode mode = LockMode::Exclusive);
  void release(SessionId session, std::string name, Token token);
  uint64_t some_key();

  machine::Machine machine_;
  Index index_;
  std::string written_;  // a request
  SessionId owner_;
  Token before_newest_;          // of the lock held before these ten
  std::vector<SessionId> line_;  // from the holder on; it goes round
  size_t holder_ = 0;
  Token held_;
  uint64_t keys_ = 0;
  uint64_t round_ = 0;
  uint64_t rows_ = 0;
};

// The cost of most operations: nine of ten cost no more. Now and then a full table is made again, which all the operations that
// filled it pay for together.
template <typename Operation>
uint64_t usual_cost(Operation operation) {
  std::vector<uint64_t> costs(200);
  for (uint64_t& cost : costs) cost = operation();
  const auto usual = costs.begin() + static_cast<ptrdiff_t>(costs.size() * 9 / 10);
  std::nth_element(costs.begin(), usual, costs.end());
  return *usual;
}

}  // namespace coordkit::growth
