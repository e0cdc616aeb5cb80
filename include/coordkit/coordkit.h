// Everything most programs need: one include.
#pragma once

#include "coordkit/error.h"                  // IWYU pragma: export
#include "coordkit/keys/config.h"            // IWYU pragma: export
#include "coordkit/keys/id_allocator.h"      // IWYU pragma: export
#include "coordkit/keys/key_lease.h"         // IWYU pragma: export
#include "coordkit/keys/key_space.h"         // IWYU pragma: export
#include "coordkit/keys/kv.h"                // IWYU pragma: export
#include "coordkit/keys/mirror.h"            // IWYU pragma: export
#include "coordkit/keys/stm.h"               // IWYU pragma: export
#include "coordkit/keys/txn.h"               // IWYU pragma: export
#include "coordkit/keys/watch.h"             // IWYU pragma: export
#include "coordkit/locks/fence.h"            // IWYU pragma: export
#include "coordkit/locks/mutex.h"            // IWYU pragma: export
#include "coordkit/locks/shared_mutex.h"     // IWYU pragma: export
#include "coordkit/objects/barrier.h"        // IWYU pragma: export
#include "coordkit/objects/claim_queue.h"    // IWYU pragma: export
#include "coordkit/objects/counter.h"        // IWYU pragma: export
#include "coordkit/objects/election.h"       // IWYU pragma: export
#include "coordkit/objects/group.h"          // IWYU pragma: export
#include "coordkit/objects/latch.h"          // IWYU pragma: export
#include "coordkit/objects/registry.h"       // IWYU pragma: export
#include "coordkit/objects/semaphore.h"      // IWYU pragma: export
#include "coordkit/operate/permissions.h"    // IWYU pragma: export
#include "coordkit/remote.h"                 // IWYU pragma: export
#include "coordkit/replica.h"                // IWYU pragma: export
#include "coordkit/service.h"                // IWYU pragma: export
#include "coordkit/session.h"                // IWYU pragma: export
#include "coordkit/sessions/kept_session.h"  // IWYU pragma: export
#include "coordkit/sessions/resumed.h"       // IWYU pragma: export
#include "coordkit/stop_any.h"               // IWYU pragma: export
