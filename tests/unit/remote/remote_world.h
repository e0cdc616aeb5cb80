// A cluster of one real engine in virtual time with gateways before it, and processes without a replica: the real client on a
// RemoteEngine. Links deliver, lose and hold frames as the test says.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/ports/store_events.h"
#include "coordkit/storage/memory_stores.h"
#include "machine/machine.h"
#include "remote/gateway.h"
#include "remote/remote_engine.h"
#include "tests/unit/client/bench.h"

namespace coordkit::remote {

using namespace std::chrono_literals;

class World;

// One process without a replica.
class Caller {
 public:
  Caller(World& world, uint64_t number, std::string name = {});

  void link(size_t gateway);  // leaves the gateway it has
  void cut();                 // its gateway learns of it as well
  void turn(Now now);
  bool served() const { return engine.status().state == ReplicaState::Ready; }

  const ReplicaId id;
  RemoteEngine engine;
  Client client;
  bool deaf = false;                  // what the gateway sends is lost
  bool silent = false;                // what it sends is lost
  size_t lose_next = 0;               // frames to it
  size_t questions = 0;               // that it has sent
  bool may_wait = true;               // false: its gateways are of a build that answers each question at once
  size_t gateway = SIZE_MAX;          // none
  size_t events = 0;                  // it was told of
  size_t commands = 0;                // it has handed over
  std::optional<std::string> proven;  // by its link: its name

 private:
  friend class World;
  static ClientOptions with_secrets(ReplicaId id) {
    ClientOptions options;
    options.draw_secret = [id, count = 0]() mutable { return std::to_string(id.value()) + "." + std::to_string(++count); };
    return options;
  }
  World& world_;
  EngineEffects effects_;
};

class World : private StoreEvents {
 public:
  explicit World(size_t gateways = 2, const GatewayOptions& gateway_options = {}, uint64_t feature_level = kFeatureLevel)
      : gateway_options_(gateway_options) {
    EngineOptions options;
    options.raft.self = ReplicaId(1);
    options.raft.seed = 1;
    options.members = {{ReplicaId(1), "here"}};
    options.new_cluster = ClusterId(1);
    options.token_base = uint64_t{1} << 31;
    options.start = 1;
    options.feature_level = feature_level;
    RecoveredLog recovered = log_.open(*this).value();
    EXPECT_TRUE(state_.open(*this).ok());
    auto own = std::make_unique<machine::Machine>(row_prefix(kCoordination));
    machine = own.get();
    std::vector<HostedMachine> machines;
    machines.push_back({kCoordination, std::move(own)});
    engine =
        Engine::recover(std::move(options), std::move(machines), std::move(recovered), *state_.view().value(), now).value();
    gateways_.resize(gateways);
    for (auto& gateway : gateways_) gateway = make_gateway();
    while (engine->status().state != ReplicaState::Ready) run(1ms);
  }

  Caller& add_caller(size_t gateway = 0, std::string name = {}) {
    Caller& one = add_unlinked(std::move(name));
    one.link(gateway);
    run(2ms);
    EXPECT_TRUE(callers_.back()->served());
    return *callers_.back();
  }
  Caller& add_unlinked(std::string name) {
    callers_.push_back(std::make_unique<Caller>(*this, callers_.size() + 1, std::move(name)));
    return *callers_.back();
  }
  // Its process ends, and another one takes its place.
  void restart_gateway(size_t gateway) {
    for (auto& caller : callers_) {
      if (caller->gateway == gateway) caller->cut();
    }
    gateways_[gateway] = make_gateway();
  }
  Gateway& gateway(size_t number) { return *gateways_[number]; }
  // All of them have one engine, also with those before them.
  std::unique_ptr<Gateway> make_gateway() {
    ++gateway_options_.number;
    return std::make_unique<Gateway>(*engine, gateway_options_);
  }

  void run(Duration by) {
    for (const LaggingTime end = now.lagging + by; now.lagging < end;) {
      now.lagging += 1ms;
      now.leading += 1ms;
      step();
    }
  }
  // Until the answer has come, at most for a minute.
  template <typename Answer>
  const Answer& await(const Answer& answer) {
    for (int i = 0; i < 60'000 && answer.times() == 0; ++i) run(1ms);
    EXPECT_EQ(answer.times(), 1);
    return answer;
  }
  SessionRef open(Caller& caller, Duration ttl = 5s) {
    test::Answer<SessionRef> answer;
    caller.client.open_session({.ttl = ttl}, answer.callback());
    EXPECT_TRUE(await(answer).ok());
    return *answer;
  }
  // As an administrator does, at the replica.
  void kill(const SessionRef& session) {
    if (!local) local = std::make_unique<Client>(*engine, ClientOptions());
    test::Answer<void> answer;
    local->kill_session(session->id(), answer.callback());
    EXPECT_TRUE(await(answer).ok());
  }
  test::Answer<HoldRef> acquire(Caller& caller, const SessionRef& session, LockWait wait = LockWait::none()) {
    test::Answer<HoldRef> answer;
    caller.client.acquire(session, "lock", {.wait = wait}, answer.callback());
    return answer;
  }

  std::unique_ptr<Engine> engine;
  const machine::Machine* machine = nullptr;
  std::unique_ptr<Client> local;  // at the replica
  Now now{LaggingTime(1h), LeadingTime(2h)};
  bool gateways_post = true;           // false: what remotes say waits at the gateways
  bool gateways_see_events = true;     // false: they pass none on
  bool may_halt = false;               // the engine
  std::vector<ApplyOutput::Act> acts;  // so far

 private:
  friend class Caller;
  void step() {
    for (auto& caller : callers_) caller->turn(now);
    if (gateways_post) {
      for (auto& gateway : gateways_) gateway->before_turn(now);
    }
    if (local) local->before_turn(now);
    engine->turn(now, effects_);
    ASSERT_TRUE(may_halt || !effects_.halted) << *effects_.halted;
    acts.insert(acts.end(), effects_.acts.begin(), effects_.acts.end());
    if (local) local->after_turn(now, effects_);
    if (!gateways_see_events) effects_.events.clear();
    for (auto& gateway : gateways_) gateway->after_turn(now, effects_);
    for (size_t i = 0; i < gateways_.size(); ++i) {
      for (auto& [to, frame] : gateways_[i]->take_frames()) deliver(i, to, std::move(frame.body));
    }
    for (LogWrite& write : effects_.writes) log_.submit(std::move(write));
    for (const raft::ReadRequest& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
    if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
    if (effects_.compact) log_.compact(*effects_.compact);
  }
  void deliver(size_t from, ReplicaId to, std::string body) {
    for (auto& caller : callers_) {
      if (caller->id != to || caller->gateway != from || caller->deaf) continue;
      if (caller->lose_next > 0) {
        --caller->lose_next;
      } else {
        const FromGateway message = decode_from_gateway(body).value();
        if (const auto* happened = std::get_if<Happened>(&message)) caller->events += happened->events.size();
        caller->engine.received(std::move(body));
      }
    }
  }
  void post_event(EngineInput input) override { engine->post(std::move(input)); }

  GatewayOptions gateway_options_;
  MemoryLogStore log_{StoreId(1)};
  MemoryStateStore state_;
  EngineEffects effects_;
  std::vector<std::unique_ptr<Gateway>> gateways_;
  std::vector<std::unique_ptr<Caller>> callers_;
};

inline Caller::Caller(World& world, uint64_t number, std::string name)
    : id(kRemoteBit | number),
      engine({.origin = {id, StoreId(1000 + number), BootCounter(1)}, .name = std::move(name)}),
      client(engine, with_secrets(id)),
      world_(world) {}

inline void Caller::cut() {
  if (gateway == SIZE_MAX) return;
  world_.gateway(gateway).unlinked(id);
  engine.unlinked();
  gateway = SIZE_MAX;
}

inline void Caller::link(size_t to) {
  cut();
  gateway = to;
  world_.gateway(to).linked(id, proven);
  engine.linked();
}

inline void Caller::turn(Now now) {
  client.before_turn(now);
  engine.turn(now, effects_);
  client.after_turn(now, effects_);
  for (Frame& frame : engine.take_frames()) {
    FromRemote message = decode_from_remote(frame.body).value();
    if (const auto* handed = std::get_if<Commands>(&message)) commands += handed->payloads.size();
    if (auto* const question = std::get_if<Question>(&message)) {
      ++questions;
      if (!may_wait) question->waits = {};
      frame.body = encode(message);
    }
    if (gateway != SIZE_MAX && !silent) world_.gateway(gateway).received(id, frame.body, now);
  }
}

}  // namespace coordkit::remote
