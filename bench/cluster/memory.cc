#include "bench/cluster/memory.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/cluster/kv_load.h"
#include "bench/cluster/lone_machine.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/process.h"
#include "bench/cluster/sessions.h"
#include "bench/cluster/takeover.h"
#include "coordkit/replica.h"
#include "tools/support/loopback.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongTtl = 300s;
constexpr uint64_t kWaitersAtOnce = 256;
constexpr int kLooks = 50;

void expect(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<Replica> alone(const std::filesystem::path& data) {
  absl::StatusOr<std::unique_ptr<Replica>> replica =
      Replica::open({.id = 1,
                     .cluster = "alone",
                     .data_dir = data,
                     .members = {{1, support::free_loopback_addresses(1).front()}},
                     .security = PlainText{}});
  expect(replica.status());
  expect((*replica)->wait_ready(60s));
  return *std::move(replica);
}

// The least of some seconds: what a checkpoint holds while it is written is not what a session costs.
uint64_t kept(const Replica& replica) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (int look = 0; look < kLooks; ++look) {
    std::this_thread::sleep_for(100ms);
    least = std::min(least, allocated_bytes() - metrics_of(replica).memory.log_bytes);
  }
  return least;
}

double each(uint64_t before, uint64_t after, uint64_t count) {
  return one_digit((static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(count));
}

double of_keys(uint64_t count) {
  const Origin origin{ReplicaId(1), StoreId(1), BootCounter(1)};
  LoneMachine state;
  const uint64_t before = allocated_bytes();
  for (uint64_t number = 0; number < count; ++number) {
    state.apply(origin, machine::Put{.key = key_of(number), .value = std::string(kSixteenBytes)});
    state.forget_output();
  }
  state.forget_changes();
  return each(before, allocated_bytes(), count);
}

double of_waiters(uint64_t count, const std::filesystem::path& data) {
  const std::unique_ptr<Replica> replica = alone(data);
  absl::StatusOr<Session> session = replica->open_session({.ttl = kLongTtl});
  expect(session.status());
  const absl::StatusOr<Grant> holder = session->acquire("lock");
  expect(holder.status());
  uint64_t asked = 0;
  const auto ask = [&](uint64_t callers) {
    for (const uint64_t until = asked + callers; asked < until; ++asked) {
      session->acquire_async("lock", {.owner = std::to_string(asked)}, [](const absl::StatusOr<Grant>&) {});
    }
    expect(session->acquire("another").status());  // behind them in the log: now they stand in line
  };
  ask(kWaitersAtOnce);  // what so many calls at once need is there from here on
  const uint64_t before = kept(*replica);
  for (uint64_t more = count; more > 0; more -= std::min(kWaitersAtOnce, more)) ask(std::min(kWaitersAtOnce, more));
  const double bytes = each(before, kept(*replica), count);
  session->close().IgnoreError();
  return bytes;
}

double of_process(uint64_t count, const std::filesystem::path& data) {
  const std::unique_ptr<Replica> replica = alone(data);
  const uint64_t before = kept(*replica);
  const auto sessions = std::make_shared<Sessions>(*replica, count, kLongTtl);
  expect(sessions->open());
  if (sessions->valid() != count) throw std::runtime_error("a session was lost");
  return each(before, kept(*replica), count);
}

}  // namespace

double memory_of(const std::string& kind, uint64_t count, const std::filesystem::path& data) {
  if (kind == "session") return one_digit(run_takeover(count).at("machine_bytes_per_session").get<double>());
  if (kind == "key") return of_keys(count);
  std::filesystem::create_directories(data);
  const double bytes = kind == "waiter" ? of_waiters(count, data / "1") : of_process(count, data / "1");
  std::filesystem::remove_all(data);
  return bytes;
}

}  // namespace coordkit::bench
