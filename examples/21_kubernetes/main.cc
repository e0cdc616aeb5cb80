// A replica in a pod. cluster.yaml beside it has everything for Kubernetes: a headless service, a StatefulSet of three with a
// volume each, a PodDisruptionBudget, probes, and a secret. The test of this example runs it with exactly these settings.
//
//   21_kubernetes        configured by its environment:
//     POD_NAME           ends with the pod's number: ledger-0 is replica 1
//     CLUSTER            its name, the same for all
//     MEMBERS            HOST:PORT of each pod, in the order of their numbers, separated by blanks
//     DATA               a directory on the pod's own volume
//     SECRET_FILE        a secret shared by all of them
//     HTTP               where the probes ask: HOST:PORT
//
// GET /ready is 200 while this replica takes part. GET /live is 200 unless it has halted, because a restart cures neither a
// missing majority nor a quarantine. GET /metrics is for Prometheus. SIGTERM hands leadership over, and ends it.
#include <coordkit/coordkit.h>
#include <coordkit/operate/log_to_stderr.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace asio = boost::asio;
using asio::ip::tcp;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Address {
  std::string host, port;
};
Address split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, ""};
  const bool ipv6 = colon >= 2 && address.front() == '[' && address[colon - 1] == ']';
  return {ipv6 ? address.substr(1, colon - 2) : address.substr(0, colon), address.substr(colon + 1)};
}

absl::StatusOr<ReplicaOptions> options_of_environment() {
  const std::string pod = variable("POD_NAME");
  const size_t dash = pod.rfind('-');
  if (dash == std::string::npos) return absl::InvalidArgumentError("POD_NAME must end with a dash and a number");
  ReplicaOptions options{.id = std::strtoull(pod.c_str() + dash + 1, nullptr, 10) + 1,
                         .cluster = variable("CLUSTER"),
                         .data_dir = variable("DATA"),
                         .on_event = log_to_stderr()};
  std::istringstream members(variable("MEMBERS"));
  for (std::string address; members >> address;) options.members.push_back({options.members.size() + 1, address});
  if (options.id > options.members.size()) return absl::InvalidArgumentError("MEMBERS has no address for " + pod);
  // The name of a starting pod does not resolve yet: it listens on all its addresses, and the others find it by its name.
  options.listen = "0.0.0.0:" + split(options.members[options.id - 1].address).port;
  std::ifstream file(variable("SECRET_FILE"));
  options.security = SharedSecret{{std::istreambuf_iterator<char>(file), {}}};
  return options;
}

bool takes_part(ReplicaState state) { return state == ReplicaState::Ready || state == ReplicaState::Learner; }

std::string answer(int code, const std::string& text) {
  const std::string what = code == 200 ? "200 OK" : code == 404 ? "404 Not Found" : "503 Service Unavailable";
  return "HTTP/1.0 " + what + "\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\n\r\n" + text;
}

std::string answer_to(const std::string& request, const Replica& replica) {
  const Health health = replica.health();
  if (request.starts_with("GET /live ")) {
    return health.state == ReplicaState::Halted ? answer(503, health.reason + "\n") : answer(200, "alive\n");
  }
  if (request.starts_with("GET /ready ")) {
    return takes_part(health.state) ? answer(200, "ready\n") : answer(503, health.reason + "\n");
  }
  if (!request.starts_with("GET /metrics ")) return answer(404, "");
  const absl::StatusOr<Metrics> metrics = replica.metrics();
  return metrics.ok() ? answer(200, prometheus_text(*metrics)) : answer(503, metrics.status().ToString());
}

// One client after the other, each with a second. A service has an HTTP server already.
void serve(tcp::acceptor& door, const Replica& replica) {
  for (;;) {
    boost::system::error_code error;
    tcp::socket visitor = door.accept(error);
    if (error) return;
    const timeval second{.tv_sec = 1, .tv_usec = 0};
    setsockopt(visitor.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    std::string request;
    asio::read_until(visitor, asio::dynamic_buffer(request, 8192), "\r\n\r\n", error);
    if (!error) asio::write(visitor, asio::buffer(answer_to(request, replica)), error);
  }
}

absl::Status run() {
  absl::StatusOr<ReplicaOptions> options = options_of_environment();
  if (!options.ok()) return options.status();
  asio::io_context io;
  asio::signal_set ends(io, SIGTERM, SIGINT);
  const auto replica = Replica::open(*std::move(options));
  if (!replica.ok()) return replica.status();

  const Address http = split(variable("HTTP"));
  tcp::acceptor door(io, *tcp::resolver(io).resolve(http.host, http.port).begin());
  std::thread server([&] { serve(door, **replica); });
  ends.async_wait([](const boost::system::error_code&, int) {});
  io.run();
  std::cout << "ends" << std::endl;

  if ((*replica)->health().role == raft::Role::Leader) (*replica)->transfer_leadership({}, 5s).IgnoreError();
  const absl::Status closed = (*replica)->close();
  ::shutdown(door.native_handle(), SHUT_RDWR);
  server.join();
  return closed;
}

}  // namespace

int main() {
  absl::Status status;
  try {
    status = run();
  } catch (const std::exception& error) {
    status = absl::InternalError(error.what());
  }
  if (!status.ok()) std::cerr << "21_kubernetes: " << status << std::endl;
  return status.ok() ? 0 : 1;
}
