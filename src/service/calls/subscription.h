// Ended by the handle of an observation, a watch or a mirror: the stream of its callback, and the client's record of it.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "service/calls/call_runner.h"
#include "service/calls/callback_stream.h"

namespace coordkit {

class Subscription {
 public:
  // `forget` makes the client drop its record, on the engine's thread; nothing waits for that.
  Subscription(std::shared_ptr<CallRunner> host, std::shared_ptr<CallbackStream> stream, CallRunner::Call forget)
      : host_(std::move(host)), stream_(std::move(stream)), forget_(std::move(forget)) {}
  ~Subscription() { end(); }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Any number of times, on any thread: each waits as CallbackStream::end() does. In a forked child there is no callback to
  // wait for, and no lock may be taken.
  void end() {
    if (host_->forked()) return;
    if (!ended_.exchange(true)) forget();
    stream_->end();
  }

 private:
  // Destructors end here. Without memory the client keeps its record, which costs it some time and calls nobody.
  void forget() {
    try {
      host_->post(std::move(forget_));
    } catch (const std::bad_alloc&) {
    }
  }

  const std::shared_ptr<CallRunner> host_;
  const std::shared_ptr<CallbackStream> stream_;
  CallRunner::Call forget_;
  std::atomic<bool> ended_{false};
};

}  // namespace coordkit
