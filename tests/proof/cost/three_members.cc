#include "tests/proof/cost/three_members.h"

#include <chrono>
#include <deque>
#include <set>
#include <span>
#include <stdexcept>

#include "coordkit/engine/coordination_machine.h"
#include "coordkit/engine/wire.h"
#include "log/batch.h"
#include "log/segment.h"
#include "tests/proof/cost/allocations.h"
#include "transport/frame.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr Duration kStep = 50us;  // of time; about a sync of a fast disk
constexpr int kStepsMax = 2'000'000;

std::vector<HostedMachine> machines() {
  std::vector<HostedMachine> made;
  made.push_back(coordination_machine());
  return made;
}

}  // namespace

struct ThreeMembers::Member final : StoreEvents {
  struct Mail {
    ReplicaId from;
    std::string body;
  };

  Member(uint64_t number, Now now) : log(StoreId(100 + number)) {
    EngineOptions options;
    options.raft.self = ReplicaId(number);
    options.raft.seed = number;
    for (uint64_t id = 1; id <= 3; ++id) options.members.push_back({ReplicaId(id), "", {}});
    options.new_cluster = ClusterId(4711);
    options.raft.commit_news_delay = options.raft.append_delay = 3ms;  // as a Replica has it
    options.start = number;
    state.open(*this).IgnoreError();
    auto recovered = log.open(*this);
    engine = *Engine::recover(std::move(options), machines(), *std::move(recovered), **state.view(), now);
    client.emplace(*engine, ClientOptions{});
  }
  void post_event(EngineInput input) override { inbox.push_back(std::move(input)); }
  void written(WriteNumber number) override {
    durable = number;
    StoreEvents::written(number);
  }

  MemoryLogStore log;
  MemoryStateStore state;
  std::deque<EngineInput> inbox;
  std::vector<Mail> mail;
  EngineEffects effects;
  std::unique_ptr<Engine> engine;
  std::optional<Client> client;
  std::vector<log::Identity> previous;  // entries of the last write
  std::optional<WriteNumber> durable;   // since the last step
  std::vector<Outbound> early;
  Cost cost;
};

ThreeMembers::ThreeMembers() {
  now_ = {LaggingTime(1s), LeadingTime(1s)};
  for (size_t i = 0; i < members_.size(); ++i) members_[i] = std::make_unique<Member>(i + 1, now_);
  for (size_t i = 0; i < members_.size(); ++i) greet(i);
  until([this] { return leader() < members_.size(); });
}

ThreeMembers::~ThreeMembers() {
  for (const auto& member : members_) member->client->stop();
}

void ThreeMembers::greet(size_t from) {
  const Engine& engine = *members_[from]->engine;
  for (const auto& other : members_) {
    if (other->engine->self() == engine.self()) continue;
    Hello hello{.cluster_name = "cost", .from = engine.self(), .to = other->engine->self()};
    hello.store = engine.store();
    hello.boot = engine.boot();
    hello.cluster = engine.status().cluster;
    hello.feature_level = kFeatureLevel;
    other->inbox.emplace_back(PeerConnected{hello});
  }
}

void ThreeMembers::step() {
  for (size_t i = 0; i < members_.size(); ++i) send_early(i);
  for (size_t i = 0; i < members_.size(); ++i) turn(i);
  now_.lagging += kStep;
  now_.leading += kStep;
}

void ThreeMembers::until(const std::function<bool()>& condition) {
  for (int steps = 0; !condition(); ++steps) {
    if (steps == kStepsMax) throw std::runtime_error("three members wait for something that does not come");
    step();
  }
}

size_t ThreeMembers::leader() const {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->engine->leadership().role == raft::Role::Leader) return i;
  }
  return members_.size();
}

Client& ThreeMembers::client(size_t member) { return *members_[member]->client; }
const Cost& ThreeMembers::cost(size_t member) const { return members_[member]->cost; }
void ThreeMembers::forget_costs() {
  for (const auto& member : members_) member->cost = {};
}

bool ThreeMembers::has_work(const Member& member) const {
  return !member.inbox.empty() || !member.mail.empty() || member.engine->next_deadline() <= now_.lagging ||
         member.client->next_turn(now_) == Duration::zero();
}

void ThreeMembers::turn(size_t index) {
  Member& member = *members_[index];
  if (!has_work(member)) return;
  for (auto inbox = std::exchange(member.inbox, {}); !inbox.empty(); inbox.pop_front()) {
    member.engine->post(std::move(inbox.front()));
  }
  for (Member::Mail& mail : std::exchange(member.mail, {})) {
    const CountAllocations counting(member.cost.allocations);
    absl::StatusOr<Message> message = decode_taking(std::move(mail.body));
    if (message.ok()) member.engine->post(MessageReceived{mail.from, *std::move(message)});
  }
  {
    const CountAllocations counting(member.cost.allocations);
    member.client->before_turn(now_);
    member.engine->turn(now_, member.effects);
    member.client->after_turn(now_, member.effects);
  }
  ++member.cost.turns;
  for (LogWrite& one : member.effects.writes) write(member, std::move(one));
  for (const auto& read : member.effects.log_reads) member.log.read(read.first, read.last, read.bytes_max);
  if (member.effects.cluster) greet(index);  // before what only a replica of it may say
  send(index, member.effects.sends);
  if (member.effects.checkpoint) member.state.commit(*std::move(member.effects.checkpoint));
  if (member.effects.compact) member.log.compact(*member.effects.compact);
}

void ThreeMembers::send_early(size_t index) {
  Member& member = *members_[index];
  if (!member.durable) return;
  member.engine->take_sends(*std::exchange(member.durable, std::nullopt), member.early);
  send(index, member.early);
  member.early.clear();
}

void ThreeMembers::write(Member& member, LogWrite write) {
  Cost& cost = member.cost;
  std::vector<log::Placed> placed;
  ++cost.syncs;
  const log::BatchPlace place{.format = write.feature_level < log::kSecondFormatLevel ? 1u : 2u};  // of some later segment
  cost.log_bytes += log::encode_batch(place, {}, member.previous, std::span(&write, 1), placed).size();
  cost.entries += write.entries.size();
  member.previous.clear();
  for (const raft::Entry& entry : write.entries) {
    cost.entry_bytes += entry.payload.size();
    member.previous.push_back({entry.index, entry.term, entry.content_sum});
  }
  member.log.submit(std::move(write));
}

void ThreeMembers::send(size_t from, const std::vector<Outbound>& outbounds) {
  std::set<ReplicaId> peers;
  for (const Outbound& outbound : outbounds) {
    peers.insert(outbound.to);
    send(from, outbound);
  }
  members_[from]->cost.sends += peers.size();
}

void ThreeMembers::send(size_t from, const Outbound& outbound) {
  Cost& cost = members_[from]->cost;
  std::string body;
  {
    const CountAllocations counting(cost.allocations);
    body = encode(outbound.message);
  }
  ++cost.messages;
  cost.frame_bytes += kFrameHeaderBytes + body.size();
  members_[outbound.to.value() - 1]->mail.push_back({ReplicaId(from + 1), std::move(body)});
}

}  // namespace coordkit::testkit
