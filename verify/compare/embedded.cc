#include "compare/embedded.h"

#include <array>
#include <memory>
#include <utility>

#include "compare/work.h"
#include "coordkit/sim/sim_options.h"

namespace coordkit::sim::compare {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The parts that belong to no process: the counter and the observer.
struct Surroundings {
  const CompareOptions& options;
  const std::vector<Strike>& strikes;
  const LockMaker& make;
  SharedCounter counter;
  OverlapWatch watch;
  Conductor* conductor = nullptr;
  std::array<bool, kMachines> frozen{};
  std::array<class EmbeddedClient*, kMachines> clients{};
  uint64_t grants = 0;
};

// A session and a hold. It retries after every failure.
class NativeLock final : public LockEnd {
 public:
  NativeLock(Process& process, Duration ttl) : process_(process), ttl_(ttl) {}

  void acquire(std::function<void()> granted) override {
    granted_ = std::move(granted);
    ask();
  }
  bool holds() const override { return hold_ && hold_->valid(process_.clock().leading); }
  Token token() const override { return hold_ ? hold_->token() : Token(); }
  void release() override {
    if (hold_) process_.client().release_later(std::exchange(hold_, nullptr));
  }
  void calm() override { calm_ = true; }
  bool done() const override { return !calling_; }

 private:
  void ask() {
    if (calm_) return;
    if (!session_ || session_->phase() == SessionPhase::Lost) return open();
    calling_ = true;
    process_.client().acquire(session_, "the lock", {.wait = LockWait::timed(seconds(5))},
                              [this](absl::StatusOr<HoldRef> hold) {
                                calling_ = false;
                                if (!hold.ok()) return ask_again();
                                hold_ = *std::move(hold);
                                std::exchange(granted_, nullptr)();
                              });
  }
  void open() {
    calling_ = true;
    process_.client().open_session({.ttl = ttl_}, [this](absl::StatusOr<SessionRef> session) {
      calling_ = false;
      if (!session.ok()) return ask_again();
      session_ = *std::move(session);
      ask();
    });
  }
  void ask_again() {
    process_.after(milliseconds(20), [this] { ask(); });
  }

  Process& process_;
  const Duration ttl_;
  SessionRef session_;
  HoldRef hold_;
  std::function<void()> granted_;
  bool calling_ = false;
  bool calm_ = false;
};

// One replica's process: it runs a recipe, and the same worker as everywhere.
class EmbeddedClient final : public Program, public ClientProcess {
 public:
  EmbeddedClient(Process& process, Surroundings& around)
      : process_(process),
        around_(around),
        place_(process.node().value() - 1),
        lock_(around.make(process, around.options)),
        worker_(*this, *lock_, around.counter) {
    around_.clients[place_] = this;
    worker_.begin();
  }
  ~EmbeddedClient() override {
    around_.grants += worker_.grants();
    around_.clients[place_] = nullptr;
  }

  bool holds() const { return lock_->holds(); }
  void calm() override {
    worker_.end();
    lock_->calm();
  }
  bool done() const override { return lock_->done(); }

  // ClientProcess
  void after(Duration delay, std::function<void()> act) override { process_.after(delay, std::move(act)); }
  void elsewhere_after(Duration delay, std::function<void()> act) override {
    around_.conductor->at(around_.conductor->now() + delay, std::move(act));
  }
  uint64_t random(uint64_t below) override { return process_.random(below); }

 private:
  Process& process_;
  Surroundings& around_;
  const uint64_t place_;
  std::unique_ptr<LockEnd> lock_;
  Worker worker_;
};

void plan(Conductor& run, Surroundings& around, const Strike& strike) {
  const ReplicaId node(strike.machine + 1);
  const Duration end = strike.at + strike.length;
  switch (strike.kind) {
    case StrikeKind::Pause:
      run.at(strike.at, [&run, &around, node] { run.freeze(node), around.frozen[node.value() - 1] = true; });
      run.at(end, [&run, &around, node] { around.frozen[node.value() - 1] = false, run.resume(node); });
      return;
    case StrikeKind::Cut:
      run.at(strike.at, [&run, node] { run.cut_off(node); });
      run.at(end, [&run, node] { run.rejoin(node); });
      return;
    case StrikeKind::StopMachine:
      run.at(strike.at, [&run, &around, node] { run.stop_machine(node), around.frozen[node.value() - 1] = true; });
      run.at(end, [&run, &around, node] { around.frozen[node.value() - 1] = false, run.resume(node); });
      return;
    case StrikeKind::Rate:
      if (strike.machine == kService) return;        // the five machines need no service
      if (around.options.faults.wild_rates) return;  // a conductor keeps clocks within the bound; this defect does not
      run.at(strike.at, [&run, node, rate = strike.rate_ppm] { run.clock_rate(node, rate); });
      return;
    case StrikeKind::WallStep: return;  // the time of day is not used here
  }
}

void look(Conductor& run, Surroundings& around) {
  size_t acting = 0;
  for (uint32_t machine = 0; machine < kMachines; ++machine) {
    const EmbeddedClient* client = around.clients[machine];
    if (client && !around.frozen[machine] && client->holds()) ++acting;
  }
  around.watch.look(acting);
  run.at(run.now() + OverlapWatch::kStep, [&run, &around] { look(run, around); });
}

}  // namespace

std::unique_ptr<LockEnd> native_lock(Process& process, const CompareOptions& options) {
  return std::make_unique<NativeLock>(process, options.ttl);
}

OwnRecipe run_embedded(const CompareOptions& options, const std::vector<Strike>& strikes, const LockMaker& make) {
  Surroundings around{.options = options, .strikes = strikes, .make = make};
  SimOptions run{.seed = options.seed, .profile = "calm", .black_box = BlackBox::Never, .nodes = kMachines};
  run.built_in_work = false;
  run.reduction.hostile = options.length;
  run.watch_holders = !options.faults.beyond_promise();
  run.defects.clocks_beyond_bound = options.faults.wild_rates;
  run.program = [&around](Process& process) { return std::make_unique<EmbeddedClient>(process, around); };
  run.script = [&around](Conductor& conductor) {
    around.conductor = &conductor;
    for (const Strike& strike : around.strikes) plan(conductor, around, strike);
    look(conductor, around);
  };
  const Report report = simulate(run);
  OwnRecipe own{.figures = {.grants = around.grants}, .hash = report.trace_hash};
  around.counter.fill(own.figures);
  around.watch.fill(own.figures);
  if (!report.violation.empty()) own.violation = report.violation + ": " + report.what;
  return own;
}

}  // namespace coordkit::sim::compare
