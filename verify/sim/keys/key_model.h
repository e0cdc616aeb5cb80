// The naive twin of the revisioned store: keys as a plain map, the full history of each of them beside it, and
// operations as docs/semantics.md defines them, one after the other. Transactions work on copies. Keys attached to a session
// or a lease are deleted when the owner ends them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/keys/key_operations.h"
#include "machine/keys/kv_command.h"
#include "machine/result.h"

namespace coordkit::sim {

class KeyModel {
 public:
  struct Value {
    std::string value;
    Revision create;
    Revision mod;
    uint64_t version = 0;
    LeaseId lease = {};
    friend bool operator==(const Value&, const Value&) = default;
  };
  using Entries = std::map<std::string, Value>;
  struct Change {
    Revision revision;
    std::string key;
    std::optional<Value> now;
    std::optional<Value> before;
  };
  // Everything else that a transaction asks about; a lock condition counts as showing the token (S-58).
  struct Around {
    std::function<bool(LeaseId)> lease_lives;
    std::function<bool(const Compare&)> lock_condition;
  };

  machine::Result run(const PutOperation& put, Index index, const Around& around);
  machine::Result run(const DeleteOperation& erase);
  machine::Result run(const Transaction& transaction, const Around& around);
  machine::Result run(const machine::Compact& compact);
  uint64_t end(LeaseId lease);  // one revision if any keys are attached to it; returns their number

  Revision revision() const { return revision_; }
  Revision compacted() const { return compacted_; }
  const Entries& entries() const { return now_; }
  // All changes so far, by revision, those of one revision in the order in which they were made.
  const std::vector<Change>& changes() const { return changes_; }
  // Whether or not it was compacted since.
  std::optional<Value> value_at(const std::string& key, Revision at) const;
  RangeReply range_at(const RangeOperation& range, Revision at) const;

 private:
  // The keys as they will be, and the changes, until it is certain that all of them happen.
  struct Draft {
    Entries entries;
    Revision revision;  // of the changes
    std::vector<Change> changes = {};
    std::vector<bool> decided = {};  // of the transaction and nested ones, in order
    size_t followed = 0;             // of these decisions
  };
  using Code = machine::ResultCode;

  Draft draft() const { return {now_, revision_.next()}; }
  void accept(Draft draft);
  static void set(Draft& draft, const std::string& key, std::optional<Value> value);
  static Code put(Draft& draft, const PutOperation& put, const Around& around, PutReply& reply);
  static void erase(Draft& draft, const DeleteOperation& erase, DeleteReply& reply);
  Code transact(Draft& draft, const Transaction& transaction, const Around& around, TransactionReply& reply) const;
  Code operate(Draft& draft, const Operation& operation, const Around& around, OperationReply& reply) const;
  void decide(const Transaction& transaction, const Around& around, std::vector<bool>& decided) const;
  bool holds(const Compare& compare, const Around& around) const;
  static RangeReply select(const Entries& entries, const RangeOperation& range);
  Entries entries_at(Revision at) const;

  Revision revision_{1};
  Revision compacted_;
  Entries now_;
  std::vector<Change> changes_;
  std::map<std::string, std::vector<std::pair<Revision, std::optional<Value>>>> history_;  // ascending
};

KeyValue entry_of(const std::string& key, const KeyModel::Value& value);

}  // namespace coordkit::sim
