// Several cores in one process, for tests: a network that is a queue of messages, a disk per node that knows what is durable
// and what is in progress, a clock per node. Nothing happens by itself; the test moves messages, writes and time.
//
// An observer watches every turn and keeps its own history (docs/invariants.md). It checks election safety R1, one vote R2, log
// matching R4, leader completeness R6, state machine safety R7, durable commit R8, reads R15, messages against the disk R17. A
// violation is a gtest failure with the id.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/raft/core.h"

namespace coordkit::raft::testing {

using std::chrono::milliseconds;

// A log as it is on a disk, or will be when the pending writes are done.
struct Image {
  HardState hard_state;
  Position base;
  Configuration base_configuration;  // in force there
  Index base_configuration_index;
  uint64_t base_chain = 0;
  std::vector<Entry> entries;    // after base
  std::vector<uint64_t> chains;  // hash over the log up to each entry
  // States that a reset may start from: installed ones, by index.
  struct Start {
    Configuration configuration;
    Index configuration_index;
    uint64_t chain = 0;
  };
  std::map<uint64_t, Start> installed;

  Position last() const { return entries.empty() ? base : entries.back().position(); }
  const Entry* at(Index index) const;
  std::optional<uint64_t> chain_at(Index index) const;
  void apply(const LogWrite& write);
  void compact(Position through);
  bool holds(Position position) const;
};

struct Node {
  ReplicaId id;
  Options options;
  LaggingTime now{Duration(std::chrono::seconds(1))};
  std::optional<Core> core;  // none: crashed
  Effects effects;
  Image disk;                   // durable
  Image memory;                 // with every write submitted
  std::deque<LogWrite> writes;  // submitted, not durable
  WriteNumber durable;
  std::vector<Send> held;  // waiting for the disk
  Index applied;
  Index commit_before;        // that of the turn before
  std::vector<Entry> states;  // what was applied since the checkpoint at start
  Position checkpoint;        // durable
  std::vector<ReadRequest> reads;
  BootCounter boot{0};
  bool disk_stalled = false;
  // The output of the last turns, for tests.
  std::vector<ProposalOutcome> outcomes;
  std::vector<Confirmation> confirmations;
  std::vector<TransferOutcome> transfers;
  std::vector<ChangeOutcome> changes;
  std::vector<Position> compactions;
  std::vector<ReplicaId> behind;
  size_t installs = 0;
};

struct Flight {
  ReplicaId from;
  ReplicaId to;
  Message message;
};

Genesis genesis_of(size_t voters);
Member member(uint64_t id, uint64_t life = 0);
MemberChange add(uint64_t id);
MemberChange promote(uint64_t id);
MemberChange demote(uint64_t id);
MemberChange remove(uint64_t id);
MemberChange replace(uint64_t id, Member by);
std::vector<std::pair<Index, Configuration>> configurations_in(const Image& image);  // oldest first
Entry genesis_entry(size_t voters);
Entry make_entry(Index index, Term term, EntryKind kind = EntryKind::Command, std::string payload = {});
SharedBytes bytes(std::string text);

class Cluster {
 public:
  explicit Cluster(size_t size, Options options = {}, uint64_t seed = 1, size_t spare = 0);  // spare: no members yet

  Node& node(uint64_t id) { return nodes_.at(id); }
  Core& core(uint64_t id) { return *nodes_.at(id).core; }
  std::map<uint64_t, Node>& nodes() { return nodes_; }
  std::deque<Flight>& network() { return network_; }

  // One input and its turn. Without automatic turns, end them with turn().
  void step(uint64_t id, Input input);
  void turn(uint64_t id);
  void advance(uint64_t id, Duration duration);  // one node's clock, then Tick
  void advance_all(Duration duration);
  void propose(uint64_t id, std::string payload, EntryKind kind = EntryKind::Command);
  void confirm(uint64_t id);
  void change(uint64_t id, std::vector<MemberChange> changes);     // expects the configuration in force there
  void transfer(uint64_t id, uint64_t target, Duration patience);  // zero: the best

  // The disk.
  void written(uint64_t id);  // the oldest write becomes durable
  void written_all(uint64_t id);
  void answer_reads(uint64_t id);  // from the durable image
  // Writes in progress are lost, except for the first `reached_disk` ones, which were not reported.
  void crash(uint64_t id, size_t reached_disk = 0);
  enum class Greeting : uint8_t { PeersNotice, PeersMissIt };
  void start(uint64_t id, Greeting greeting = Greeting::PeersNotice);
  void restart(uint64_t id) { crash(id), start(id); }

  // The network.
  bool deliver_one();  // the oldest message; false if there is none
  void deliver(const Flight& flight);
  void deliver_round();                   // everything in flight now
  void drop(uint64_t from, uint64_t to);  // what is in flight on this link
  void cut(uint64_t from, uint64_t to) { cut_.insert({from, to}); }
  void isolate(uint64_t id);
  void heal() { cut_.clear(); }
  bool is_cut(ReplicaId from, ReplicaId to) const { return cut_.contains({from.value(), to.value()}); }
  void quiesce();  // writes and messages until nothing is left to do
  void clear_network() { network_.clear(); }

  // Campaigns until `id` leads; the others are quiet and learn of it.
  void elect(uint64_t id);
  uint64_t leader() const;      // of the latest term; zero: none
  void run(Duration duration);  // all clocks, in steps, everything delivered
  bool converged() const;
  void checkpoint(uint64_t id);  // at what is applied and durable
  // The checkpoint of `from` becomes that of `id`, if it is newer than what `id` applied.
  void install(uint64_t id, uint64_t from);

  std::function<void(const Node&, const Effects&)> on_turn;  // for narration
  std::function<void(const Flight&)> on_delivery;
  Index committed_anywhere() const { return committed_anywhere_; }
  bool auto_apply = true;

 private:
  void release(Node& node);
  void apply(Node& node);
  void observe(Node& node);
  void observe_write(Node& node, const LogWrite& write);
  void observe_send(const Node& node, const Send& send);
  void observe_commit(const Node& node);
  void observe_leader(const Node& node);
  void observe_configurations(const Node& node);

  size_t size_;
  std::map<uint64_t, Node> nodes_;
  std::deque<Flight> network_;
  std::set<std::pair<uint64_t, uint64_t>> cut_;
  uint64_t next_ticket_ = 1;

  // The observer's history.
  std::map<uint64_t, uint64_t> leader_of_term_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> vote_of_;   // (node, term) -> candidate
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> chain_of_;  // (index, term) -> chain
  std::map<uint64_t, Entry> applied_at_;                        // index -> entry
  std::map<uint64_t, Index> asked_at_;                          // ticket -> highest commit when asked
  std::map<uint64_t, Position> committed_;                      // index -> position
  Index committed_anywhere_;
};

}  // namespace coordkit::raft::testing
