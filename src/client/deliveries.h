// Everything that runs user code: answers to callers and announcements. It is collected while the client
// works and run at the end, in order, when the client's own state is consistent again; so a callback may call the client.
#pragma once

#include <cstdint>
#include <utility>

#include "base/inline_task.h"
#include "base/ring.h"
#include "coordkit/client/options.h"

namespace coordkit::client {

class Deliveries {
 public:
  explicit Deliveries(Notifier notify) : notify_(std::move(notify)) {}

  template <typename Run>
  void answer(Run&& run) {
    add(Kind::Answer, std::forward<Run>(run));
  }
  template <typename Run>
  void announce(Run&& run) {
    add(Kind::Announcement, std::forward<Run>(run));
  }
  bool empty() const { return waiting_.empty(); }

  // Also runs what is added meanwhile. A nested call (a callback that stops the client) takes over the rest.
  void flush() {
    while (!waiting_.empty()) {
      Item item = waiting_.take_front();
      if (item.kind == Kind::Announcement && notify_) {
        notify_([run = std::move(item.run)]() mutable { run(); });
      } else {
        item.run();
      }
    }
  }

 private:
  enum class Kind : uint8_t { Answer, Announcement };
  struct Item {
    Kind kind = Kind::Answer;
    InlineTask run;
  };
  template <typename Run>
  void add(Kind kind, Run&& run) {
    Item& item = waiting_.push_back();
    item.kind = kind;
    item.run.emplace(std::forward<Run>(run));
  }

  Notifier notify_;
  Ring<Item> waiting_;
};

}  // namespace coordkit::client
