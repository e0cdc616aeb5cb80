#include "sim/faults/first_start.h"

#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;

void FirstStart::begin() {
  const FirstStartPlan& start = plan_.first_start;
  if (start.wrong.empty()) return;
  reach(Situation::ListsDiffered);
  for (const FirstStartPlan::WrongList& wrong : start.wrong) {
    if (wrong.from > Duration::zero()) {
      schedule(wrong.from, {Act::Kind::Spoil, wrong.node, draw(random_, {}, start.down_max)});
    } else {
      lists_.spoil(wrong.node);
    }
    schedule(wrong.corrected, {Act::Kind::Correct, wrong.node, draw(random_, {}, start.down_max)});
  }
  for (const FirstStartPlan::Restart& again : start.restarts) schedule(again.at, {Act::Kind::Restart, again.node, again.down});
}

void FirstStart::schedule(Duration at, Act act) {
  acts_.push_back(act);
  world_.schedule(TrueTime(at), EventKind::FirstStart, kNoNode, 0, acts_.size() - 1);
}

void FirstStart::event(const Event& event) {
  const Act act = acts_[event.item];
  if (act.kind == Act::Kind::Look) return look();
  if (over_) return;
  if (act.kind == Act::Kind::Spoil) {
    lists_.spoil(act.node);
    world_.trace(act.node, "gets a wrong list of members");
  }
  if (act.kind == Act::Kind::Correct) correct(act.node);
  restart(act.node, act.down);
}

void FirstStart::restart(uint32_t node, Duration down) {
  processes_.crash(node, down, random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
}

void FirstStart::correct(uint32_t node) {
  lists_.correct(node);
  world_.trace(node, "gets the right list of members");
  corrected_.insert(node);
  if (corrected_.size() != plan_.first_start.wrong.size()) return;
  reach(Situation::ListsCorrected);
  if (geneses_.led_by_wrong_list()) reach(Situation::WrongListFounded);
}

void FirstStart::process_started(uint32_t node) {
  if (!lists_.differ()) return;
  const LogImage& log = nodes_[node]->stores().log().durable();
  const bool alone = !log.base.index && log.last() == Index(1) && !log.records.front().rotten;
  const Engine& engine = *nodes_[node]->engine();
  if (alone && engine.core() == nullptr && engine.status().state != ReplicaState::Quarantine) reach(Situation::GenesisGaveWay);
}

void FirstStart::finish() {
  over_ = true;
  if (!lists_.differ()) return;
  for (const FirstStartPlan::WrongList& wrong : plan_.first_start.wrong) {
    if (corrected_.contains(wrong.node)) continue;
    if (!lists_.right(wrong.node) && nodes_[wrong.node]->up()) nodes_[wrong.node]->crash(CrashKind::Process);
    correct(wrong.node);
  }
  schedule(world_.now().time_since_epoch() + milliseconds(500), {});
}

// A replica that has stored a genesis at the moment at which the others gave it up is started once more (decision 0050).
void FirstStart::look() {
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    if (!geneses_.left_behind(node) || !once_more_.insert(node).second) continue;
    reach(Situation::GenesisLeftBehind);
    restart(node, milliseconds(10));
  }
  schedule(world_.now().time_since_epoch() + milliseconds(500), {});
}

}  // namespace coordkit::sim
