#include "initialization_lives.h"

#include <algorithm>
#include <utility>

namespace coordkit::explore {
namespace {

class NoState final : public CheckpointView {
 public:
  Position applied() const override { return {}; }
  bool installed() const override { return false; }
  absl::Status scan(std::string_view, Visitor) const override { return absl::OkStatus(); }
  absl::Status scan_range(const KeyRange&, Visitor) const override { return absl::OkStatus(); }
  uint64_t digest() const override { return RowDigest().value(); }
};

EngineOptions options_of(ReplicaId id, const InitializationDisk& disk) {
  // Every start draws another id that it would give a cluster, as a host does.
  EngineOptions options{.new_cluster = ClusterId(disk.store.value() * 100 + disk.boot.value()), .start = disk.boot.value()};
  options.raft.self = id;
  options.members = members_of(disk.list);
  return options;
}

EngineInput given(const InitializationInput& input, Life& life) {
  if (const auto* hello = std::get_if<Hello>(&input)) return PeerConnected{*hello};
  if (const auto* offer = std::get_if<1>(&input)) return MessageReceived{offer->first, offer->second};
  const WriteNumber number = life.pending.front().number;
  life.pending.pop_front();
  return LogWritten{number};
}

void take(Engine& engine, Life& life) {
  EngineEffects effects;
  life.offers.clear();
  const size_t writes = life.writes.size();
  do {
    engine.turn({}, effects);
    life.writes.insert(life.writes.end(), effects.writes.begin(), effects.writes.end());
    life.pending.insert(life.pending.end(), effects.writes.begin(), effects.writes.end());
    for (Outbound& one : effects.sends) {
      if (auto* offer = std::get_if<GenesisOffer>(&one.message)) life.offers.emplace_back(one.to, std::move(*offer));
    }
    if (effects.halted) life.halted = effects.halted->ToString();
  } while (life.halted.empty() && engine.next_deadline() <= LaggingTime());
  life.cluster = engine.status().cluster;
  life.voters.clear();
  if (engine.core()) {
    for (const raft::Member& voter : engine.core()->configuration().voters) life.voters.push_back(voter.id);
  }
  life.silent = life.offers.empty() && life.writes.size() == writes;
}

template <typename Value>
Number numbered(std::vector<Value>& known, Value value) {
  const auto at = std::find(known.begin(), known.end(), value);
  if (at != known.end()) return static_cast<Number>(at - known.begin());
  known.push_back(std::move(value));
  return static_cast<Number>(known.size() - 1);
}

}  // namespace

std::vector<Peer> members_of(List list) {
  std::vector<Peer> members;
  for (uint64_t peer = 1; peer <= Lives::kReplicas; ++peer) {
    members.push_back({ReplicaId(peer), "replica-" + std::to_string(peer)});
  }
  if (list == List::OneTwo) members.erase(members.begin() + 2);
  if (list == List::OneThree) members.erase(members.begin() + 1);
  if (list == List::Swapped) std::swap(members[1].address, members[2].address);
  return members;
}

void InitializationDisk::apply(const LogWrite& write) {
  if (write.hard_state) hard_state = *write.hard_state;
  if (write.truncate_after) entries.resize(write.truncate_after->value());
  if (write.peers) peers = *write.peers;
  entries.insert(entries.end(), write.entries.begin(), write.entries.end());
}

Number Lives::number_of(InitializationDisk disk) { return numbered(disks_, std::move(disk)); }
Number Lives::number_of(const InitializationInput& input) { return numbered(inputs_, input); }

Number Lives::begin(ReplicaId id, InitializationDisk disk) {
  disk.boot = disk.boot.next();
  const Number start = number_of(std::move(disk));
  const auto [at, fresh] = begun_.try_emplace({id, start}, 0);
  if (fresh) at->second = live(id, start, {});
  return at->second;
}

Number Lives::after(Number life, const InitializationInput& input) {
  const Number number = number_of(input);
  const auto [at, fresh] = next_.try_emplace({life, number}, 0);
  if (!fresh) return at->second;
  std::vector<Number> inputs = lives_[life].inputs;
  inputs.push_back(number);
  const Number made = live(lives_[life].id, lives_[life].start, std::move(inputs));
  lives_[made].before = life;
  at->second = made;
  if (swaps(life, number) && lives_[made].silent) {
    const InitializationInput last = inputs_[lives_[life].inputs.back()];
    const Number first = after(lives_[life].before, input);
    const Number swapped = after(first, last);
    if (lives_[first].silent && lives_[swapped].silent) at->second = swapped;
  }
  return at->second;
}

// Whether `input` and the one before it are greetings of two peers in descending order.
bool Lives::swaps(Number life, Number input) const {
  if (lives_[life].inputs.empty() || !lives_[life].silent) return false;
  const auto* before = std::get_if<Hello>(&inputs_[lives_[life].inputs.back()]);
  const auto* now = std::get_if<Hello>(&inputs_[input]);
  return before && now && before->from > now->from;
}

Number Lives::live(ReplicaId id, Number start, std::vector<Number> inputs) {
  const InitializationDisk& disk = disks_[start];
  Life life{.id = id, .start = start};
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::recover(
      options_of(id, disk), {},
      {.store = disk.store, .boot = disk.boot, .hard_state = disk.hard_state, .entries = disk.entries, .peers = disk.peers},
      NoState(), {});
  if (!engine.ok()) {
    life.halted = engine.status().ToString();
  } else {
    take(**engine, life);
    for (const Number input : inputs) {
      (*engine)->post(given(inputs_[input], life));
      take(**engine, life);
    }
  }
  life.inputs = std::move(inputs);
  lives_.push_back(std::move(life));
  return static_cast<Number>(lives_.size() - 1);
}

}  // namespace coordkit::explore
