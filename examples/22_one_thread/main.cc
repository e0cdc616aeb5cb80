// A host with one thread for everything: the replica's turns and the host's own coroutines run on the same io_context. A call
// that blocks there would wait for itself, so coordkit refuses it (InCallback), and everything is an operation that is awaited.
//
//   22_one_thread    one replica in this process, in a temporary directory
#include <coordkit/asio/asio.h>
#include <coordkit/asio/asio_executor.h>
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::use_awaitable;

asio::awaitable<void> play(Replica& replica) {
  co_await async_wait_ready(replica, 10s, as_exception(use_awaitable));

  const absl::Status refused = replica.put("color", "green").status();
  std::cout << "a blocking put here: " << name_of(*reason_of(refused)) << std::endl;

  Session me = co_await async_open_session(replica, "worker", {.ttl = 5s}, as_exception(use_awaitable));
  Grant desk = co_await async_acquire(me, "desk", {.timeout = 10s}, as_exception(use_awaitable));
  co_await async_put(replica, "color", "green", {}, as_exception(use_awaitable));
  co_await async_release(desk, as_exception(use_awaitable));

  const Health health = co_await async_health(replica, as_exception(use_awaitable));
  std::cout << "health: " << name_of(health.state) << std::endl;
  co_await async_close(replica, as_exception(use_awaitable));
  std::cout << "closed" << std::endl;
}

int run(const fs::path& directory) {
  asio::io_context io;  // outlives the replica
  ReplicaOptions options{.id = 1, .cluster = "one-thread", .data_dir = directory};
  options.members = {{1, "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000)}};
  options.security = PlainText{};
  options.parts.executor = asio_executor(io.get_executor());
  const absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(options));
  if (!replica.ok()) return std::cerr << "22_one_thread: " << replica.status() << "\n", 1;
  int code = 0;
  asio::co_spawn(io, play(**replica), [&code](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::exception& failure) {
      std::cerr << "22_one_thread: " << failure.what() << "\n";
      code = 1;
    }
  });
  io.run();  // the only thread; it returns once the replica is closed and nothing is left to do
  return code;
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "22_one_thread-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
