#include "sim/objects/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

using coordination::Kind;

constexpr Duration kPauseMax = std::chrono::milliseconds(500);
constexpr Kind kKinds[] = {Kind::Lock, Kind::Counter, Kind::Latch, Kind::Group};

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::Counter: return "counter";
    case Kind::Latch: return "latch";
    case Kind::Group: return "group";
    default: return "leader";
  }
}

}  // namespace

Streams::Streams(World& world, const Plan& plan, const Callers& nodes, const Model& model, SituationCounts& situations,
                 Random random)
    : RoamingProgramsOf(world, nodes, model, situations, EventKind::Stream, kPauseMax, plan.work.observers, random),
      plan_(plan) {}

void Streams::act(StreamObserver& observer) {
  if (!observer.open) return open(observer);
  if (!nodes_[observer.node]->frozen() && !winding_down_ && observer.random.chance(0.1)) close(observer);
}

void Streams::open(StreamObserver& observer) {
  Random& random = observer.random;
  const auto node = static_cast<uint32_t>(random.below(nodes_.size()));
  if (!nodes_[node]->up() || nodes_[node]->frozen()) return;
  observer.kind = kKinds[random.below(std::size(kKinds))];
  observer.name = observer.kind == Kind::Lock ? fmt::format("lock-{}", random.below(plan_.work.locks))
                                              : fmt::format("object-{}", random.below(2));
  move_to(observer, node);
  observer.received = false;
  observer.picture = {};
  const ObserveOptions options{.waiting_max = random.chance(0.5) ? 1 : size_t{1024}};
  CoordinationCalls calls = nodes_[node]->client().coordination();
  switch (observer.kind) {
    case Kind::Lock: observer.id = calls.observe_leader(observer.name, telling<LeaderSeen>(observer), options); break;
    case Kind::Counter: observer.id = calls.observe_counter(observer.name, telling<CounterSeen>(observer), options); break;
    case Kind::Latch: observer.id = calls.observe_latch(observer.name, telling<LatchSeen>(observer), options); break;
    case Kind::Group: observer.id = calls.observe_group(observer.name, telling<GroupSeen>(observer), options); break;
    default: break;
  }
  nodes_[node]->wake();
}

void Streams::close(StreamObserver& observer) {
  nodes_[observer.node]->client().coordination().end_observation(observer.id);
  nodes_[observer.node]->wake();
  observer.open = false;
  ++observer.round;
}

// ---- what it receives

template <typename T>
Observer<T> Streams::telling(StreamObserver& observer) {
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

// Several members may leave in one entry: all of that is delivered, or nothing before a new snapshot.
void Streams::take(StreamObserver& observer, Seen how, Index index, const std::function<void(Picture&)>& change) {
  if (observer.received == (how == Seen::Snapshot))
    fail("INV_W01", observer, "a snapshot is the first that is told, and only that");
  const bool older = how == Seen::Change ? index < observer.at : index <= observer.at;
  if (observer.received && older)
    fail("INV_W01", observer, fmt::format("told of {} after {}", index.value(), observer.at.value()));
  if (index > model_.applied()) fail("INV_W01", observer, fmt::format("told of {}, which no replica applied", index.value()));
  if (how == Seen::Change && index > observer.at) demand_nothing_missed(observer, index);
  if (how == Seen::Resync) reach(Situation::StreamResynced);
  if (how == Seen::Change) reach(Situation::StreamFollowed);
  observer.received = true;
  observer.at = index;
  change(observer.picture);
}

// Everything it received matches the state at its time, and nothing changed between then and there.
void Streams::demand_nothing_missed(const StreamObserver& observer, Index before) const {
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

std::vector<Index> Streams::changes_after(const StreamObserver& observer, Index at) const {
  return observer.kind == Kind::Lock ? model_.history().lock_changes(observer.name, at)
                                     : model_.history().object_changes({observer.kind, observer.name}, at);
}

Picture Streams::picture_at(const StreamObserver& observer, Index at) const {
  Picture picture;
  if (observer.kind == Kind::Lock) {
    for (const LockModel::Claim& hold : model_.history().lock_at(observer.name, at).holds) {
      if (*hold.mode_on(observer.name) != LockMode::Exclusive) continue;
      picture.leader = LeaderInfo{hold.session, hold.owner_tag, hold.token, hold.since, hold.texts.value};
    }
    return picture;
  }
  const machine::ObjectView object = model_.history().object_at({observer.kind, observer.name}, at);
  if (observer.kind == Kind::Counter || (observer.kind == Kind::Latch && object.exists)) picture.number = object.number;
  if (observer.kind != Kind::Group) return picture;
  for (const machine::ObjectRow& row : object.rows) picture.members[row.id] = {row.id, row.session, row.owner, row.value};
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

bool Streams::complete(const StreamObserver& observer) const {
  return !observer.open || (observer.received && observer.picture == picture_at(observer, model_.applied()));
}

bool Streams::all_caught_up() const {
  return std::ranges::all_of(all_, [this](const StreamObserver& observer) { return complete(observer); });
}

std::string Streams::missing() const {
  for (const StreamObserver& observer : all_) {
    if (complete(observer)) continue;
    return fmt::format("observer {} of the {} {} on n{} was last told of {}:{}; it is{}", observer.number,
                       word_of(observer.kind), observer.name, observer.node + 1, observer.at.value(), shown(observer.picture),
                       shown(picture_at(observer, model_.applied())));
  }
  return {};
}

void Streams::fail(const char* id, const StreamObserver& observer, const std::string& what) const {
  throw Violation(id, fmt::format("observer {} of the {} {} on n{}, at {}: {}", observer.number, word_of(observer.kind),
                                  observer.name, observer.node + 1, observer.at.value(), what));
}

}  // namespace coordkit::sim
