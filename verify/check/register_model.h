// A register that can be read, written, and compared and set. Each key is one. At first it has no value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/check_model.h"
#include "check/line.h"
#include "check/order.h"

namespace coordkit::check {

struct RegisterModel {
  static constexpr std::string_view kName = "register";
  static constexpr bool kByKey = true;
  using Value = std::optional<std::string>;  // JSON text of a scalar; nullopt: null
  enum class Kind : uint8_t { Read, Write, Cas };
  struct Call {
    Kind kind = Kind::Read;
    Value value;           // read, written, or set
    Value expected;        // Cas
    bool swapped = false;  // Cas
    friend bool operator==(const Call&, const Call&) = default;
  };
  using State = Value;
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;
  using Ref = OperationRef<Call>;

  static State initial(const Settings&) { return {}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call);
  static bool observes(const Call& call) { return call.kind == Kind::Read; }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state) { return state.value_or("null"); }
  static void forget_unseen(std::vector<Op>& history);  // history.h
  // All operations with one value are removed together, as long as no cas could notice.
  static std::optional<std::string> bond(const Op& op) {
    return op.what.kind == Kind::Cas ? std::nullopt : std::optional(op.what.value.value_or("null"));
  }
  static bool severable(std::span<const Ref> group, std::span<const Ref> all);
};

}  // namespace coordkit::check
