// Everything most programs need: one include.
#pragma once

#include "coordkit/error.h"         // IWYU pragma: export
#include "coordkit/fence.h"         // IWYU pragma: export
#include "coordkit/mutex.h"         // IWYU pragma: export
#include "coordkit/replica.h"       // IWYU pragma: export
#include "coordkit/session.h"       // IWYU pragma: export
#include "coordkit/shared_mutex.h"  // IWYU pragma: export
