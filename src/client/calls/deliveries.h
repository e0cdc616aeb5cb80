// Everything that runs user code: answers to callers and announcements. The client collects them while it works and runs them
// at the end, in order, when its own state is consistent again. So a callback may call the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "base/inline_function.h"
#include "base/ring.h"
#include "client/calls/any_callback.h"
#include "coordkit/client/client_options.h"

namespace coordkit::client {

class Deliveries {
 public:
  explicit Deliveries(Notifier notify) : notify_(std::move(notify)) {}

  template <typename Run>
  void answer(Run&& run) {
    add<std::decay_t<Run>>(Kind::Answer, std::forward<Run>(run));
  }
  // Calls back with this value, made in place.
  template <typename Answer>
  void answer(AnyCallback&& callback, Answer&& value) {
    using Value = std::decay_t<Answer>;
    add<Answered<Value>>(Kind::Answer, std::move(callback.template as<Value>()), std::forward<Answer>(value));
  }
  template <typename Run>
  void announce(Run&& run) {
    add<std::decay_t<Run>>(Kind::Announcement, std::forward<Run>(run));
  }
  bool empty() const { return waiting_.empty(); }

  // Also runs deliveries that are added meanwhile. A nested call (a callback that stops the client) takes over the rest.
  void flush() {
    while (!waiting_.empty()) {
      Item item = waiting_.take_front();
      if (!item.run) continue;  // there was no memory for it
      if (item.kind == Kind::Announcement && notify_) {
        notify_([run = std::move(item.run)]() mutable { run(); });
      } else {
        item.run();
      }
    }
  }

 private:
  enum class Kind : uint8_t { Answer, Announcement };
  static constexpr size_t kAnswerBytes = 112;  // for a callback and the usual answers
  struct Item {
    Kind kind = Kind::Answer;
    InlineFunction<void(), kAnswerBytes> run;
  };
  template <typename Answer>
  struct Answered {  // NOLINT(cppcoreguidelines-pro-type-member-init): made with both
    absl::AnyInvocable<void(Answer)> callback;
    Answer value;
    void operator()() { callback(std::move(value)); }
  };
  template <typename Run, typename... Parts>
  void add(Kind kind, Parts&&... parts) {
    Item& item = waiting_.push_back();
    item.kind = kind;
    item.run.template emplace<Run>(std::forward<Parts>(parts)...);
  }

  Notifier notify_;
  Ring<Item> waiting_;
};

}  // namespace coordkit::client
