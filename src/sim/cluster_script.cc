// The conductor of a script: the same faults as the drawn ones, when and where the author of a test wants them.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/cluster.h"
#include "sim/violation.h"

namespace coordkit::sim {

void Conductor::cut_off(ReplicaId node) {
  for (uint64_t other = 1; other <= nodes(); ++other) {
    cut(node, ReplicaId(other));
    cut(ReplicaId(other), node);
  }
}

void Conductor::rejoin(ReplicaId node) {
  for (uint64_t other = 1; other <= nodes(); ++other) {
    mend(node, ReplicaId(other));
    mend(ReplicaId(other), node);
  }
}

void Conductor::start_all() {
  for (uint64_t node = 1; node <= nodes(); ++node) start(ReplicaId(node));
}

class Cluster::Stage final : public Conductor {
 public:
  explicit Stage(Cluster& cluster) : cluster_(cluster) {}

  Duration now() const override { return cluster_.world_.now().time_since_epoch(); }
  uint64_t nodes() const override { return cluster_.plan_.nodes; }
  ReplicaId leader() const override {
    const std::optional<uint32_t> leader = cluster_.consensus_.leader();
    return leader ? ReplicaId(*leader + 1) : ReplicaId();
  }

  void at(Duration when, std::function<void()> act) override {
    acts_.emplace(++last_, std::move(act));
    const TrueTime moment = std::max(cluster_.world_.now(), TrueTime(when));
    cluster_.world_.schedule(moment, EventKind::Script, kNoNode, 0, last_);
  }
  // Nothing strikes a cluster that was promised calm.
  void act(uint64_t number) {
    auto act = acts_.extract(number);
    if (!act.empty() && cluster_.hostile_) act.mapped()();
  }

  void crash(ReplicaId node) override {
    if (!exists(node)) return;
    if (cluster_.nodes_[place(node)]->up()) cluster_.nodes_[place(node)]->crash(cluster_.any_crash());
  }
  void start(ReplicaId node) override {
    if (exists(node)) cluster_.restart(place(node));
  }
  void freeze(ReplicaId node) override { freeze(node, Node::Freeze::Process); }
  void stop_machine(ReplicaId node) override { freeze(node, Node::Freeze::Clocks); }
  void resume(ReplicaId node) override {
    if (!exists(node) || !cluster_.nodes_[place(node)]->frozen()) return;
    cluster_.resume(place(node));
  }
  void cut(ReplicaId from, ReplicaId to) override {
    if (!exists(from) || !exists(to) || from == to || find(from, to) != nullptr) return;
    ActiveFault fault{.kind = FaultKind::OneWayCut, .links = {{place(from), place(to)}}};
    cluster_.cut_links(fault);
    cluster_.notice_cuts(fault);
    cluster_.faults_.push_back(std::move(fault));
    ours_[{from, to}] = cluster_.faults_.size() - 1;
  }
  void mend(ReplicaId from, ReplicaId to) override {
    if (ActiveFault* fault = find(from, to)) cluster_.undo(*fault);
  }
  void end_run() override { ended_ = true; }
  bool ended() const { return ended_; }
  void clock_rate(ReplicaId node, int64_t parts_per_million) override {
    const int64_t bound = kRateErrorPpm;
    if (parts_per_million < -bound || parts_per_million > bound) {
      throw Violation("OPTIONS", fmt::format("a clock rate of {} ppm lies outside of what is promised to the protocol, {}",
                                             parts_per_million, bound));
    }
    if (exists(node)) cluster_.nodes_[place(node)]->clock().set_rate(cluster_.world_.now(), parts_per_million);
  }

 private:
  void freeze(ReplicaId node, Node::Freeze what) {
    if (!exists(node)) return;
    Node& frozen = *cluster_.nodes_[place(node)];
    if (!frozen.up() || frozen.frozen()) return;
    frozen.freeze(what);
    cluster_.note_lost(place(node));
  }
  static uint32_t place(ReplicaId node) { return static_cast<uint32_t>(node.value() - 1); }
  bool exists(ReplicaId node) const { return node && node.value() <= nodes(); }
  ActiveFault* find(ReplicaId from, ReplicaId to) {
    const auto ours = ours_.find({from, to});
    if (ours == ours_.end() || !cluster_.faults_[ours->second].on) return nullptr;
    return &cluster_.faults_[ours->second];
  }

  Cluster& cluster_;
  std::map<uint64_t, std::function<void()>> acts_;
  uint64_t last_ = 0;
  bool ended_ = false;
  std::map<std::pair<ReplicaId, ReplicaId>, size_t> ours_;  // active cuts made by the script
};

std::unique_ptr<Cluster::Stage, void (*)(Cluster::Stage*)> Cluster::make_stage() {
  return {new Stage(*this), [](Stage* stage) { delete stage; }};
}

void Cluster::script_event(const Event& event) { stage_->act(event.item); }

bool Cluster::ended() const { return stage_->ended() || programs_.ended(); }

void Cluster::begin_script() {
  if (options_.script) options_.script(*stage_);
}

// What the author of the test demands of each replica, once all are level.
void Cluster::check_by_author() const {
  if (!options_.check) return;
  for (const auto& node : nodes_) {
    const std::string sentence = options_.check(node->id(), *node->engine());
    if (!sentence.empty()) throw Violation("CHECK", fmt::format("n{}: {}", node->number() + 1, sentence));
  }
}

}  // namespace coordkit::sim
