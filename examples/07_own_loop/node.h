// One replica without a thread: the loop of coordkit/engine/engine.h with stores in memory and peers in the same process. A
// service puts its disks and sockets in their place; what they report is posted in the same way.
#pragma once

#include <coordkit/engine/client.h>
#include <coordkit/engine/coordination_machine.h>
#include <coordkit/engine/engine.h>
#include <coordkit/ports/store_events.h>
#include <coordkit/storage/memory_stores.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

class Node final : private coordkit::StoreEvents {
 public:
  // How it reaches the others: a hello shows that the sender knows its cluster, so it is sent again once it does.
  struct Network {
    std::function<void(const coordkit::Outbound&)> send;
    std::function<void()> greet;
  };

  Node(uint64_t id, std::vector<coordkit::Peer> members, const coordkit::Clock& clock, Network network)
      : clock_(clock), network_(std::move(network)), log_(coordkit::StoreId(100 + id)) {
    coordkit::EngineOptions options;
    options.raft.self = coordkit::ReplicaId(id);
    options.raft.seed = id;
    options.members = std::move(members);
    options.new_cluster = coordkit::ClusterId(4711);  // a service draws this, and token_base, as coordkit::Replica does
    options.start = id;
    state_.open(*this).IgnoreError();
    auto log = log_.open(*this);
    auto machines = fresh_machines();
    engine_ =
        *coordkit::Engine::recover(std::move(options), std::move(machines), *std::move(log), **state_.view(), clock_.now());
    client_.emplace(*engine_, coordkit::ClientOptions{});
  }

  coordkit::Client& client() { return *client_; }
  const coordkit::Engine& engine() const { return *engine_; }
  coordkit::Hello hello(coordkit::ReplicaId to) const {
    return {.cluster_name = "loop",
            .from = engine_->self(),
            .to = to,
            .store = engine_->store(),
            .boot = engine_->boot(),
            .cluster = engine_->status().cluster,
            .feature_level = coordkit::kFeatureLevel};
  }
  void post(coordkit::EngineInput input) { inbox_.push_back(std::move(input)); }

  // Everything that has arrived, one turn, and its effects.
  void turn() {
    while (!inbox_.empty()) {
      engine_->post(std::move(inbox_.front()));
      inbox_.pop_front();
    }
    const coordkit::Now now = clock_.now();  // after the last post
    client_->before_turn(now);
    engine_->turn(now, effects_);
    client_->after_turn(now, effects_);
    carry_out();
  }

  coordkit::Duration until_next_turn() const {  // zero or less: at once
    if (!inbox_.empty()) return {};
    const coordkit::Now now = clock_.now();
    return std::min(engine_->next_deadline() - now.lagging, client_->next_turn(now));
  }

 private:
  void post_event(coordkit::EngineInput input) override { post(std::move(input)); }

  static std::vector<coordkit::HostedMachine> fresh_machines() {
    std::vector<coordkit::HostedMachine> machines;
    machines.push_back(coordkit::coordination_machine());
    return machines;
  }

  void carry_out() {
    for (coordkit::LogWrite& write : effects_.writes) log_.submit(std::move(write));
    for (const auto& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
    if (effects_.cluster) network_.greet();  // before messages that only a member may send
    for (const coordkit::Outbound& outbound : effects_.sends) network_.send(outbound);
    if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
    if (effects_.compact) log_.compact(*effects_.compact);
    for (const coordkit::ViewOrder& order : effects_.views) {
      if (auto answer = views_.perform(order)) std::visit([this](auto& one) { post(std::move(one)); }, *answer);
    }
    for (coordkit::StagingOrder& order : effects_.staging) coordkit::perform(std::move(order), state_);
    if (effects_.restore) post(coordkit::StateRestored{coordkit::RestoredState::build(fresh_machines(), **state_.view())});
  }

  const coordkit::Clock& clock_;
  const Network network_;
  coordkit::MemoryLogStore log_;
  coordkit::MemoryStateStore state_;
  coordkit::StateViews views_{state_};
  std::deque<coordkit::EngineInput> inbox_;
  coordkit::EngineEffects effects_;
  std::unique_ptr<coordkit::Engine> engine_;
  std::optional<coordkit::Client> client_;
};
