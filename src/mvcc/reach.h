// How much of a store one transaction may look at, judged before it is sent or read. A transaction that check() permits can
// name every key a hundred thousand times. A replica that carries it out does nothing else meanwhile.
#pragma once

#include <cstdint>

#include "coordkit/keys/key_operations.h"
#include "mvcc/store.h"

namespace coordkit::mvcc {

inline constexpr uint64_t kReachMax = 1 << 20;  // keys, or all existing ones if there are more

// Whether its intervals, in all branches, pass more keys together. It looks at no more than about twice as many.
// `transaction` has passed check().
bool reaches_too_far(const Store& store, const Transaction& transaction);

}  // namespace coordkit::mvcc
