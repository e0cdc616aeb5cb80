// What the lock protects: a table of rows that any holder may write, over TCP on loopback.
//
//   "NODE TOKEN ROW\n" -> "ok\n" or "refused\n"
//
// One thread serves all connections, so the check of the token and the write are one step, as the gate demands. The gate
// keeps its word in a file: a resource that forgot the newest token in a restart would let an old holder in.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "coordkit/fence.h"
#include "tools/demo/report.h"
#include "tools/demo/roles.h"

namespace coordkit::demo {
namespace {

class Resource {
 public:
  explicit Resource(const std::string& gate_file);
  int run();

 private:
  struct Connection {
    support::Descriptor socket;
    std::string rest;
  };
  bool listen_on_loopback();
  void take_connection();
  bool serve(Connection& connection);  // false: it is over
  std::string answer(const std::string& request);

  Reporter report_;
  support::Descriptor listener_;
  std::map<int, Connection> connections_;
};

}  // namespace
}  // namespace coordkit::demo
