// The application: processes that acquire the lock and add to a shared counter while they hold it, and the counter itself.
#pragma once

#include <optional>

#include "compare/stage.h"
#include "coordkit/locks/fence.h"
#include "coordkit/sim/compare.h"

namespace coordkit::sim::compare {

// The same counter twice: one accepts every write, the other asks a fence gate first, for reads too (docs/fencing.md).
class SharedCounter {
 public:
  struct Seen {
    uint64_t open = 0;
    std::optional<uint64_t> fenced;  // nullopt: the gate refused
  };
  Seen read(Token token);
  void write(const Seen& base, Token token);
  void fill(RecipeFigures& figures) const;

 private:
  uint64_t open_ = 0;
  uint64_t open_writes_ = 0;
  uint64_t fenced_ = 0;
  uint64_t fenced_writes_ = 0;
  FenceGate gate_;
};

class Worker {
 public:
  Worker(ClientProcess& process, LockEnd& lock, SharedCounter& counter) : process_(process), lock_(lock), counter_(counter) {}

  void begin() { rest(); }
  // Releases its hold and does nothing more.
  void end();
  uint64_t grants() const { return grants_; }

 private:
  void rest();
  void enter();
  void read();
  void check(SharedCounter::Seen seen);
  void write(SharedCounter::Seen seen);
  void written();
  void leave();

  ClientProcess& process_;
  LockEnd& lock_;
  SharedCounter& counter_;
  uint64_t updates_left_ = 0;
  uint64_t grants_ = 0;
  bool ended_ = false;
};

// Observes which workers act, every virtual millisecond.
class OverlapWatch {
 public:
  static constexpr Duration kStep = std::chrono::milliseconds(1);
  void look(size_t acting);
  void fill(RecipeFigures& figures) const;

 private:
  uint64_t overlaps_ = 0;
  Duration total_{};
  Duration present_{};
  Duration longest_{};
};

}  // namespace coordkit::sim::compare
