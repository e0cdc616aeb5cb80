// The interface of the application, besides the LockEnd of its recipe. So the very same work runs on the models and on
// coordkit itself.
#pragma once

#include <cstdint>
#include <functional>

#include "coordkit/sim/compare.h"
#include "coordkit/types.h"

namespace coordkit::sim::compare {

// The process of one client.
class ClientProcess {
 public:
  virtual ~ClientProcess() = default;
  // Runs `act` in this process after `delay`, or when it resumes after a pause.
  virtual void after(Duration delay, std::function<void()> act) = 0;
  // Runs `act` elsewhere, in true time: a message is in flight, whatever happens to the sender.
  virtual void elsewhere_after(Duration delay, std::function<void()> act) = 0;
  virtual uint64_t random(uint64_t below) = 0;

  Duration up_to(Duration longest) { return Duration(random(static_cast<uint64_t>(longest.count()) + 1)); }
};

}  // namespace coordkit::sim::compare
