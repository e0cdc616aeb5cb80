#include "compare/scene.h"

#include <algorithm>
#include <utility>

#include "compare/work.h"

namespace coordkit::sim::compare {
namespace {

constexpr Duration kWireMin = std::chrono::microseconds(100);
constexpr Duration kWireMax = std::chrono::milliseconds(2);
constexpr Duration kThreadMax = std::chrono::milliseconds(1);  // until another thread runs after a pause

}  // namespace

class Scene::Process final : public ClientProcess {
 public:
  Process(Scene& scene, uint32_t machine, Random random) : scene_(scene), machine_(machine), random_(random) {}

  bool frozen() const { return frozen_; }
  // The delay is by this machine's clock.
  void after(Duration delay, Act act) override {
    const NodeClock& clock = scene_.clocks_[machine_];
    const TrueTime now = scene_.world_.now();
    const TrueTime due = clock.when(clock.read(now).leading + delay, now);
    scene_.after(due - now, [this, act = std::move(act)]() mutable { run(std::move(act)); });
  }
  void elsewhere_after(Duration delay, Act act) override { scene_.after(delay, std::move(act)); }
  uint64_t random(uint64_t below) override { return random_.below(below); }

  void run(Act act) {
    if (!frozen_ && late_.empty()) return act();
    late_.push_back(std::move(act));
  }
  void freeze() { frozen_ = true; }
  void resume() {
    frozen_ = false;
    if (!catching_up_) catch_up();
  }

 private:
  void catch_up() {
    catching_up_ = !frozen_ && !late_.empty();
    if (!catching_up_) return;
    scene_.after(up_to(kThreadMax), [this] {
      if (!frozen_) {
        const Act act = std::move(late_.front());
        act();  // later events queue behind it
        late_.pop_front();
      }
      catch_up();
    });
  }

  Scene& scene_;
  const uint32_t machine_;
  Random random_;
  bool frozen_ = false;
  bool catching_up_ = false;
  std::deque<Act> late_;
};

Scene::Scene(uint64_t seed, std::vector<Strike> strikes) : world_(seed), random_(world_.fork_random()) {
  for (uint32_t machine = 0; machine <= kService; ++machine) {
    clocks_.emplace_back(Duration(random_.below(1'000'000'000'000)), 0);
  }
  for (uint32_t machine = 0; machine < kMachines; ++machine) {
    processes_.push_back(std::make_unique<Process>(*this, machine, random_.fork()));
  }
  for (const Strike& planned : strikes) {
    after(planned.at, [this, planned] { strike(planned); });
  }
}

Scene::~Scene() = default;

ClientProcess& Scene::process(uint32_t machine) { return *processes_[machine]; }
bool Scene::frozen(uint32_t machine) const { return processes_[machine]->frozen(); }

void Scene::after(Duration true_time, Act act) {
  acts_.emplace(++last_act_, std::move(act));
  world_.schedule(world_.now() + true_time, EventKind::Script, kNoNode, 0, last_act_);
}

void Scene::run(Duration length, const std::function<void()>& look) {
  const TrueTime end = world_.now() + length;
  for (TrueTime next = world_.now(); next < end; next += OverlapWatch::kStep) {
    while (!world_.empty() && world_.next_time() <= next) acts_.extract(world_.pop().item).mapped()();
    look();
  }
}

void Scene::strike(const Strike& strike) {
  const uint32_t machine = strike.machine;
  switch (strike.kind) {
    case StrikeKind::Pause:
      processes_[machine]->freeze();
      return after(strike.length, [this, machine] { processes_[machine]->resume(); });
    case StrikeKind::Cut: cut_[machine] = true; return after(strike.length, [this, machine] { mend(machine); });
    case StrikeKind::StopMachine:
      cut_[machine] = true;
      processes_[machine]->freeze();
      clocks_[machine].stop(world_.now());
      return after(strike.length, [this, machine] {
        clocks_[machine].go_on(world_.now());
        mend(machine);
        processes_[machine]->resume();
      });
    case StrikeKind::Rate: return clocks_[machine].set_rate(world_.now(), strike.rate_ppm);
    case StrikeKind::WallStep: steps_[machine] += strike.step; return;
  }
}

void Scene::mend(uint32_t machine) {
  cut_[machine] = false;
  for (auto& [wire, acts] : held_) {
    if (!passes(wire)) continue;
    for (Act& act : std::exchange(acts, {})) launch(wire, std::move(act));
  }
}

bool Scene::passes(const Wire& wire) const { return wire.client == wire.server || (!cut_[wire.client] && !cut_[wire.server]); }

void Scene::send(Wire wire, Act act) {
  if (!passes(wire)) {
    held_[wire].push_back(std::move(act));
    return;
  }
  launch(wire, std::move(act));
}

void Scene::launch(Wire wire, Act act) {
  const Duration travel(random_.between(kWireMin.count(), kWireMax.count()));
  TrueTime& last = last_arrival_[wire];
  last = std::max(last, world_.now() + travel);
  after(last - world_.now(), [this, wire, act = std::move(act)]() mutable {
    if (wire.way == Way::There) return act();
    processes_[wire.client]->run(std::move(act));
  });
}

}  // namespace coordkit::sim::compare
