#include "sim/nodes/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

class Programs::Host final : public Process {
 public:
  Host(Programs& programs, Node& node, Random random)
      : programs_(programs), world_(programs.world_), node_(node), epoch_(node.epoch()), random_(random) {}

  void run(const SimOptions& options) { program_ = options.program(*this); }
  Program& program() { return *program_; }

  ReplicaId node() const override { return node_.id(); }
  Client& client() override { return node_.client(); }
  const StateMachine* machine(MachineId id) const override { return node_.up() ? node_.engine()->machine(id) : nullptr; }
  Duration now() const override { return world_.now().time_since_epoch(); }
  Now clock() const override { return node_.clock_now(); }
  uint64_t random(uint64_t below) override { return random_.below(below); }
  void fail(std::string what) override { throw Violation("PROGRAM", what); }
  void end_run() override { programs_.ended_ = true; }

  void change_members(std::vector<raft::MemberChange> changes, Duration patience, DoneCallback done) override {
    for (raft::MemberChange& change : changes) {
      if (change.member.address.empty()) change.member.address = fmt::format("node-{}", change.member.id.value());
    }
    ask(
        [&](Ticket ticket, LaggingTime until) {
          return ChangeMembers{ticket, std::move(changes), {}, until};
        },
        patience, std::move(done));
  }
  void transfer_leadership(ReplicaId target, Duration patience, DoneCallback done) override {
    ask([&](Ticket ticket, LaggingTime until) { return TransferLeadership{ticket, target, until}; }, patience, std::move(done));
  }

  void after(Duration delay, std::function<void()> act) override {
    if (node_.epoch() != epoch_) return;  // it is dying
    acts_.emplace(++last_act_, std::move(act));
    world_.schedule(world_.now() + std::max(delay, Duration::zero()), EventKind::Program, node_.number(), epoch_, last_act_);
  }

  void answered(const std::vector<Completion>& completions) {
    for (const Completion& completion : completions) {
      auto asked = asked_.extract(completion.ticket);
      if (!asked.empty()) asked.mapped()(completion.status);
    }
  }

  // The process dies: its requests may still take effect, but are never answered.
  void end_calls() {
    while (!asked_.empty()) {
      auto asked = asked_.extract(asked_.begin());
      asked.mapped()(make_error(Reason::Stopped, Outcome::Unknown, "the replica stopped before the call was answered"));
    }
  }

  void act(uint64_t number) {
    auto act = acts_.extract(number);
    if (act.empty()) return;
    if (node_.frozen()) {
      late_.push_back(std::move(act.mapped()));
      return;
    }
    act.mapped()();
    node_.wake();
  }

  void resumed() {
    for (std::function<void()>& act : std::exchange(late_, {})) act();
    node_.wake();
  }

 private:
  template <typename Make>
  void ask(Make make, Duration patience, DoneCallback done) {
    if (!node_.up() || node_.epoch() != epoch_) {
      return done(make_error(Reason::Stopped, Outcome::NoEffect, "the process is dying"));
    }
    const Ticket ticket(++programs_.last_ticket_);
    asked_.emplace(ticket, std::move(done));
    node_.post(make(ticket, node_.clock_now().lagging + std::max(patience, Duration(1))));
  }

  Programs& programs_;
  World& world_;
  Node& node_;
  const uint32_t epoch_;
  Random random_;
  std::map<uint64_t, std::function<void()>> acts_;
  std::vector<std::function<void()>> late_;  // arrived while the process was frozen
  std::map<Ticket, DoneCallback> asked_;     // of the engine
  uint64_t last_act_ = 0;
  std::unique_ptr<Program> program_;
};

Programs::Programs(World& world, const SimOptions& options, std::vector<std::unique_ptr<Node>>& nodes, Random random)
    : world_(world), options_(options), nodes_(nodes), random_(random) {}

Programs::~Programs() = default;

void Programs::process_started(uint32_t node) {
  if (!options_.program || node >= nodes_.size()) return;  // those without a replica have none
  Host& host = *(hosts_[node] = std::make_unique<Host>(*this, *nodes_[node], random_.fork()));
  host.run(options_);
  if (calm_) host.program().calm();
  nodes_[node]->wake();
}

void Programs::process_died(uint32_t node) {
  const auto host = hosts_.find(node);
  if (host == hosts_.end()) return;
  host->second->end_calls();
  hosts_.erase(host);
}

void Programs::retire() { hosts_.clear(); }

void Programs::answered(uint32_t node, const EngineEffects& effects) {
  if (const auto host = hosts_.find(node); host != hosts_.end()) host->second->answered(effects.completions);
}

void Programs::process_resumed(uint32_t node) {
  if (const auto host = hosts_.find(node); host != hosts_.end()) host->second->resumed();
}

void Programs::event(const Event& event) {
  const auto host = hosts_.find(event.node);
  if (host != hosts_.end() && nodes_[event.node]->epoch() == event.epoch) host->second->act(event.item);
}

void Programs::calm() {
  if (std::exchange(calm_, true)) return;
  for (auto& [node, host] : hosts_) {
    host->program().calm();
    nodes_[node]->wake();
  }
}

bool Programs::done() const {
  for (const auto& [node, host] : hosts_) {
    if (!host->program().done()) return false;
  }
  return true;
}

}  // namespace coordkit::sim
