// What the application and its end of a recipe are written against, so that the very same work runs on the models and on
// coordkit itself.
#pragma once

#include <cstdint>
#include <functional>

#include "coordkit/types.h"

namespace coordkit::sim::compare {

// The process of one client.
class ClientProcess {
 public:
  virtual ~ClientProcess() = default;
  // Runs `act` in this process, this much later, or when it goes on after a pause.
  virtual void after(Duration delay, std::function<void()> act) = 0;
  // Runs `act` elsewhere, in true time: what was sent is on its way, whatever becomes of the sender.
  virtual void elsewhere_after(Duration delay, std::function<void()> act) = 0;
  virtual uint64_t random(uint64_t below) = 0;

  Duration up_to(Duration longest) { return Duration(random(static_cast<uint64_t>(longest.count()) + 1)); }
};

// One client's end of a recipe.
class LockEnd {
 public:
  virtual ~LockEnd() = default;
  // Waits for the lock, through as many sessions and errors as it takes; one call at a time.
  virtual void acquire(std::function<void()> granted) = 0;
  // May the application act now, as far as the rules of the recipe let it know?
  virtual bool holds() const = 0;
  // Of the present hold; zero if the recipe has none.
  virtual Token token() const = 0;
  // Gives it back, held or not.
  virtual void release() = 0;
};

}  // namespace coordkit::sim::compare
