// One replica of the simulated cluster: an Engine and a Client on a disk, a clock and a place in the network, driven by exactly
// the turn discipline of engine.h. The machine (clock, stores) outlives the process (incarnation.h).
//
// A turn happens some moments after something was posted. A frozen process posts and does nothing until it resumes; then
// everything arrives at once. A crash may strike between turns or between the effects of one.
//
// It is the straight line through its parts: the inbox is what waits for a turn, the schedule says when there is one, the
// outbox carries its effects out.
#pragma once

#include <memory>
#include <vector>

#include "coordkit/engine/client.h"
#include "sim/nodes/caller.h"
#include "sim/nodes/inbox.h"
#include "sim/nodes/incarnation.h"
#include "sim/nodes/node_build.h"
#include "sim/nodes/node_parts.h"
#include "sim/nodes/node_stores.h"
#include "sim/nodes/outbox.h"
#include "sim/nodes/turn_schedule.h"
#include "sim/world/node_clock.h"

namespace coordkit::sim {

class Node final : public Caller {
 public:
  Node(const NodeParts& parts, uint32_t number, Random random);

  uint32_t number() const { return number_; }
  uint32_t member() const { return parts_.plan.member_at(number_); }
  ReplicaId id() const { return ReplicaId(member() + 1); }
  bool up() const override { return running_ != nullptr && !running_->ended(); }
  bool frozen() const override { return schedule_.frozen(); }
  uint32_t epoch() const override { return schedule_.epoch(); }
  Now clock_now() const override { return clock_.read(parts_.world.now()); }

  // Not OK: its disk cannot be opened; it stays down.
  absl::Status start();
  void crash(CrashKind kind);
  void lose_disk();                                  // while it is down: it returns blank, with another store id
  void set_back_disk(const NodeStores::Copy& copy);  // while it is down
  void retire();                                     // the end of the run; no longer observed
  void crash_in_next_turn(bool wanted = true) { crash_in_turn_ = wanted; }
  // A stopped process finds its mail waiting when it resumes; mail that arrived while its machine slept is sent again.
  // Clocks: the machine too, and its clocks stop as well.
  enum class Freeze : uint8_t { Process, Machine, Clocks };
  void freeze(Freeze what);
  void resume();

  // The link of a remote to this gateway. Without a process nothing is kept.
  void hear(LinkMail mail);
  void post(EngineInput input) { inbox_.post(std::move(input)); }
  void receive(std::unique_ptr<Parcel> parcel);
  // A non-member connects, sends all this and disconnects. The node runs, and is not frozen.
  void visited(const Hello& claim, std::vector<Message> messages);
  void wake() override { schedule_.wake(); }
  // Events of its turns and its stores.
  void event(const Event& event);
  // Reads all that is stored, and reports to the engine what does not verify.
  void scrub();

  Hello hello_to(const Node& peer) const;
  Origin origin() const override { return {id(), stores_.log().id(), stores_.log().boot()}; }

  NodeClock& clock() override { return clock_; }
  NodeStores& stores() { return stores_; }
  const NodeStores& stores() const { return stores_; }
  NodeBuild& build() { return build_; }
  Engine* engine() { return up() ? &running_->engine() : nullptr; }
  const Engine* engine() const override { return up() ? &running_->engine() : nullptr; }
  Client& client() override { return running_->client(); }
  uint64_t turns() const { return turns_; }
  bool refused_pair() const { return refused_pair_; }          // by the engine, at the last start
  uint64_t start_number() const { return running_->start(); }  // of the process

 private:
  absl::Status refused(const absl::Status& why);
  void turn_event(const Event& event);
  bool one_turn();
  void halt();
  void log_synced(const Event& event);

  const NodeParts parts_;
  const uint32_t number_;
  Random random_;
  NodeClock clock_;
  NodeStores stores_;
  NodeBuild build_;
  TurnSchedule schedule_;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Parcel>> missed_;  // arrived while the machine slept
  bool slept_ = false;                           // frozen with its machine
  bool refused_pair_ = false;
  bool crash_in_turn_ = false;
  uint64_t turns_ = 0;
  std::unique_ptr<Incarnation> running_;  // uses the others, and stays until all know that it has ended
};

}  // namespace coordkit::sim
