// A read-write lock: one exclusive holder, or any number of shared ones; each key is one. Holders are owners, as in the
// mutex. An owner may have several shared holds.
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

struct RwLockModel {
  static constexpr std::string_view kName = "rw-lock";
  static constexpr bool kByKey = true;
  struct Call {
    bool acquires = false;  // else releases
    bool exclusive = false;
    bool granted = true;  // false: the answer was that a hold conflicts with it
    std::string owner;
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct State {
    std::optional<std::string> exclusive;
    std::vector<std::string> shared;  // sorted
    friend bool operator==(const State&, const State&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.exclusive, s.shared);
    }
  };
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
  static std::string text(const State& state);
  static std::optional<std::string> bond(const Op& op) { return op.what.owner; }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);  // as the mutex's
};

}  // namespace coordkit::check
