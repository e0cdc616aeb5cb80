// How a thread waits for the next handler of its loop. Sleeping until the kernel wakes it costs tens of microseconds, often
// more than what it waits for takes. So it first looks again and again for a moment, and lets any thread that wants the
// processor have it between two looks. Looks in vain are followed by rests, during which it sleeps at once: a replica with
// little to do does not look (docs/decisions/0039).
//
// Threads: the one that waits.
#pragma once

#include <boost/asio/io_context.hpp>

#include "coordkit/types.h"

namespace coordkit {

class BusyPoll {
 public:
  BusyPoll(boost::asio::io_context& io, Duration longest) : io_(io), longest_(longest) {}  // zero: it sleeps at once, always

  size_t run_one();  // as that of the loop

  struct Looks {
    uint64_t found = 0;
    uint64_t in_vain = 0;
  };
  const Looks& looks() const { return looks_; }

 private:
  size_t look();  // zero: nothing came

  boost::asio::io_context& io_;
  const Duration longest_;
  uint32_t in_vain_ = 0;  // looks since the last that found something, as far as they matter
  uint32_t resting_ = 0;  // handlers to run before the next look
  Looks looks_;
};

}  // namespace coordkit
