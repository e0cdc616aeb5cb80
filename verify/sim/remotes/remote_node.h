// A machine with a process that has no replica: the real client on a RemoteEngine, and the choice of its gateway, as a Remote
// has them. Each process is another origin. Its clocks, pauses and crashes are those of a node; it has no disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "remote/gateway_choice.h"
#include "remote/remote_engine.h"
#include "sim/nodes/caller.h"
#include "sim/nodes/node_parts.h"
#include "sim/nodes/turn_schedule.h"
#include "sim/remotes/remote_links.h"

namespace coordkit::sim {

class RemoteNode final : public Caller, private LinkEnd {
 public:
  // `number`: among all callers.
  RemoteNode(const NodeParts& parts, RemoteLinks& links, uint32_t number, Random random);

  void start();
  void crash();
  void retire();             // the end of the run
  void freeze(bool asleep);  // the process, or its machine with one of the clocks
  void resume();
  void redial();
  bool turn_event(const Event& event);                                            // true: it had its turn
  size_t calls() const { return up() ? process_->engine.status().requests : 0; }  // under way
  void timer_event(const Event& event) { schedule_.timer_event(event); }

  bool up() const override { return process_ != nullptr; }
  bool frozen() const override { return schedule_.frozen(); }
  uint32_t epoch() const override { return schedule_.epoch(); }
  NodeClock& clock() override { return clock_; }
  Now clock_now() const override { return clock_.read(parts_.world.now()); }
  Origin origin() const override { return origin_; }
  const Engine* engine() const override { return up() ? &process_->engine : nullptr; }
  Client& client() override { return process_->client; }
  void wake() override { schedule_.wake(); }

 private:
  struct Process {
    Process(const remote::RemoteEngineOptions& options, ClientOptions client_options, remote::GatewayChoice first)
        : engine(options), client(engine, std::move(client_options)), choice(std::move(first)) {}
    remote::RemoteEngine engine;
    Client client;
    remote::GatewayChoice choice;
    bool serves = false;
    std::string served_by;        // the last gateway that did
    uint64_t turns_in_a_row = 0;  // without time passing
  };

  void hear(LinkMail mail) override;
  void read_mail(LaggingTime now);
  void dial();
  void turn(Now now);
  void served(Process& process);  // a gateway serves again
  void plan_turn(Now now);

  const NodeParts parts_;
  RemoteLinks& links_;
  const uint32_t number_;
  Random random_;
  NodeClock clock_;
  TurnSchedule schedule_;
  Origin origin_;
  std::vector<LinkMail> mail_;
  EngineEffects effects_;
  std::unique_ptr<Process> process_;
};

}  // namespace coordkit::sim
