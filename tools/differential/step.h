// One step that both stores are asked to take, and their answers, in one form that can be compared.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "coordkit/keys/key_operations.h"

namespace coordkit::differential {

// The TTL of all granted leases: longer than a run. How leases end by time is not compared.
inline constexpr std::chrono::seconds kLeaseTtl{100'000};

struct Compact {
  Revision at;
};
struct GrantLease {
  LeaseId lease;
  std::chrono::seconds ttl = kLeaseTtl;
};
struct RenewLease {
  LeaseId lease;
};
struct RevokeLease {
  LeaseId lease;
};
struct ListKeysOfLease {
  LeaseId lease;
};
struct ListLeases {};
// Everything that happened to an interval from a revision on, read until the change of revision `upto` has arrived. The last
// change of an interval is always made for this, so that both sides have something to wait for.
struct WatchFrom {
  std::string key;
  std::string end;
  Revision from;
  Revision upto;
  bool previous = false;
  bool puts = true;
  bool deletes = true;
};

using Step = std::variant<RangeOperation, PutOperation, DeleteOperation, Transaction, Compact, GrantLease, RenewLease,
                          RevokeLease, ListKeysOfLease, ListLeases, WatchFrom>;

// For humans: bytes escaped, defaults left out.
std::string shown(const Step& step);

// {"revision": N, ...} or {"error": "Reason"}.
using Answer = nlohmann::json;

class Side {
 public:
  virtual ~Side() = default;
  virtual Answer take(const Step& step) = 0;
};

// ---- the common form

std::string escaped(std::string_view bytes);
nlohmann::json form_of(const KeyValue& entry);
nlohmann::json form_of(const RangeReply& reply);
nlohmann::json form_of(const PutReply& reply);
nlohmann::json form_of(const DeleteReply& reply);
nlohmann::json form_of(const TransactionReply& reply);

struct Event {
  bool deleted = false;
  KeyValue entry;  // for a delete: the key and the revision
  std::optional<KeyValue> previous;
};
nlohmann::json form_of(const Event& event);

}  // namespace coordkit::differential
