#include "bench/cluster/kv_load.h"

#include <fmt/format.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/cluster/load_loop.h"
#include "coordkit/keys/kv.h"

namespace coordkit::bench {
namespace {

enum class What : uint8_t { Put, Txn, Read, Local };

What what_of(std::string_view kind) {
  if (kind == "put") return What::Put;
  if (kind == "txn") return What::Txn;
  return kind == "read" ? What::Read : What::Local;
}

Transaction put_if_there(const std::string& key) {
  const PutOperation put{.key = key, .value = std::string(kSixteenBytes)};
  return {.compares = {Compare::exists(key)}, .then = {Operation{put}}, .otherwise = {Operation{RangeOperation::of(key)}}};
}

QueryOptions reads(What what) { return {.read = what == What::Local ? Consistency::Local : Consistency::Linearizable}; }

struct Load {
  Load(Service& service, const LoadOptions& options)
      : kv(service),
        what(what_of(options.kind)),
        loop(options.callers, Seconds(options.warmup_s), Seconds(options.seconds), options.per_s) {}

  Kv kv;
  const What what;
  LoadLoop loop;
};

// A chain of callbacks, which keeps itself alive until its last one.
class AsyncCaller : public std::enable_shared_from_this<AsyncCaller> {
 public:
  AsyncCaller(std::shared_ptr<Load> load, size_t number) : load_(std::move(load)), random_(number) {}

  void next() {
    load_->loop.next([self = shared_from_this()](TimePoint from) { self->begin(from); });
  }

 private:
  void begin(TimePoint from) {
    started_ = from;
    const std::string& key = draw_key(random_);
    const auto done = [self = shared_from_this()](const auto& answer) { self->answered(answer.status()); };
    switch (load_->what) {
      case What::Put: load_->kv.put_async({.key = key, .value = std::string(kSixteenBytes)}, {}, done); return;
      case What::Txn: load_->kv.commit_async(put_if_there(key), {}, {}, done); return;
      case What::Read:
      case What::Local: load_->kv.range_async(RangeOperation::of(key), reads(load_->what), done); return;
    }
  }
  void answered(const absl::Status& status) {
    status.ok() ? load_->loop.cycle(started_, Clock::now()) : load_->loop.error(status);
    next();
  }

  const std::shared_ptr<Load> load_;
  Random random_;
  TimePoint started_;
};

absl::Status once(Kv& kv, What what, const std::string& key) {
  switch (what) {
    case What::Put: return kv.put(key, std::string(kSixteenBytes)).status();
    case What::Txn: return kv.commit(put_if_there(key)).status();
    case What::Read:
    case What::Local: return kv.range(RangeOperation::of(key), reads(what)).status();
  }
  return absl::OkStatus();
}

void blocking_caller(Load& load, size_t number) {
  Random random(number);
  while (!load.loop.over()) {
    const std::string& key = draw_key(random);
    const TimePoint from = Clock::now();
    const absl::Status status = once(load.kv, load.what, key);
    status.ok() ? load.loop.cycle(from, Clock::now()) : load.loop.error(status);
  }
  load.loop.caller_ended();
}

// All keys exist before anything is measured.
absl::Status fill(Kv kv) {
  constexpr uint64_t kAtOnce = 100;
  for (uint64_t from = 0; from < kKeys; from += kAtOnce) {
    Transaction puts;
    for (uint64_t number = from; number < from + kAtOnce; ++number) {
      puts.then.push_back(Operation{PutOperation{.key = key_of(number), .value = std::string(kSixteenBytes)}});
    }
    if (const auto done = kv.commit(std::move(puts)); !done.ok()) return done.status();
  }
  return absl::OkStatus();
}

}  // namespace

std::string key_of(uint64_t number) { return fmt::format("key-{:08}", number); }

const std::string& draw_key(Random& random) {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> made;
    for (uint64_t number = 0; number < kKeys; ++number) made.push_back(key_of(number));
    return made;
  }();
  return keys[random.below(kKeys)];
}

nlohmann::ordered_json run_kv_load(Service& service, const LoadOptions& options) {
  if (const absl::Status filled = fill(Kv(service)); !filled.ok()) return {{"errors", 1}, {"first_error", filled.ToString()}};
  const auto load = std::make_shared<Load>(service, options);
  std::vector<std::thread> threads;
  for (size_t number = 0; number < options.callers; ++number) {
    if (options.where == "blocking") {
      threads.emplace_back([&load, number] { blocking_caller(*load, number); });
    } else {
      std::make_shared<AsyncCaller>(load, number)->next();
    }
  }
  nlohmann::ordered_json result = load->loop.wait();
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace coordkit::bench
