// The demo's three processes with a transport and a log store that are not coordkit's: those of examples 14 and 15.
#include <memory>

#include "coordkit/storage/data_directory.h"
#include "examples/14_own_log_store/sqlite_log_store.h"
#include "examples/15_own_transport/unix_transport.h"
#include "tools/demo/parts.h"

namespace coordkit::demo {

// The story gives each node an address with a port; here it is the name of a socket in the folder that the story runs in.
Parts parts_of_a_node() {
  return {.transport = [](const PartContext& part) -> absl::StatusOr<std::unique_ptr<Transport>> {
            return std::make_unique<example::UnixTransport>(part.address);
          },
          .log_store = [](const PartContext& part) -> absl::StatusOr<std::unique_ptr<LogStore>> {
            return std::make_unique<example::SqliteLogStore>(part.directory()->log_path() + "/log.db");
          }};
}

}  // namespace coordkit::demo
