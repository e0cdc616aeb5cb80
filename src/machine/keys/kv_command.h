// The commands of the keys (docs/semantics.md S-05 to S-20, S-63): the public operations as they are, and compaction.
// kv_codec.h has the bytes.
#pragma once

#include <tuple>

#include "coordkit/keys/key_operations.h"
#include "coordkit/types.h"
#include "machine/objection.h"
#include "mvcc/transaction.h"

namespace coordkit::machine {

using mvcc::kKeyBytesMax;
using mvcc::kValueBytesMax;
using mvcc::writes;

// Reads below this revision are refused from here on (S-19).
struct Compact {
  Revision at;
  static constexpr auto fields() { return std::tuple(&Compact::at); }
  static constexpr uint32_t kField = 81;
  friend bool operator==(const Compact&, const Compact&) = default;
};

// How many waiting changes each entry sweeps; part of the replicated behaviour.
inline constexpr size_t kSweptPerEntry = 256;

ResultCode code_of(mvcc::Refusal refusal);

// Ok, or the reason why it is refused without effect in any state.
Objection check(const RangeOperation& range);
Objection check(const PutOperation& put);
Objection check(const DeleteOperation& erase);
Objection check(const Transaction& transaction);
Objection check(const Compact& compact);

}  // namespace coordkit::machine
