// Parts of the host's, which may throw where their ports say a status: out of a turn, or of a thread of a store, an exception
// would end the process. A store that throws has failed, so its replica halts; a transport has lost what it was given, and whom
// that was for is said to be unreachable. A call that can answer with a status does.
#pragma once

#include <memory>

#include "coordkit/ports/file_system.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/ports/transport.h"

namespace coordkit {

std::unique_ptr<Transport> guarded(std::unique_ptr<Transport> transport);
std::unique_ptr<LogStore> guarded(std::unique_ptr<LogStore> store);
std::unique_ptr<StateStore> guarded(std::unique_ptr<StateStore> store);
std::unique_ptr<FileSystem> guarded(std::unique_ptr<FileSystem> files);

}  // namespace coordkit
