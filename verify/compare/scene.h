// The environment of the three models: true time, five machines, and the links between them and the servers. Each machine has
// a clock of its own and one client process. It injects the same faults that coordkit's part gets.
//
// A link keeps the order of messages and loses none. Like a TCP connection, it delivers the messages sent during a cut after
// the cut. A process that was paused finds everything that arrived meanwhile, oldest first, and works through it thread by
// thread, up to a millisecond each.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "compare/stage.h"
#include "compare/strikes.h"
#include "sim/world/node_clock.h"
#include "sim/world/world.h"

namespace coordkit::sim::compare {

class Scene {
 public:
  using Act = std::function<void()>;

  Scene(uint64_t seed, std::vector<Strike> strikes);
  ~Scene();

  ClientProcess& process(uint32_t machine);
  bool frozen(uint32_t machine) const;
  // Monotonic clock, as a program on that machine reads it; also for kService.
  LeadingTime reading(uint32_t machine) const { return clocks_[machine].read(world_.now()).leading; }
  // Time of day there: the same clock plus all its steps. Its initial value means nothing.
  Duration time_of_day(uint32_t machine) const { return reading(machine).time_since_epoch() + steps_[machine]; }

  void after(Duration true_time, Act act);
  // Between the process on `client` and a server on `server` (a machine, or kService), both ways. The act runs at the
  // receiver.
  void request(uint32_t client, uint32_t server, Act act) { send({client, server, Way::There}, std::move(act)); }
  void respond(uint32_t client, uint32_t server, Act act) { send({client, server, Way::Back}, std::move(act)); }

  // Runs to this true time; `look` is called at every virtual millisecond.
  void run(Duration length, const std::function<void()>& look);
  uint64_t hash() const { return world_.trace_hash(); }

 private:
  enum class Way : uint8_t { There, Back };
  struct Wire {
    uint32_t client;
    uint32_t server;
    Way way;
    friend auto operator<=>(const Wire&, const Wire&) = default;
  };
  class Process;

  void send(Wire wire, Act act);
  void launch(Wire wire, Act act);
  bool passes(const Wire& wire) const;
  void strike(const Strike& strike);
  void mend(uint32_t machine);

  World world_;
  Random random_;
  std::vector<NodeClock> clocks_;
  std::array<Duration, kMachines> steps_{};
  std::array<bool, kMachines + 1> cut_{};
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<Wire, std::deque<Act>> held_;
  std::map<Wire, TrueTime> last_arrival_;
  std::map<uint64_t, Act> acts_;
  uint64_t last_act_ = 0;
};

}  // namespace coordkit::sim::compare
