#include "tools/experiment/history_faults.h"

#include <algorithm>
#include <string>

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

// "kill the leader", "stop a follower", "close several"
std::string kind_of(const char* what, size_t victims, bool leader) {
  return std::string(what) + (victims > 1 ? " several" : leader ? " the leader" : " a follower");
}

}  // namespace

// Mostly one, and mostly the leader; now and then a majority, or all.
std::vector<int> OrdinaryFaults::draw_victims() {
  std::vector<int> ids = {1, 2, 3};
  std::ranges::shuffle(ids, dice_.engine());
  if (dice_.below(2) == 0) std::stable_partition(ids.begin(), ids.end(), [this](int id) { return group_.leads(id); });
  ids.resize(dice_.below(4) != 0 ? 1 : 1 + dice_.below(kNodes));
  return ids;
}

// Holders who do not ask valid() do wrong only when they are stopped and wake up again.
OrdinaryFaults::Way OrdinaryFaults::draw_way() {
  const uint64_t way = dice_.below(5);
  if (way < 2 || !options_.check) return Way::Stop;
  return way < 4 ? Way::Kill : Way::Close;
}

// A session lives on if its process is back within a second.
std::chrono::milliseconds OrdinaryFaults::draw_length() {
  if (!options_.check) return 1500ms + dice_.up_to(1500ms);
  return dice_.below(2) == 0 ? dice_.up_to(4000ms) : dice_.up_to(600ms);
}

void OrdinaryFaults::end(Way way, int id) {
  if (way == Way::Kill) group_.kill(id);
  if (way == Way::Close) group_.close(id);
  if (way == Way::Stop) group_.freeze(id);
  ++(way == Way::Kill ? tally_.kills : way == Way::Close ? tally_.closes : tally_.stops);
}

// A directory at rest may be copied, for later.
void OrdinaryFaults::resume(Way way, int id) {
  if (way == Way::Stop) return group_.thaw(id);
  if (options_.beyond && dice_.below(2) == 0) group_.copy(id);
  group_.start(id);
}

Disturbance OrdinaryFaults::disturb() {
  if (!group_.remotes().empty() && dice_.below(6) == 0) return interrupt_remote();
  return options_.check && dice_.below(4) == 0 ? hand_over() : interrupt();
}

// Its session ends, or lives on: a process that was killed comes back as another remote.
Disturbance OrdinaryFaults::interrupt_remote() {
  const std::vector<int> remotes = group_.remotes();
  const int victim = remotes[dice_.below(remotes.size())];
  const Way way = draw_way();
  const char* what = way == Way::Kill ? "kill a remote" : way == Way::Close ? "close a remote" : "stop a remote";
  Disturbance done{support::machine_time_ns(), what, false};
  ++tally_.remotes;
  if (way == Way::Stop) {
    group_.freeze(victim);
  } else {
    way == Way::Kill ? group_.kill(victim) : group_.close(victim);
  }
  group_.listen(draw_length());
  way == Way::Stop ? group_.thaw(victim) : group_.start(victim);
  return done;
}

Disturbance OrdinaryFaults::interrupt() {
  const std::vector<int> victims = draw_victims();
  const Way way = draw_way();
  const bool leader_alone = victims.size() == 1 && group_.leads(victims.front());
  const char* what = way == Way::Kill ? "kill" : way == Way::Close ? "close" : "stop";
  Disturbance done{support::machine_time_ns(), kind_of(what, victims.size(), leader_alone), leader_alone};
  for (const int id : victims) end(way, id);
  group_.listen(draw_length());
  for (const int id : victims) {
    resume(way, id);
    group_.listen(dice_.up_to(300ms));
  }
  return done;
}

// To a random member, mostly one that does not lead, also if it was stopped or killed a moment before.
Disturbance OrdinaryFaults::hand_over() {
  std::vector<int> ids = {1, 2, 3};
  std::ranges::shuffle(ids, dice_.engine());
  if (dice_.below(8) != 0) std::stable_partition(ids.begin(), ids.end(), [this](int id) { return !group_.leads(id); });
  const int target = ids[0], asked = ids[1 + dice_.below(2)];
  const uint64_t to = dice_.below(3);
  const char* kinds[] = {"hand over", "hand over to a stopped member", "hand over to a killed member"};
  Disturbance done{support::machine_time_ns(), kinds[to], false};
  ++tally_.hand_overs;
  if (to == 0) {
    group_.ask_to_hand_over(asked, target);
    group_.listen(dice_.up_to(1000ms));
    return done;
  }
  const Way way = to == 1 ? Way::Stop : Way::Kill;
  end(way, target);
  group_.listen(dice_.up_to(50ms));
  group_.ask_to_hand_over(asked, target);
  group_.listen(500ms + dice_.up_to(3000ms));
  resume(way, target);
  return done;
}

std::vector<int> BeyondFaults::shuffled() {
  std::vector<int> ids = {1, 2, 3};
  std::ranges::shuffle(ids, dice_.engine());
  return ids;
}

void BeyondFaults::stop(int id) { dice_.below(2) == 0 ? group_.kill(id) : group_.close(id); }

// The third one works on, or is stopped until the two have begun without it.
Disturbance BeyondFaults::set_back() {
  std::vector<int> ids = shuffled();
  std::stable_partition(ids.begin(), ids.end(), [this](int id) { return group_.has_copy(id); });
  const int third = ids[2];
  const bool asleep = dice_.below(2) == 0;
  ++tally_.set_backs;
  Disturbance done{support::machine_time_ns(), "set a majority back", false};
  group_.beyond();
  if (asleep) group_.freeze(third);
  for (const int id : {ids[0], ids[1]}) stop(id);
  for (const int id : {ids[0], ids[1]}) {
    group_.put_back(id);
    group_.start(id);
  }
  group_.listen(1000ms + dice_.up_to(3000ms));
  if (asleep) group_.thaw(third);
  return done;
}

// Each with one other member. The copy is mostly fresh; it ends before the network is whole again, or a while later.
Disturbance BeyondFaults::copy_beside() {
  const std::vector<int> ids = shuffled();
  const bool earlier = group_.has_copy(ids[0]) && dice_.below(4) == 0;
  ++tally_.copies;
  Disturbance done{support::machine_time_ns(), "start a copy and cut the network", false};
  group_.beyond();
  stop(ids[0]);
  group_.cut(ids[0], ids[1]);
  group_.start_copy(ids[0], earlier);
  group_.start(ids[0]);
  group_.listen(2000ms + dice_.up_to(4000ms));
  const bool meets = dice_.below(2) == 0;
  if (meets) {
    group_.mend();
    group_.listen(500ms + dice_.up_to(3000ms));
  }
  group_.end_copy();
  group_.mend();
  return done;
}

}  // namespace coordkit::experiment
