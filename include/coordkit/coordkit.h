// Everything most programs need: one include.
#pragma once

#include "coordkit/barrier.h"       // IWYU pragma: export
#include "coordkit/claim_queue.h"   // IWYU pragma: export
#include "coordkit/config.h"        // IWYU pragma: export
#include "coordkit/counter.h"       // IWYU pragma: export
#include "coordkit/election.h"      // IWYU pragma: export
#include "coordkit/error.h"         // IWYU pragma: export
#include "coordkit/fence.h"         // IWYU pragma: export
#include "coordkit/group.h"         // IWYU pragma: export
#include "coordkit/id_allocator.h"  // IWYU pragma: export
#include "coordkit/kept_session.h"  // IWYU pragma: export
#include "coordkit/key_lease.h"     // IWYU pragma: export
#include "coordkit/key_space.h"     // IWYU pragma: export
#include "coordkit/kv.h"            // IWYU pragma: export
#include "coordkit/latch.h"         // IWYU pragma: export
#include "coordkit/mirror.h"        // IWYU pragma: export
#include "coordkit/mutex.h"         // IWYU pragma: export
#include "coordkit/registry.h"      // IWYU pragma: export
#include "coordkit/replica.h"       // IWYU pragma: export
#include "coordkit/resumed.h"       // IWYU pragma: export
#include "coordkit/semaphore.h"     // IWYU pragma: export
#include "coordkit/session.h"       // IWYU pragma: export
#include "coordkit/shared_mutex.h"  // IWYU pragma: export
#include "coordkit/stm.h"           // IWYU pragma: export
#include "coordkit/stop_any.h"      // IWYU pragma: export
#include "coordkit/txn.h"           // IWYU pragma: export
#include "coordkit/watch.h"         // IWYU pragma: export
