#include "sim/histories/histories.h"

#include <algorithm>
#include <utility>

#include "sim/nodes/node_options.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::seconds;
using Sound = HistoriesPlan::Sound;
using Strike = HistoriesPlan::Strike;
using Places = std::set<uint32_t>;

Histories::Histories(World& world, const Plan& plan, const SimOptions& options)
    : world_(world),
      plan_(plan),
      random_(world.fork_random()),
      lists_(plan),
      network_(world, plan.places(), world.fork_random()),
      connections_(world, network_, nodes_, random_),
      doubles_(world, plan, network_, connections_, nodes_),
      background_(world, plan, network_, nodes_, options.reduction, world.fork_random()),
      users_(world, plan, nodes_, evidence_, world.fork_random()),
      images_(nodes_) {
  network_.set_quality(plan.calm);
  for (uint32_t place = 0; place < plan.places(); ++place) {
    const NodeParts parts{world_, network_, *this, plan_, options.defects, options, lists_};
    nodes_.push_back(std::make_unique<Node>(parts, place, world.fork_random()));
    nodes_[place]->stores().log().disk().set_history([](Position) { return uint64_t{0}; });
  }
}

Histories::~Histories() {
  for (auto& node : nodes_) node->retire();
}

void Histories::run() {
  const HistoriesPlan& histories = *plan_.histories;
  for (uint32_t place = 0; place < plan_.nodes; ++place) start(place);
  background_.begin();
  for (uint32_t i = 0; i < histories.images; ++i) {
    pass(plan_.hostile / 2 / histories.images);
    images_.take();
  }
  pass(Duration(random_.below(static_cast<uint64_t>(plan_.hostile.count() / 8) + 1)));
  strike();
  pass(histories.apart);
  heal();
  settle();
  const std::vector<std::string> wrong = judge(evidence_);
  if (!wrong.empty()) throw Violation("INV_R25", wrong.front());
}

// At rest after ten elections, and as long again is judged. Where only digests tell two histories apart, the second one that
// differs ends it (DivergenceCheck), and as long as entries are committed, rest waits for that.
void Histories::settle() {
  const Duration settling = 10 * plan_.election_timeout + seconds(3);
  const Index compared = applied() + 3 * kDigestEntries;
  pass(settling);
  hear_warnings();
  evidence_.soon = world_.now();
  evidence_.said_soon = evidence_.said;
  for (int i = 0; i < 20 && applied() < compared; ++i) pass(settling / 4);
  evidence_.rest = world_.now();
  pass(settling);
  hear_warnings();
}

// A replica repeats the words of one that stepped aside to its own operator.
void Histories::hear_warnings() {
  const auto names_one = [](const std::string& warning) {
    return warning.find("is in quarantine and does not vote") != std::string::npos;
  };
  for (uint32_t place = 0; place < plan_.places(); ++place) {
    const Node& node = *nodes_[place];
    if (node.up() && std::ranges::any_of(node.engine()->status().warnings, names_one)) evidence_.said.insert(place);
  }
}

Index Histories::applied() const {
  Index newest;
  for (const auto& node : nodes_) {
    if (node->up()) newest = std::max(newest, node->engine()->applied());
  }
  return newest;
}

void Histories::pass(Duration time) {
  now_ += time;
  while (!world_.empty() && world_.next_time() <= now_) dispatch(world_.pop());
}

void Histories::dispatch(const Event& event) {
  const auto peer = static_cast<uint32_t>(event.item);
  switch (event.kind) {
    case EventKind::Deliver: return connections_.deliver(event);
    case EventKind::Connect: return doubles_.admit(event.node, peer) ? connections_.connect(event.node, peer) : void();
    case EventKind::Disconnect: return connections_.disconnect(event.node, peer);
    case EventKind::FaultBegin: return background_.begin_event(event);
    case EventKind::FaultEnd: return background_.end_event(event);
    case EventKind::Restart: return start(event.node);
    case EventKind::Worker: return users_.event(event);
    default: return nodes_[event.node]->event(event);
  }
}

// A directory that cannot be opened says so.
void Histories::start(uint32_t place) {
  if (nodes_[place]->up() || background_.kept_down(place)) return;
  if (!nodes_[place]->start().ok() && struck_) evidence_.said.insert(place);
}

// ---- what a node does

void Histories::started(uint32_t place) {
  connections_.process_started(place);
  users_.process_started(place);
}

void Histories::stopped(uint32_t place) { connections_.process_stopped(place); }

void Histories::turned(uint32_t place, EngineEffects& effects) {
  if (effects.cluster) connections_.tell_cluster(place);
  if (Recorder* recorder = world_.recorder(); recorder && nodes_[place]->up()) {
    recorder->processes().stands(place, *nodes_[place]->engine(), nodes_[place]->stores().log());
  }
}

// A word: the replica does not continue, its state may be wrong, or two processes act as one member.
void Histories::told(uint32_t place, const ReplicaEvent& event) {
  using Kind = ReplicaEventKind;
  if (event.kind == Kind::StateReceived) users_.forgets(place);
  const bool stops = event.kind == Kind::StateChanged || event.kind == Kind::Halted || event.kind == Kind::Diverged;
  const bool doubled = event.kind == Kind::PeerRefused && event.sentence.find("two processes act") != std::string::npos;
  if (!struck_ || (!doubled && !(stops && event.severity == Severity::Error))) return;
  evidence_.said.insert(place);
  world_.trace(place, "has said a word");
  if (event.kind == Kind::StateChanged) reach(Situation::SteppedAside);
}

// ---- the fault

std::vector<uint32_t> Histories::draw_members() {
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < plan_.nodes; ++i) members.push_back(i);
  shuffle(members, random_);
  return members;
}

void Histories::strike() {
  if (plan_.nodes < 3) return;
  evidence_.struck = world_.now();
  plan_.histories->strike == Strike::MajoritySetBack ? set_back_a_majority() : copy_a_directory();
}

void Histories::set_back_a_majority() {
  const std::vector<uint32_t> members = draw_members();
  const size_t majority = plan_.nodes / 2 + 1;
  const auto count = static_cast<ptrdiff_t>(random_.between(majority, plan_.nodes - 1));
  const Places victims(members.begin(), members.begin() + count);
  const Places sound(members.begin() + count, members.end());
  if (std::ranges::any_of(victims, [this](uint32_t place) { return images_.of(place, 0) == nullptr; })) return;
  struck_ = true;
  reach(Situation::MajoritySetBack);
  if (plan_.histories->sound == Sound::CutOff) {
    reach(Situation::Cut);
    background_.cut_apart(sound, victims);
  }
  world_.trace(kNoNode, "{} disks are set back, and the others are: {}", victims.size(),
               static_cast<uint64_t>(plan_.histories->sound));
  for (const uint32_t place : sound) {
    if (plan_.histories->sound == Sound::Down) background_.take_down(place);
  }
  for (const uint32_t place : victims) {
    background_.crash(place, Duration(random_.below(1'000'000'000)));
    images_.put(place, *images_.of(place, plan_.histories->newer));
  }
}

// The image is of the moment, if there is one, or older. If the original starts again as well, both have the same boot counter.
void Histories::copy_a_directory() {
  std::vector<uint32_t> members = draw_members();
  const uint32_t copy = plan_.nodes, original = plan_.member_at(copy);
  if (plan_.histories->newer == 0) images_.take();
  const NodeStores::Copy* image = images_.of(original, plan_.histories->newer);
  if (image == nullptr) return;
  struck_ = true;
  reach(Situation::CopyBesideOriginal);
  reach(Situation::Cut);
  world_.trace(original, "is started on a copy of its directory as well");
  std::erase(members, original);
  const auto half = static_cast<ptrdiff_t>(members.size() / 2);
  Places one(members.begin(), members.begin() + half), other(members.begin() + half, members.end());
  one.insert(original);
  other.insert(copy);
  background_.cut_apart(one, other);
  images_.put(copy, *image);
  if (random_.chance(0.5)) background_.crash(original, {});
  world_.schedule(world_.now() + Duration(random_.below(500'000'000)), EventKind::Restart, copy);
}

// Everything runs that will, and the network is whole.
void Histories::heal() {
  const HistoriesPlan& histories = *plan_.histories;
  const bool set_back = struck_ && histories.strike == Strike::MajoritySetBack;
  background_.end_all();
  if (!struck_ || set_back || histories.copy_ends) background_.take_down(plan_.nodes);
  if (histories.all_restart) {
    for (uint32_t place = 0; place < plan_.places(); ++place) background_.crash(place, {});
  }
  for (uint32_t place = 0; place < plan_.places(); ++place) {
    const SimLogStore& log = nodes_[place]->stores().log();
    const bool compacted = log.durable().base.index >= images_.reach().next();
    if (set_back && place < plan_.nodes && !log.disk().was_set_back() && compacted) reach(Situation::SoundFollowerCompacted);
    start(place);
  }
  connections_.disconnect_all();
  world_.trace(kNoNode, "the network is whole");
}

void Histories::fill(Report& report) const {
  for (const auto& node : nodes_) report.turns += node->turns();
  report.crashes = background_.crashes();
  report.messages = network_.counters().sent;
  report.operations = evidence_.calls.size();
  report.situations = counts_;
  background_.schedule().fill(report);
}

}  // namespace coordkit::sim
