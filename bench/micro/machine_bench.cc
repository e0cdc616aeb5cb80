// Right of commit: what the machine takes to apply an acquire and its release, and its table of locks alone, with few and many
// other locks held.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "lock/lock_table.h"
#include "machine/machine.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

const Origin kOrigin{ReplicaId(1), StoreId(7), BootCounter(1)};
constexpr uint64_t kTokens = uint64_t{1} << 40;

std::string held(int64_t number) { return "held/" + std::to_string(1'000'000'000 + number); }

class Applied {
 public:
  explicit Applied(int64_t others) {
    machine_.bootstrap(ClusterId(5), kTokens);
    machine::OpenSession open{.ttl = 5s, .node = kOrigin.replica, .boot = kOrigin.boot, .incarnation = kOrigin.store.value()};
    session_ = run({.body = std::move(open)}).session;
    for (int64_t i = 0; i < others; ++i) run(acquire(held(i)));
  }
  machine::Request acquire(std::string name) const {
    return {.body = machine::Acquire{.session = session_, .name = std::move(name), .wait = machine::Wait::forever()}};
  }
  machine::Request release(std::string name, Token token) const {
    return {.body = machine::Release{.session = session_, .name = std::move(name), .token = token}};
  }
  machine::Result run(const machine::Request& request) {
    index_ = index_.next();
    machine::encode(request, bytes_);
    const Command command{index_, {kOrigin, Sequence(index_.value())}, bytes_};
    output_.results.clear();
    output_.events.clear();
    output_.timer_ops.clear();
    machine_.apply({&command, 1}, output_);
    return *machine::decode_result(output_.results.front().bytes.view());
  }

 private:
  machine::Machine machine_;
  SessionId session_;
  Index index_;
  ApplyOutput output_;
  std::string bytes_;
};

void apply_acquire_release(benchmark::State& state) {
  Applied applied(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    const machine::Result granted = applied.run(applied.acquire("jobs/1000042"));
    COORDKIT_CHECK(granted.code == machine::ResultCode::Granted);
    benchmark::DoNotOptimize(applied.run(applied.release("jobs/1000042", granted.token)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(apply_acquire_release)->Arg(0)->Arg(1'000)->Arg(1'000'000);

class Locks {
 public:
  explicit Locks(int64_t others) {
    for (int64_t i = 0; i < others; ++i) acquire(held(i));
  }
  Token acquire(std::string_view name) {
    index_ = index_.next();
    const lock::Wanted wanted{name, lock::Mode::Exclusive};
    const lock::AcquireVerdict verdict = table_.acquire(
        {.index = index_, .request = {kOrigin, Sequence(index_.value())}, .session = kSession, .names = {&wanted, 1}}, tokens_);
    COORDKIT_CHECK(verdict.kind == lock::AcquireVerdict::Kind::Granted);
    decide_waits();
    return verdict.token;
  }
  void release(std::string_view name, Token token) {
    index_ = index_.next();
    COORDKIT_CHECK(table_.release({.session = kSession, .name = name, .token = token}));
    decide_waits();
  }

 private:
  static constexpr SessionId kSession{9};
  void decide_waits() {
    table_.decide_waits(index_, tokens_, decisions_);
    decisions_.clear();
  }
  lock::Table table_;
  lock::TokenCounter tokens_{kTokens};
  lock::Decisions decisions_;
  Index index_;
};

void table_acquire_release(benchmark::State& state) {
  Locks locks(state.range(0));
  for ([[maybe_unused]] auto _ : state) locks.release("jobs/1000042", locks.acquire("jobs/1000042"));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(table_acquire_release)->Arg(0)->Arg(1'000)->Arg(1'000'000);

}  // namespace
}  // namespace coordkit::bench
