// Coroutines of Boost.Asio on one thread: a worker that holds a lock and reads the stream of a watch, a rival that will not
// wait for long, and an operation that is cancelled.
//
//   17_coroutines    one replica in this process, in a temporary directory
#include <coordkit/asio/asio.h>
#include <coordkit/asio/asio_stream.h>
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using namespace coordkit;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::use_awaitable;

asio::awaitable<void> give_orders(Replica& replica) {
  for (const char* number : {"1", "2", "3"}) {
    co_await async_put(replica, std::string("orders/") + number, number, {}, as_exception(use_awaitable));
  }
}

// Follows the stream for as long as it may. A refusal here is an exception: a std::system_error with a sentence.
asio::awaitable<void> work(const Grant& desk, WatchStream& orders) {
  for (int done = 0; done < 3;) {
    const WatchBatch batch = co_await async_next(orders, as_exception(use_awaitable));
    if (!desk.valid()) throw std::runtime_error("lost the desk");
    if (batch.what != WatchBatch::What::Events) continue;
    for (const WatchEvent& event : batch.events) std::cout << "worker: order " << event.entry.value << std::endl, ++done;
  }
}

// Races the wait against a timer, which wins because the desk is taken. With a StatusOr for an answer a refused acquire
// would win as well: for Asio an operation that ends without an error has succeeded.
asio::awaitable<void> compete(Session rival) {
  asio::steady_timer patience(co_await asio::this_coro::executor, 50ms);
  const auto first = co_await (async_acquire(rival, "desk", as_exception(use_awaitable)) || patience.async_wait(use_awaitable));
  if (first.index() == 0) throw std::runtime_error("two have the desk");
  std::cout << "rival: waits no longer, and has left the line" << std::endl;
}

asio::awaitable<void> play(Replica& replica) {
  // Without a token an operation is awaitable, and answers with a Status or StatusOr.
  const absl::StatusOr<Session> me = co_await async_open_session(replica, "worker", {.ttl = 5s});
  if (!me.ok()) throw std::runtime_error(me.status().ToString());
  Grant desk = co_await async_acquire(*me, "desk", {.timeout = 10s}, as_exception(use_awaitable));

  Session rival = co_await async_open_session(replica, "rival", {}, as_exception(use_awaitable));
  co_await compete(rival);

  asio::cancellation_signal stop;
  const auto executor = co_await asio::this_coro::executor;
  auto on_answer = [](const absl::StatusOr<Grant>& grant) { std::cout << "rival: " << grant.status().message() << std::endl; };
  async_acquire(rival, "desk", asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(executor, on_answer)));
  stop.emit(asio::cancellation_type::total);

  WatchStream orders(replica, WatchOptions::prefix("orders/"));
  co_await async_next(orders, as_exception(use_awaitable));  // established: later puts are seen
  co_await (work(desk, orders) && give_orders(replica));
  co_await async_release(desk, as_exception(use_awaitable));
}

int run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  auto replica =
      Replica::open({.id = 1, .cluster = "office", .data_dir = directory, .members = {{1, address}}, .security = PlainText{}});
  absl::Status status = replica.status();
  if (status.ok()) status = (*replica)->wait_ready(30s);
  if (!status.ok()) return std::cerr << "17_coroutines: " << status << "\n", 1;
  asio::io_context io;
  int code = 0;
  asio::co_spawn(io, play(**replica), [&code](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::exception& failure) {
      std::cerr << "17_coroutines: " << failure.what() << "\n";
      code = 1;
    }
  });
  io.run();
  return code;
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "17_coroutines-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
