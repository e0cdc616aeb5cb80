#include "client/keys/key_limits.h"

#include <variant>
#include <vector>

#include "machine/command.h"
#include "mvcc/transaction.h"

namespace coordkit::client {

using machine::check_size;
using machine::Objection;

namespace {

Objection check_interval(const auto& operation) {
  if (Objection key = check_size("key", operation.key.size(), machine::kKeyBytesMax); !key.none()) return key;
  return check_size("end of the interval", operation.end.size(), machine::kKeyBytesMax);
}

Objection check_limits(const Compare& compare) {
  if (compare.target < Compare::Target::LockHeld) return check_interval(compare);
  return check_size("name of the lock in a condition", compare.key.size(), mvcc::kLockNameBytesMax);
}

Objection check_limits(std::monostate) { return {}; }

Objection check_limits(const std::vector<Transaction>& nested) {
  return nested.empty() ? Objection() : client::check_limits(nested.front());
}

}  // namespace

Objection check_limits(const RangeOperation& range) { return check_interval(range); }
Objection check_limits(const DeleteOperation& erase) { return check_interval(erase); }

Objection check_limits(const PutOperation& put) {
  constexpr size_t kSequentialMax = machine::kKeyBytesMax - mvcc::kSequenceDigits;
  if (put.sequential && put.key.size() > kSequentialMax && put.key.size() <= machine::kKeyBytesMax) {
    Objection key = check_size("key", put.key.size(), kSequentialMax);
    return {key.code, key.sentence + " for a sequential key, which gets 20 digits more"};
  }
  if (Objection key = check_size("key", put.key.size(), machine::kKeyBytesMax); !key.none()) return key;
  return check_size("value", put.value.size(), machine::kValueBytesMax);
}

// Follows the order of the machine's own check, which has stopped at the first limit: it is nested no deeper up to there.
Objection check_limits(const Transaction& transaction) {
  for (const Compare& compare : transaction.compares) {
    if (Objection limits = check_limits(compare); !limits.none()) return limits;
  }
  for (const auto* branch : {&transaction.then, &transaction.otherwise}) {
    for (const Operation& operation : *branch) {
      Objection limits = std::visit([](const auto& body) { return check_limits(body); }, operation.body);
      if (!limits.none()) return limits;
    }
  }
  return {};
}

}  // namespace coordkit::client
