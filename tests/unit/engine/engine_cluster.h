// A few engines in one process: instant delivery, virtual time, disks that sync at once or by hand. Nothing is random: the
// engine's tests say what happens. Hostile runs are the simulator's business.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordkit/engine/engine.h"
#include "tests/unit/engine/counter.h"

namespace coordkit::engine {

using namespace std::chrono_literals;

// All that survives a crash of one replica.
struct Disk {
  StoreId store;
  BootCounter boot;
  raft::HardState hard_state;
  Position base;
  std::vector<raft::Entry> entries;
  std::vector<PeerMark> peers;
  std::set<Index> rotten;  // entries that the next start finds lost
  Table table;
};

class Cluster {
 public:
  struct Node {
    ReplicaId id;
    Disk disk;
    std::unique_ptr<Engine> engine;  // null: down
    Counter* counter = nullptr;
    bool syncs = true;        // false: writes wait for sync()
    bool checkpoints = true;  // false: a checkpoint waits forever
    bool installs = true;     // false: what is installed becomes durable in finish_install()
    bool loads = true;        // false: machines are built in finish_load()
    bool rotten = false;      // its rows can no longer be read
    std::deque<LogWrite> pending;
    LeadingTime leading;
    Duration ahead{};       // of its clock, both readings; only grows
    Duration turn_takes{};  // until it can take the next one
    LaggingTime busy_until{};
    std::map<ReplicaId, std::string> peers;  // the peers it wants to connect to, and where

    // The output since the start of the process.
    std::map<Ticket, std::vector<Completion>> completions;
    std::vector<std::string> events;
    std::vector<RenewReply> renewals;
    std::vector<Outbound> sent;
    std::optional<absl::Status> halted;
    std::vector<Divergence> divergences;
    std::vector<absl::Status> threw;
    size_t sent_after_halt = 0;
    size_t checkpoints_taken = 0;
    std::vector<raft::Leadership> leaderships;
    std::vector<Position> restored;
    size_t stages = 0;  // ranges of rows ever staged

    std::map<ViewId, Table> views;
    std::optional<InstallState> installing;
    bool loading = false;
  };
  using Filter = std::function<bool(ReplicaId from, ReplicaId to, const Message&)>;  // false: lost

  explicit Cluster(size_t size, std::function<void(EngineOptions&)> adjust = {});
  ~Cluster();

  Node& node(uint64_t id) { return nodes_.at(id - 1); }
  Engine& engine(uint64_t id) { return *node(id).engine; }
  LaggingTime now() const { return now_; }

  absl::Status try_start(uint64_t id);
  void start(uint64_t id);  // from what its disk holds; connects it with all running nodes
  void start_all();
  void connect(uint64_t from, uint64_t to);  // again, if it already is; `to` learns of `from`
  void crash(uint64_t id);                   // loses what was not synced
  void sync(uint64_t id);                    // completes all pending writes

  void post(uint64_t id, EngineInput input) { engine(id).post(std::move(input)); }
  Ticket submit(uint64_t id, std::string words, Duration timeout = 5s, Urgency urgency = Urgency::Normal);
  Ticket ask(uint64_t id, std::string question, Consistency consistency = Consistency::Linearizable, Duration timeout = 5s,
             Index at_least = {});
  Ticket change(uint64_t id, std::vector<raft::MemberChange> changes, Duration timeout = 10s,
                std::optional<Index> expected = {});
  Ticket transfer(uint64_t id, uint64_t target, Duration timeout = 5s);
  // The one completion of a call; fails the test if there is none or there are several.
  Completion ended(uint64_t id, Ticket ticket);
  size_t answers(uint64_t id, Ticket ticket) { return node(id).completions[ticket].size(); }
  // Submits, runs until it ends, returns the answer's bytes.
  std::string run(uint64_t id, std::string words);
  std::string read(uint64_t id, std::string question = "total");

  void one_turn(uint64_t id) { turn(node(id)); }
  void finish_install(uint64_t id);
  void finish_load(uint64_t id);

  void run_until_idle();                   // every turn that is due now, until none is
  void pass(Duration time);                // lets time pass, deadline by deadline
  void stall(uint64_t id, Duration time);  // `id` runs no turn for that long, the others do
  bool until(const std::function<bool()>& done, Duration limit = 10s);
  uint64_t leader();  // waits for one that is ready; zero: none emerged

  Filter filter;                                                  // of messages; unset: all arrive
  enum class Write : uint8_t { Succeeds, Fails, FailsAfterAll };  // the last: an error of what is on the disk all the same
  std::function<Write(ReplicaId, const LogWrite&)> fails;         // unset: none
  bool says_lists = true;                                         // false: hellos are of builds that say no list of members

 private:
  EngineOptions options(uint64_t id) const;
  Hello hello(uint64_t from, uint64_t to);
  bool linked(const Node& a, const Node& b) const;
  void wants(Node& node, const std::vector<Peer>& peers);
  LaggingTime clock_of(const Node& node) const { return now_ + node.ahead; }
  bool turn(Node& node);  // false: none is due
  void carry_out(Node& node, EngineEffects& effects);
  void complete_one(Node& node);
  void read(Node& node, const ViewOrder& order);
  void put(Node& node, const StagingOrder& order);

  std::function<void(EngineOptions&)> adjust_;
  std::vector<Node> nodes_;
  LaggingTime now_{1s};
  Ticket next_ticket_{1};
  uint64_t starts_ = 0;
  std::optional<ReplicaId> stalled_;
  EngineEffects effects_;
};

}  // namespace coordkit::engine
