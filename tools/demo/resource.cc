// The resource that the lock protects: a table of rows that any holder may write, over TCP on loopback.
//
//   "NODE TOKEN ROW" -> "ok" or "refused"
//
// The server answers one request at a time, so the check of the token and the write are one step, as the gate demands. The
// gate keeps its state in a file: a resource that forgot the newest token in a restart would let an old holder in.
#include <memory>
#include <sstream>
#include <string>

#include "coordkit/locks/fence.h"
#include "tools/demo/roles.h"
#include "tools/support/line_server.h"
#include "tools/support/report.h"

namespace coordkit::demo {
namespace {

class Resource {
 public:
  explicit Resource(std::unique_ptr<FileFenceGate> gate) : gate_(std::move(gate)) {}
  int run();

 private:
  std::string answer(const std::string& request);

  support::Reporter report_;
  const std::unique_ptr<FileFenceGate> gate_;
};

std::string Resource::answer(const std::string& request) {
  std::istringstream words(request);
  int node = 0;
  uint64_t token = 0;
  uint64_t row = 0;
  words >> node >> token >> row;
  const absl::Status admitted = gate_->admit(Token(token));
  const bool taken = admitted.ok();
  if (!taken && !fenced_by(admitted)) report_("error", {{"what", admitted.ToString()}});
  report_("write", {{"node", node}, {"token", token}, {"row", row}, {"taken", taken}});
  return taken ? "ok" : "refused";
}

int Resource::run() {
  support::LineServer server([this](const std::string& request) { return answer(request); });
  const uint16_t port = server.listen_on_loopback();
  if (port == 0) return 1;
  report_("listening", {{"port", port}});
  return server.serve_until_input() ? 0 : 1;
}

}  // namespace

int run_resource(const std::string& gate_file) {
  absl::StatusOr<std::unique_ptr<FileFenceGate>> gate = FileFenceGate::open(gate_file);
  if (gate.ok()) return Resource(*std::move(gate)).run();
  support::Reporter()("error", {{"what", gate.status().ToString()}});
  return 1;
}

}  // namespace coordkit::demo
