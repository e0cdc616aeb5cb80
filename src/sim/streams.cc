#include "sim/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/violation.h"

namespace coordkit::sim {
namespace {

using coordination::Kind;

constexpr const char* kWords[] = {"leader", "counter", "latch", "group"};

}  // namespace

Streams::Streams(World& world, const Plan& plan, std::vector<std::unique_ptr<Node>>& nodes, const Model& model,
                 MarkCounts& marks, Random random)
    : world_(world), plan_(plan), nodes_(nodes), model_(model), marks_(marks) {
  for (uint64_t number = 0; number < plan.work.observers; ++number) {
    Observer& observer = observers_.emplace_back();
    observer.number = number;
    observer.random = random.fork();
  }
}

void Streams::start() {
  for (Observer& observer : observers_) schedule(observer);
}

void Streams::schedule(Observer& observer) {
  const Duration longest = winding_down_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(500);
  const Duration after(observer.random.below(static_cast<uint64_t>(longest.count()) + 1));
  world_.schedule(world_.now() + after, EventKind::Stream, kNoNode, 0, observer.number);
}

void Streams::event(const Event& event) {
  Observer& observer = observers_[event.item];
  act(observer);
  schedule(observer);
}

bool Streams::lives(const Observer& observer) const {
  const Node& node = *nodes_[observer.node];
  return node.up() && node.epoch() == observer.epoch;
}

void Streams::act(Observer& observer) {
  if (observer.open && !lives(observer)) observer.open = false;
  if (!observer.open) return open(observer);
  if (!nodes_[observer.node]->frozen() && !winding_down_ && observer.random.chance(0.1)) close(observer);
}

void Streams::open(Observer& observer) {
  Random& random = observer.random;
  const auto node = static_cast<uint32_t>(random.below(nodes_.size()));
  if (!nodes_[node]->up() || nodes_[node]->frozen()) return;
  observer.of = static_cast<Of>(random.below(4));
  observer.name = observer.of == Of::Leader ? fmt::format("lock-{}", random.below(plan_.work.locks))
                                            : fmt::format("object-{}", random.below(2));
  observer.node = node;
  observer.epoch = nodes_[node]->epoch();
  observer.open = true;
  observer.told = false;
  observer.picture = {};
  ++observer.round;
  const ObserveOptions options{.waiting_max = random.chance(0.5) ? 1 : size_t{1024}};
  CoordinationCalls calls = nodes_[node]->client().coordination();
  switch (observer.of) {
    case Of::Leader: observer.id = calls.observe_leader(observer.name, telling<LeaderSeen>(observer), options); break;
    case Of::Counter: observer.id = calls.observe_counter(observer.name, telling<CounterSeen>(observer), options); break;
    case Of::Latch: observer.id = calls.observe_latch(observer.name, telling<LatchSeen>(observer), options); break;
    case Of::Group: observer.id = calls.observe_group(observer.name, telling<GroupSeen>(observer), options); break;
  }
  nodes_[node]->wake();
}

void Streams::close(Observer& observer) {
  nodes_[observer.node]->client().coordination().end_observation(observer.id);
  nodes_[observer.node]->wake();
  observer.open = false;
  ++observer.round;
}

// ---- what it is told

template <typename T>
Observer<T> Streams::telling(Observer& observer) {
  return [this, &observer, round = observer.round](const T& seen) {
    if (!looking_ || round != observer.round || !lives(observer)) return;
    take(observer, seen.how, seen.index, [&seen](Picture& picture) {
      if constexpr (std::is_same_v<T, LeaderSeen>) {
        picture.leader = seen.leader;
      } else if constexpr (std::is_same_v<T, CounterSeen>) {
        picture.number = seen.value;
      } else if constexpr (std::is_same_v<T, LatchSeen>) {
        picture.number = seen.count ? std::optional(static_cast<int64_t>(*seen.count)) : std::nullopt;
      } else if (seen.how == Seen::Change && seen.what == GroupSeen::What::Left) {
        for (const GroupMember& member : seen.members) picture.members.erase(member.number);
      } else {
        if (seen.how != Seen::Change) picture.members.clear();
        for (const GroupMember& member : seen.members) picture.members[member.number] = member;
      }
    });
  };
}

// Several members may leave in one entry: of that all is told, or nothing before a new snapshot.
void Streams::take(Observer& observer, Seen how, Index index, const std::function<void(Picture&)>& change) {
  if (observer.told == (how == Seen::Snapshot))
    fail("INV_W01", observer, "a snapshot is the first that is told, and only that");
  const bool older = how == Seen::Change ? index < observer.at : index <= observer.at;
  if (observer.told && older) fail("INV_W01", observer, fmt::format("told of {} after {}", index.value(), observer.at.value()));
  if (index > model_.applied()) fail("INV_W01", observer, fmt::format("told of {}, which nobody applied", index.value()));
  if (how == Seen::Change && index > observer.at) demand_nothing_untold(observer, index);
  if (how == Seen::Resync) ++marks_[static_cast<size_t>(Mark::StreamResynced)];
  if (how == Seen::Change) ++marks_[static_cast<size_t>(Mark::StreamFollowed)];
  observer.told = true;
  observer.at = index;
  change(observer.picture);
}

// All that it was told is how things were then, and nothing has changed between then and there.
void Streams::demand_nothing_untold(const Observer& observer, Index before) const {
  if (picture_at(observer, observer.at) != observer.picture) {
    fail("INV_W02", observer,
         fmt::format("told{}, it was{}", shown(observer.picture), shown(picture_at(observer, observer.at))));
  }
  for (const Index index : changes_after(observer, observer.at)) {
    if (index >= before) return;
    if (picture_at(observer, index) == observer.picture) continue;
    fail("INV_W02", observer, fmt::format("not told of {}:{}", index.value(), shown(picture_at(observer, index))));
  }
}

std::vector<Index> Streams::changes_after(const Observer& observer, Index at) const {
  switch (observer.of) {
    case Of::Leader: return model_.lock_changes(observer.name, at);
    case Of::Counter: return model_.object_changes({Kind::Counter, observer.name}, at);
    case Of::Latch: return model_.object_changes({Kind::Latch, observer.name}, at);
    case Of::Group: return model_.object_changes({Kind::Group, observer.name}, at);
  }
  return {};
}

Streams::Picture Streams::picture_at(const Observer& observer, Index at) const {
  Picture picture;
  switch (observer.of) {
    case Of::Leader:
      for (const LockModel::Claim& hold : model_.lock_at(observer.name, at).holds) {
        if (*hold.mode_on(observer.name) != LockMode::Exclusive) continue;
        picture.leader = LeaderInfo{hold.session, hold.owner_tag, hold.token, hold.since, hold.label};
      }
      break;
    case Of::Counter: picture.number = model_.object_at({Kind::Counter, observer.name}, at).number; break;
    case Of::Latch:
      if (const machine::ObjectReply latch = model_.object_at({Kind::Latch, observer.name}, at); latch.exists) {
        picture.number = latch.number;
      }
      break;
    case Of::Group:
      for (const machine::ObjectRow& row : model_.object_at({Kind::Group, observer.name}, at).rows) {
        picture.members[row.id] = {row.id, row.session, row.owner, row.value};
      }
      break;
  }
  return picture;
}

std::string Streams::shown(const Picture& picture) {
  std::string out;
  if (picture.leader) {
    const LeaderInfo& leader = *picture.leader;
    out += fmt::format(" {}/{} with {} since {} ({})", leader.session.value(), leader.owner, leader.token.value(),
                       leader.since.value(), leader.value);
  }
  if (picture.number) out += fmt::format(" {}", *picture.number);
  for (const auto& [number, member] : picture.members)
    out += fmt::format(" {}:{} ({})", number.value(), member.owner, member.value);
  return out.empty() ? " nothing" : out;
}

// ---- the end

bool Streams::complete(const Observer& observer) const {
  return !observer.open || (observer.told && observer.picture == picture_at(observer, model_.applied()));
}

bool Streams::all_told() const {
  return std::ranges::all_of(observers_, [this](const Observer& observer) { return complete(observer); });
}

std::string Streams::missing() const {
  for (const Observer& observer : observers_) {
    if (complete(observer)) continue;
    return fmt::format("observer {} of the {} {} on n{} was last told of {}:{}; it is{}", observer.number,
                       kWords[static_cast<size_t>(observer.of)], observer.name, observer.node + 1, observer.at.value(),
                       shown(observer.picture), shown(picture_at(observer, model_.applied())));
  }
  return {};
}

void Streams::fail(const char* id, const Observer& observer, const std::string& what) const {
  throw Violation(
      id, fmt::format("observer {} of the {} {} on n{}, at {}: {}", observer.number, kWords[static_cast<size_t>(observer.of)],
                      observer.name, observer.node + 1, observer.at.value(), what));
}

}  // namespace coordkit::sim
