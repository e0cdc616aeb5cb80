// Numbers for charts and alarms: a replica, and beside it a page that Prometheus scrapes. dashboard.json is for Grafana. Events
// go to the error output, a line each.
//
//   19_metrics           one replica in this process, in a temporary directory; scrapes itself once and shows some of it
//   19_metrics serve     stays, and serves http://127.0.0.1:9464/metrics until it is interrupted
#include <coordkit/coordkit.h>
#include <coordkit/operate/log_to_stderr.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;

// One request after the other; a slow or broken client costs only its own connection. A service has an HTTP server already.
void serve(tcp::acceptor& door, const coordkit::Replica& replica, int requests) {
  for (; requests != 0; --requests) {
    boost::system::error_code error;
    tcp::socket visitor = door.accept(error);
    if (error) return;
    std::string request;
    asio::read_until(visitor, asio::dynamic_buffer(request, 8192), "\r\n\r\n", error);
    const bool known = request.starts_with("GET /metrics ");
    const absl::StatusOr<coordkit::Metrics> metrics = replica.metrics();
    const std::string page = known && metrics.ok() ? coordkit::prometheus_text(*metrics, "cluster=\"shop\",replica=\"1\"") : "";
    const std::string head =
        known ? "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n" : "HTTP/1.0 404 Not Found\r\n";
    asio::write(visitor, asio::buffer(head + "Content-Length: " + std::to_string(page.size()) + "\r\n\r\n" + page), error);
  }
}

// What a scraper gets.
std::string scrape(const tcp::endpoint& where) {
  asio::io_context io;
  tcp::socket server(io);
  server.connect(where);
  asio::write(server, asio::buffer(std::string("GET /metrics HTTP/1.0\r\n\r\n")));
  std::string answer;
  boost::system::error_code ended;
  asio::read(server, asio::dynamic_buffer(answer), ended);
  return answer;
}

absl::Status run(const fs::path& directory, bool stay) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  auto replica = coordkit::Replica::open({.id = 1,
                                          .cluster = "shop",
                                          .data_dir = directory,
                                          .members = {{1, address}},
                                          .security = coordkit::PlainText{},
                                          .on_event = coordkit::log_to_stderr()});
  if (!replica.ok()) return replica.status();
  if (absl::Status ready = (*replica)->wait_ready(60s); !ready.ok()) return ready;
  for (int i = 0; i < 100; ++i) {
    const auto put = (*replica)->put("stock", std::to_string(i));
    if (!put.ok()) return put.status();
  }

  asio::io_context io;
  tcp::acceptor door(io, {asio::ip::address_v4::loopback(), static_cast<uint16_t>(stay ? 9464 : 0)});
  if (stay) {
    std::cout << "http://127.0.0.1:9464/metrics" << std::endl;
    serve(door, **replica, -1);
  }
  std::thread server([&] { serve(door, **replica, 1); });
  std::istringstream page(scrape(door.local_endpoint()));
  server.join();
  int shown = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.find("_total{") == std::string::npos || line.find("log_") == std::string::npos) continue;
    std::cout << line << "\n";
    ++shown;
  }
  return shown > 0 ? absl::OkStatus() : absl::InternalError("the page says nothing about the log");
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = fs::temp_directory_path() / "19_metrics-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory, argc > 1 && std::string(argv[1]) == "serve");
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "19_metrics: " << status << "\n";
  return status.ok() ? 0 : 1;
}
