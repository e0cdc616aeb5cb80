// A whole store with revisions, and transactions over its keys (docs/semantics.md S-01 to S-04, S-14 to S-16). Compares are
// evaluated on the state before; then one of two lists of operations runs in order. All changes of a transaction have one
// revision, exactly one above the last. A transaction that changes nothing has no revision. A put, delete or get alone is a
// transaction of one operation. Keys depend on each other through the revision, so the history is searched as a whole.
#pragma once

#include <map>
#include <memory>
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

struct TransactionModel {
  static constexpr std::string_view kName = "transaction";
  static constexpr bool kByKey = false;

  enum class Target : uint8_t { Value, Version, Create, Mod };
  enum class Relation : uint8_t { Equal, NotEqual, Less, Greater };
  struct Compare {
    std::string key;
    Target target = Target::Value;
    Relation relation = Relation::Equal;
    std::string value;    // Value: JSON text, or empty for anything else
    uint64_t number = 0;  // the other targets
    friend bool operator==(const Compare&, const Compare&) = default;
  };
  // One operation of a branch. Its answer is only there if its branch was taken.
  struct Part {
    enum class Kind : uint8_t { Put, Delete, Get } kind = Kind::Get;
    std::string key;
    std::string value;  // Put
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Result {
    std::optional<uint64_t> deleted;               // Delete
    std::optional<bool> found;                     // Get
    std::string value;                             // if found
    std::optional<uint64_t> create, mod, version;  // if found
    friend bool operator==(const Result&, const Result&) = default;
  };
  struct Call {
    bool alone = false;  // one operation, not called a transaction
    std::vector<Compare> compares;
    std::vector<Part> then_parts, else_parts;
    std::optional<bool> succeeded;
    std::optional<uint64_t> revision;
    std::vector<Result> results;  // as many as the taken branch has parts, or none
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct Entry {
    std::string value;
    uint64_t create = 0, mod = 0, version = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  struct State {
    uint64_t revision = 1;
    uint64_t sum = 0;  // of the entries; kept up with each change
    // Shared with the states from which it was copied until it changes: most copies are inspected and discarded.
    std::shared_ptr<const Entries> entries = std::make_shared<const Entries>();
    friend bool operator==(const State& a, const State& b) {
      return a.revision == b.revision && a.sum == b.sum && (a.entries == b.entries || *a.entries == *b.entries);
    }
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.revision, s.sum);
    }
  };
  using Order = NoOrder<Call>;
  using Op = Operation<Call>;

  static State initial(const Settings& settings) { return {.revision = settings.revision}; }
  static Call read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint);
  static void write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out);
  static std::string_view name_of(const Call& call);
  static bool observes(const Call& call);
  static Step step(const State& state, const Op& op);
  static void apply(State& state, const Op& op, uint32_t way);
  static std::string text(const State& state);
  static void forget_unseen(std::vector<Op>& history);  // history.h
  static std::optional<std::string> bond(const Op&) { return std::nullopt; }
  static bool severable(std::span<const OperationRef<Call>>, std::span<const OperationRef<Call>>) { return false; }
};

}  // namespace coordkit::check
