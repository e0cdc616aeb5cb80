#include "tests/unit/engine/engine_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace coordkit::engine {

Cluster::Cluster(size_t size, std::function<void(EngineOptions&)> adjust) : adjust_(std::move(adjust)), nodes_(size) {
  for (size_t i = 0; i < size; ++i) {
    nodes_[i].id = ReplicaId(i + 1);
    nodes_[i].disk.store = StoreId(100 + i + 1);
  }
}

Cluster::~Cluster() = default;

EngineOptions Cluster::options(uint64_t id) const {
  EngineOptions made{.new_cluster = ClusterId(1000 + id), .token_base = 7};
  made.raft.self = ReplicaId(id);
  made.raft.seed = id;
  for (const Node& node : nodes_) made.members.push_back({node.id, "host-" + std::to_string(node.id.value())});
  if (adjust_) adjust_(made);
  return made;
}

Hello Cluster::hello(uint64_t from, uint64_t to) {
  Node& node = this->node(from);
  return {.cluster_name = "test",
          .from = node.id,
          .to = ReplicaId(to),
          .store = node.disk.store,
          .boot = node.disk.boot,
          .cluster = node.engine->status().cluster,
          .feature_level = options(from).feature_level,
          .agreement = options(from).agreement,
          .members = says_lists ? list_for_hello(options(from).members) : std::vector<ListedMember>()};
}

void Cluster::start(uint64_t id) {
  const absl::Status started = try_start(id);
  ASSERT_TRUE(started.ok()) << started;
}

absl::Status Cluster::try_start(uint64_t id) {
  Node& node = this->node(id);
  node.disk.boot = node.disk.boot.next();
  auto counter = std::make_unique<Counter>();
  node.counter = counter.get();
  std::vector<HostedMachine> machines;
  machines.push_back({kCoordination, std::move(counter)});
  RecoveredLog log{.store = node.disk.store,
                   .boot = node.disk.boot,
                   .hard_state = node.disk.hard_state,
                   .base = node.disk.base,
                   .entries = node.disk.entries,
                   .peers = node.disk.peers};
  for (const Index index : node.disk.rotten) log.damaged.push_back({index});
  std::erase_if(log.entries, [&](const raft::Entry& entry) { return node.disk.rotten.contains(entry.index); });
  EngineOptions made = options(id);
  made.start = ++starts_;
  auto engine =
      Engine::recover(std::move(made), std::move(machines), std::move(log), node.disk.table, {clock_of(node), node.leading});
  if (!engine.ok()) return engine.status();
  node.engine = *std::move(engine);
  wants(node, options(id).members);
  return absl::OkStatus();
}

// There is a connection where either end wants one.
bool Cluster::linked(const Node& a, const Node& b) const {
  return a.id != b.id && a.engine && b.engine && (a.peers.contains(b.id) || b.peers.contains(a.id));
}

void Cluster::wants(Node& node, const std::vector<Peer>& peers) {
  std::set<ReplicaId> before;
  for (const Node& other : nodes_) {
    if (!node.peers.empty() && linked(node, other)) before.insert(other.id);
  }
  node.peers.clear();
  for (const Peer& peer : peers) node.peers.emplace(peer.id, peer.address);
  for (Node& other : nodes_) {
    const bool was = before.contains(other.id);
    if (was == linked(node, other)) continue;
    if (!was) {
      connect(node.id.value(), other.id.value());
      connect(other.id.value(), node.id.value());
    } else {
      node.engine->post(PeerLost{other.id});
      other.engine->post(PeerLost{node.id});
    }
  }
}

void Cluster::connect(uint64_t from, uint64_t to) { engine(to).post(PeerConnected{hello(from, to)}); }

void Cluster::start_all() {
  for (uint64_t id = 1; id <= nodes_.size(); ++id) start(id);
}

void Cluster::crash(uint64_t id) {
  Node& node = this->node(id);
  node.engine.reset();
  node.peers.clear();
  node.counter = nullptr;
  node.pending.clear();
  node.completions.clear();
  node.events.clear();
  node.renewals.clear();
  node.sent.clear();
  node.halted.reset();
  node.divergences.clear();
  node.threw.clear();
  node.leaderships.clear();
  node.restored.clear();
  node.views.clear();
  node.installing.reset();
  node.loading = false;
  node.disk.table.staged.clear();
  for (Node& peer : nodes_) {
    if (peer.engine) peer.engine->post(PeerLost{node.id});
  }
}

void Cluster::sync(uint64_t id) {
  while (!node(id).pending.empty()) complete_one(node(id));
}

void Cluster::complete_one(Node& node) {
  const LogWrite write = std::move(node.pending.front());
  node.pending.pop_front();
  const Write outcome = fails ? fails(node.id, write) : Write::Succeeds;
  if (outcome != Write::Succeeds) {
    node.pending.clear();
    node.engine->post(StoreFailed{absl::DataLossError("fsync failed")});
    if (outcome == Write::Fails) return;
  }
  Disk& disk = node.disk;
  if (write.hard_state) disk.hard_state = *write.hard_state;
  if (write.peers) disk.peers = *write.peers;
  if (write.reset_to) {
    disk.base = *write.reset_to;
    disk.entries.clear();
    disk.rotten.clear();
  }
  if (write.truncate_after) {
    disk.entries.resize(*write.truncate_after - disk.base.index);
    disk.rotten.erase(disk.rotten.upper_bound(*write.truncate_after), disk.rotten.end());
  }
  for (const raft::Entry& entry : write.entries) {
    ASSERT_EQ(entry.index, disk.base.index + disk.entries.size() + 1) << "writes follow without a gap";
    disk.entries.push_back(entry);
  }
  if (outcome == Write::Succeeds) node.engine->post(LogWritten{write.number});
}

Ticket Cluster::submit(uint64_t id, std::string words, Duration timeout, Urgency urgency) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  post(id, Submit{.ticket = ticket,
                  .command = SharedBytes(std::move(words)),
                  .deadline = clock_of(node(id)) + timeout,
                  .urgency = urgency});
  return ticket;
}

Ticket Cluster::ask(uint64_t id, std::string question, Consistency consistency, Duration timeout, Index at_least) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  post(id, Ask{.ticket = ticket,
               .question = std::move(question),
               .consistency = consistency,
               .at_least = at_least,
               .deadline = clock_of(node(id)) + timeout});
  return ticket;
}

Ticket Cluster::change(uint64_t id, std::vector<raft::MemberChange> changes, Duration timeout, std::optional<Index> expected) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  post(id, ChangeMembers{ticket, std::move(changes), expected, clock_of(node(id)) + timeout});
  return ticket;
}

Ticket Cluster::transfer(uint64_t id, uint64_t target, Duration timeout) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  post(id, TransferLeadership{ticket, ReplicaId(target), clock_of(node(id)) + timeout});
  return ticket;
}

Completion Cluster::ended(uint64_t id, Ticket ticket) {
  const auto& all = node(id).completions[ticket];
  EXPECT_EQ(all.size(), 1u) << "ticket " << ticket.value() << " of " << id;
  return all.empty() ? Completion{} : all.front();
}

std::string Cluster::run(uint64_t id, std::string words) {
  const Ticket ticket = submit(id, std::move(words));
  until([&] { return answers(id, ticket) > 0; });
  const Completion completion = ended(id, ticket);
  return completion.status.ok() ? std::string(completion.bytes) : std::string(completion.status.message());
}

std::string Cluster::read(uint64_t id, std::string question) {
  const Ticket ticket = ask(id, std::move(question));
  until([&] { return answers(id, ticket) > 0; });
  const Completion completion = ended(id, ticket);
  return completion.status.ok() ? std::string(completion.bytes) : std::string(completion.status.message());
}

bool Cluster::turn(Node& node) {
  if (!node.engine || node.id == stalled_ || node.busy_until > now_) return false;
  if (node.engine->next_deadline() > clock_of(node)) return false;
  node.busy_until = now_ + node.turn_takes;
  node.leading = std::max(node.leading, LeadingTime(clock_of(node).time_since_epoch()));
  const bool was_halted = node.halted.has_value();
  node.engine->turn({clock_of(node), node.leading}, effects_);
  if (was_halted || effects_.halted) node.sent_after_halt += effects_.sends.size() + effects_.writes.size();
  carry_out(node, effects_);
  return true;
}

void Cluster::carry_out(Node& node, EngineEffects& effects) {
  for (LogWrite& write : effects.writes) node.pending.push_back(std::move(write));
  if (node.syncs) sync(node.id.value());
  for (Completion& one : effects.completions) node.completions[one.ticket].push_back(std::move(one));
  for (MachineEvent& event : effects.events) node.events.push_back(std::move(event.bytes));
  for (RenewReply& reply : effects.renewals) node.renewals.push_back(std::move(reply));
  if (effects.leadership) node.leaderships.push_back(*effects.leadership);
  if (effects.halted) node.halted = effects.halted;
  if (effects.divergence) node.divergences.push_back(*effects.divergence);
  node.threw.insert(node.threw.end(), effects.threw.begin(), effects.threw.end());
  if (effects.peers) wants(node, *effects.peers);
  if (effects.cluster) {
    for (Node& peer : nodes_) {
      if (linked(node, peer)) connect(node.id.value(), peer.id.value());
    }
  }
  for (const raft::ReadRequest& request : effects.log_reads) {
    std::vector<raft::Entry> entries;
    for (const raft::Entry& entry : node.disk.entries) {
      if (entry.index >= request.first && entry.index <= request.last) entries.push_back(entry);
    }
    node.engine->post(LogWasRead{request.first, std::move(entries)});
  }
  if (effects.checkpoint) {
    ++node.checkpoints_taken;
    const Position last = node.disk.entries.empty() ? node.disk.base : node.disk.entries.back().position();
    EXPECT_LE(effects.checkpoint->applied.index, last.index) << "a checkpoint ahead of the durable log";
    if (node.checkpoints) {
      node.disk.table.commit(*effects.checkpoint);
      node.rotten = node.rotten && !effects.checkpoint->whole;
      node.engine->post(StateCheckpointed{effects.checkpoint->applied});
    }
  }
  for (const ViewOrder& order : effects.views) read(node, order);
  for (const StagingOrder& order : effects.staging) put(node, order);
  if (effects.restored) node.restored.push_back(*effects.restored);
  if (effects.restore) {
    node.loading = true;
    if (node.loads) finish_load(node.id.value());
  }
  if (effects.compact) {
    std::erase_if(node.disk.entries, [&](const raft::Entry& entry) { return entry.index <= effects.compact->index; });
    node.disk.base = *effects.compact;
    node.disk.rotten.erase(node.disk.rotten.begin(), node.disk.rotten.upper_bound(effects.compact->index));
  }
  for (Outbound& out : effects.sends) {
    node.sent.push_back(out);
    if (out.to.value() > nodes_.size()) continue;  // played by a test
    Node& to = this->node(out.to.value());
    if (!linked(node, to) || (filter && !filter(node.id, out.to, out.message))) continue;
    to.engine->post(MessageReceived{node.id, std::move(out.message)});
  }
}

// A store for the views to read: a copy of the table.
class Copies final : public StateStore {
 public:
  explicit Copies(const Table& table) : table_(table) {}
  absl::StatusOr<Position> open(StateSink&) override { return table_.applied(); }
  void commit(CheckpointBatch) override {}
  void stage(Ticket, KeyRange, std::vector<CheckpointBatch::Row>) override {}
  void install(Position, uint64_t) override {}
  void unstage() override {}
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return std::make_unique<Table>(table_); }
  void close() override {}

 private:
  const Table& table_;
};

void Cluster::read(Node& node, const ViewOrder& order) {
  if (const auto* open = std::get_if<ViewOpen>(&order)) {
    const Table& view = node.views[open->view] = node.disk.table;
    node.engine->post(ViewOpened{open->view, ViewFacts{view.applied(), view.digest()}});
  } else if (const auto* close = std::get_if<ViewClose>(&order)) {
    node.views.erase(close->view);
  } else if (const auto& wanted = std::get<ViewRead>(order); node.rotten) {
    node.engine->post(ViewWasRead{wanted.view, wanted.ticket, absl::DataLossError("a row is rotten")});
  } else {
    ASSERT_TRUE(node.views.contains(wanted.view)) << "a view that is not open is read";
    Copies store(node.views[wanted.view]);
    StateViews views(store);
    views.perform(ViewOpen{wanted.view});
    auto answer = views.perform(order);
    node.engine->post(std::get<ViewWasRead>(*std::move(answer)));
  }
}

void Cluster::put(Node& node, const StagingOrder& order) {
  if (const auto* stage = std::get_if<StageRange>(&order)) {
    ++node.stages;
    node.disk.table.stage(stage->rows);
    node.engine->post(RangeStaged{stage->ticket});
  } else if (const auto* install = std::get_if<InstallState>(&order)) {
    EXPECT_FALSE(node.installing) << "one at a time";
    node.installing = *install;
    if (node.installs) finish_install(node.id.value());
  } else {
    node.disk.table.staged.clear();
  }
}

void Cluster::finish_install(uint64_t id) {
  Node& node = this->node(id);
  const InstallState install = *std::exchange(node.installing, std::nullopt);
  if (node.disk.table.install(install.at, install.digest)) {
    node.engine->post(StateInstalled{install.at});
  } else {
    node.engine->post(InstallRefused{install.at, absl::DataLossError("another digest")});
  }
}

void Cluster::finish_load(uint64_t id) {
  Node& node = this->node(id);
  node.loading = false;
  auto counter = std::make_unique<Counter>();
  node.counter = counter.get();
  std::vector<HostedMachine> machines;
  machines.push_back({kCoordination, std::move(counter)});
  node.engine->post(StateRestored{RestoredState::build(std::move(machines), node.disk.table)});
}

void Cluster::run_until_idle() {
  size_t turns = 0;
  for (bool again = true; again;) {
    again = false;
    for (Node& node : nodes_) {
      if (!turn(node)) continue;
      again = true;
      ASSERT_LT(++turns, 20'000u) << "turns without end at one moment";
    }
  }
}

void Cluster::pass(Duration time) {
  const LaggingTime end = now_ + time;
  until([] { return false; }, time);
  now_ = std::max(now_, end);
}

void Cluster::stall(uint64_t id, Duration time) {
  stalled_ = ReplicaId(id);
  pass(time);
  stalled_.reset();
}

bool Cluster::until(const std::function<bool()>& done, Duration limit) {
  const LaggingTime end = now_ + limit;
  run_until_idle();
  while (!done()) {
    if (::testing::Test::HasFatalFailure()) return false;
    LaggingTime next = LaggingTime::max();
    for (const Node& node : nodes_) {
      if (!node.engine || node.id == stalled_) continue;
      const LaggingTime wanted = node.engine->next_deadline();
      if (wanted != LaggingTime::max()) next = std::min(next, std::max(wanted - node.ahead, node.busy_until));
    }
    if (next > end) return false;
    now_ = std::max(now_, next);
    run_until_idle();
  }
  return true;
}

uint64_t Cluster::leader() {
  uint64_t found = 0;
  until([&] {
    for (const Node& node : nodes_) {
      if (!node.engine || node.engine->leadership().role != raft::Role::Leader) continue;
      if (node.engine->status().state != ReplicaState::Ready) continue;
      found = node.id.value();
      return true;
    }
    return false;
  });
  return found;
}

}  // namespace coordkit::engine
