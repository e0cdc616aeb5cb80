// The answer to a ChangesQuery out of a store.
#pragma once

#include "machine/changes_query.h"

namespace coordkit::mvcc {
class Store;
}

namespace coordkit::machine {

ChangesReply changes_of(const mvcc::Store& store, const ChangesQuery& query);

}  // namespace coordkit::machine
