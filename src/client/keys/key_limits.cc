#include "client/keys/key_limits.h"

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordkit/error.h"
#include "machine/command.h"
#include "mvcc/transaction.h"

namespace coordkit::client {
namespace {

absl::Status check_size(const char* what, size_t size, size_t limit) {
  return size <= limit ? absl::OkStatus() : too_large(what, size, limit);
}

absl::Status check_interval(const auto& operation) {
  if (absl::Status key = check_size("key", operation.key.size(), machine::kKeyBytesMax); !key.ok()) return key;
  return check_size("end of the interval", operation.end.size(), machine::kKeyBytesMax);
}

absl::Status check_limits(const Compare& compare) {
  if (compare.target < Compare::Target::LockHeld) return check_interval(compare);
  return check_size("name of the lock in a condition", compare.key.size(), mvcc::kLockNameBytesMax);
}

absl::Status check_limits(std::monostate) { return absl::OkStatus(); }

absl::Status check_limits(const std::vector<Transaction>& nested) {
  return nested.empty() ? absl::OkStatus() : client::check_limits(nested.front());
}

}  // namespace

absl::Status too_large(const char* what, size_t size, size_t limit) {
  return make_error(Reason::LimitExceeded,
                    absl::StrCat("the ", what, " has ", size, " bytes; at most ", limit, " are allowed"));
}

absl::Status check_limits(const RangeOperation& range) { return check_interval(range); }
absl::Status check_limits(const DeleteOperation& erase) { return check_interval(erase); }

absl::Status check_limits(const PutOperation& put) {
  constexpr size_t kSequentialMax = machine::kKeyBytesMax - mvcc::kSequenceDigits;
  if (put.sequential && put.key.size() > kSequentialMax && put.key.size() <= machine::kKeyBytesMax) {
    return make_error(Reason::LimitExceeded, absl::StrCat("the key has ", put.key.size(), " bytes; at most ", kSequentialMax,
                                                          " are allowed for a sequential key, which gets 20 digits more"));
  }
  if (absl::Status key = check_size("key", put.key.size(), machine::kKeyBytesMax); !key.ok()) return key;
  return check_size("value", put.value.size(), machine::kValueBytesMax);
}

// Follows the order of the machine's own check, which has stopped at the first limit: it is nested no deeper up to there.
absl::Status check_limits(const Transaction& transaction) {
  for (const Compare& compare : transaction.compares) {
    if (absl::Status limits = check_limits(compare); !limits.ok()) return limits;
  }
  for (const auto* branch : {&transaction.then, &transaction.otherwise}) {
    for (const Operation& operation : *branch) {
      absl::Status limits = std::visit([](const auto& body) { return check_limits(body); }, operation.body);
      if (!limits.ok()) return limits;
    }
  }
  return absl::OkStatus();
}

}  // namespace coordkit::client
