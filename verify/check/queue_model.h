// A queue, first in first out; each key is one. Enqueues that overlap may have happened in either order. As long as no item
// is dequeued, the order is unknown. So the state does not fix that order: it holds the items with the spans of their
// enqueues. An item can be the first unless another one's enqueue ended before its own began.
//
// This is equivalent: an order of all enqueues that agrees with the dequeues and with real time exists if and only if each
// dequeue takes such an item. A state that fixed the order would multiply with every overlap.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check_model.h"
#include "check/line.h"
#include "check/order.h"

namespace coordkit::check {

struct QueueModel {
  static constexpr std::string_view kName = "queue";
  static constexpr bool kByKey = true;
  struct Call {
    bool enqueues = false;             // else dequeues
    std::optional<std::string> value;  // JSON text; nullopt for a dequeue: the queue was empty
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct Item {
    std::string value;
    Moment call = 0;  // of its enqueue
    Moment end = kNever;
    friend auto operator<=>(const Item&, const Item&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Item& item) {
      return H::combine(std::move(state), item.value, item.call, item.end);
    }
  };
  using State = std::vector<Item>;  // by (call, end, value), whatever the order of arrival
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;
  using Ref = OperationRef<Call>;

  static State initial(const Settings&) { return {}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call) { return call.enqueues ? "enqueue" : "dequeue"; }
  static bool observes(const Call&) { return false; }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state);
  static std::optional<std::string> bond(const Op& op) { return op.what.value; }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);
};

}  // namespace coordkit::check
