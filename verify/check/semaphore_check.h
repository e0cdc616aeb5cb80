// A semaphore of some permits; each key is one. An acquire takes n of them or none. Lowering the limit takes nothing away,
// but no acquire is granted until enough permits are free below it (docs/semantics.md S-50).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "check/check_model.h"
#include "check/line.h"
#include "check/order.h"

namespace coordkit::check {

struct SemaphoreModel {
  static constexpr std::string_view kName = "semaphore";
  static constexpr bool kByKey = true;
  enum class Kind : uint8_t { Acquire, Release, SetLimit };
  struct Call {
    Kind kind = Kind::Acquire;
    uint64_t count = 1;   // permits, or the limit
    bool granted = true;  // Acquire; false: the answer was that too few are free
    std::string owner;
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct State {
    uint64_t limit = 1;
    uint64_t held = 0;                        // by all
    std::map<std::string, uint64_t> holders;  // no entry has zero permits
    friend bool operator==(const State&, const State&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.limit, s.held, s.holders);
    }
  };
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;
  using Ref = OperationRef<Call>;

  static State initial(const Settings& settings) { return {.limit = settings.semaphore_limit}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call);
  static bool observes(const Call& call) { return !call.granted; }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state);
  static std::optional<std::string> bond(const Op& op) {
    return op.what.kind == Kind::SetLimit ? std::nullopt : std::optional(op.what.owner);
  }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);  // as the mutex's
};

}  // namespace coordkit::check
