// A key of a store with revisions (docs/semantics.md S-01 to S-04, S-13), each key by itself. It has a value, the revision
// that created it, and the revision that changed it last. Its version counts the puts from 1 since it was created. Along a
// key's history every change has a revision above all seen there before. Between keys revisions must respect real time
// (revision_order.h). The transaction model, which sees all keys at once, requires that the store's revision grows by exactly
// one.
//
// A caller may not know the revision of its own change. It is then an unknown number with bounds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check_model.h"
#include "check/line.h"
#include "check/revision_order.h"

namespace coordkit::check {

// An operation on a key, and its answer as far as it is known.
struct KvCall {
  enum class Kind : uint8_t { Put, Delete, Get };
  Kind kind = Kind::Get;
  std::string value;                             // put or read, as JSON text
  bool found = false;                            // Get
  std::optional<uint64_t> deleted;               // Delete: 0 or 1
  std::optional<uint64_t> revision;              // of a change; else of the store that was read
  std::optional<uint64_t> create, mod, version;  // Get
  friend bool operator==(const KvCall&, const KvCall&) = default;

  // Whether it certainly made a revision.
  bool changed() const { return kind == Kind::Put || (kind == Kind::Delete && deleted == 1u); }
};

struct KvModel {
  static constexpr std::string_view kName = "kv";
  static constexpr bool kByKey = true;
  using Kind = KvCall::Kind;
  using Call = KvCall;

  // A revision, known or only bounded: above `above`, and below `below` unless that is zero.
  struct Known {
    uint64_t at = 0;
    uint64_t above = 0, below = 0;
    bool known = true;
    friend bool operator==(const Known&, const Known&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Known& r) {
      return H::combine(std::move(state), r.at, r.above, r.below, r.known);
    }
  };
  struct State {
    bool present = false;
    std::string value;
    uint64_t version = 0;
    Known create;
    Known mod;          // of an absent key: when it was deleted
    uint64_t seen = 0;  // the store is at least there: reported for this key, or needed by changes of unknown revision
    friend bool operator==(const State&, const State&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.present, s.value, s.version, s.create, s.mod, s.seen);
    }
  };
  using Order = RevisionOrder;
  using Op = Operation<Call>;

  static State initial(const Settings&) { return {}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call);
  static bool observes(const Call& call) { return call.kind == Kind::Get || (call.kind == Kind::Delete && call.deleted == 0u); }
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state);
  static void forget_unseen(std::vector<Op>& history);  // history.h
  static std::optional<std::string> bond(const Op& op) { return Unbound::bond(op); }
  static bool severable(std::span<const OperationRef<Call>>, std::span<const OperationRef<Call>>) { return false; }
};

}  // namespace coordkit::check
