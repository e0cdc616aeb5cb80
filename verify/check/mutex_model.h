// A mutex without tokens; each key is one. Its holder is an owner: the client, or the owner that `in.owner` names. A holder
// that dies keeps it forever. A service that ends holds by itself is a fenced mutex.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "check/check_model.h"
#include "check/line.h"
#include "check/order.h"

namespace coordkit::check {

struct MutexModel {
  static constexpr std::string_view kName = "mutex";
  static constexpr bool kByKey = true;
  struct Call {
    bool acquires = false;  // else releases
    bool granted = true;    // false: the answer was that the mutex is held
    std::string owner;
    friend bool operator==(const Call&, const Call&) = default;
  };
  using State = std::optional<std::string>;  // the holder
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;
  using Ref = OperationRef<Call>;

  static State initial(const Settings&) { return {}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call) { return call.acquires ? "acquire" : "release"; }
  static bool observes(const Call& call) { return !call.granted; }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state) { return state ? "held by " + *state : "free"; }
  // An owner's pairs of acquire and release are one group, unless an answer showed that it was held.
  static std::optional<std::string> bond(const Op& op) { return op.what.owner; }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);
};

}  // namespace coordkit::check
