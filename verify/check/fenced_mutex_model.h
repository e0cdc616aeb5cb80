// A mutex whose grants carry fencing tokens; each key is one. A token is above every token known to have been granted on that
// key before (docs/semantics.md S-47). A hold ends by its release, or by itself. The latter is an operation "expire" that no
// client calls. Its outcome is unknown, and it begins at the moment when the hold may be lost. Without a token it ends the
// hold of an acquire of unknown outcome, whose token may still become known when a caller reads the holder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "check/check_model.h"
#include "check/line.h"
#include "check/order.h"

namespace coordkit::check {

struct FencedMutexModel {
  static constexpr std::string_view kName = "fenced-mutex";
  static constexpr bool kByKey = true;
  enum class Kind : uint8_t { Acquire, Release, Expire, Holder };
  struct Call {
    Kind kind = Kind::Holder;
    std::optional<uint64_t> token;  // granted, released, ended or seen. nullopt: not known; Holder: there is none
    bool granted = true;            // Acquire; false: the answer was that the mutex is held
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct State {
    bool held = false;
    bool known = false;         // the holder's token
    bool holder_knows = false;  // known to the holder itself: it is the grant of a certain acquire
    uint64_t token = 0;         // if known
    uint64_t last = 0;          // the highest token known to have been granted
    friend bool operator==(const State&, const State&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.held, s.known, s.holder_knows, s.token, s.last);
    }
  };
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;
  using Ref = OperationRef<Call>;

  static State initial(const Settings&) { return {}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call);
  static bool observes(const Call& call) { return call.kind == Kind::Holder || !call.granted; }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state);
  // A token's grant and its release are one group, unless the lock was read in between.
  static std::optional<std::string> bond(const Op& op) {
    return op.what.token ? std::optional(std::to_string(*op.what.token)) : std::nullopt;
  }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);
};

}  // namespace coordkit::check
