#include "coordkit/engine/agreement.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace coordkit {
namespace {

// "rate_error_ppm is 20000 there and 10000 here", and so on.
class Comparison {
 public:
  void differ(std::string_view what, const std::string& theirs, const std::string& mine) {
    if (theirs == mine) return;
    add(std::string(what) + " is " + theirs + " there and " + mine + " here");
  }
  void add(std::string finding) { all_ += (all_.empty() ? "" : ", ") + std::move(finding); }
  bool empty() const { return all_.empty(); }
  const std::string& all() const { return all_; }

 private:
  std::string all_;
};

std::string in_milliseconds(Duration time) { return std::to_string(time / std::chrono::milliseconds(1)) + " ms"; }
std::string number(uint64_t value) { return std::to_string(value); }
std::string on(bool value) { return value ? "on" : "off"; }

const Agreement::Machine* machine_of(const Agreement& agreement, MachineId id) {
  const auto found = std::ranges::find(agreement.machines, id, &Agreement::Machine::id);
  return found == agreement.machines.end() ? nullptr : &*found;
}

void compare_machines(const Agreement& mine, const Agreement& theirs, Comparison& found) {
  for (const Agreement::Machine& machine : theirs.machines) {
    const std::string name = "machine " + number(machine.id.value());
    const Agreement::Machine* own = machine_of(mine, machine.id);
    if (own == nullptr) {
      found.add(name + " is there and not here, where the first command of it would halt this replica");
    } else {
      found.differ("the version of " + name, number(machine.version), number(own->version));
    }
  }
  for (const Agreement::Machine& machine : mine.machines) {
    if (machine_of(theirs, machine.id) != nullptr) continue;
    found.add("machine " + number(machine.id.value()) +
              " is here and not there, where the first command of it would halt that replica");
  }
}

}  // namespace

Disagreement compare(const Agreement& mine, ReplicaId peer, const Agreement& theirs) {
  Comparison dangerous;
  Comparison tolerable;
  dangerous.differ("rate_error_ppm", number(theirs.rate_error_ppm), number(mine.rate_error_ppm));
  dangerous.differ("leader_leases", on(theirs.leader_leases), on(mine.leader_leases));
  const bool leases = mine.leader_leases || theirs.leader_leases;  // a lease lasts as long as voters wait
  (leases ? dangerous : tolerable)
      .differ("election_timeout", in_milliseconds(theirs.election_timeout), in_milliseconds(mine.election_timeout));
  tolerable.differ("digest_entries", number(theirs.digest_entries), number(mine.digest_entries));
  tolerable.differ("compaction.revisions", number(theirs.revisions_kept), number(mine.revisions_kept));
  tolerable.differ("compaction.age", in_milliseconds(theirs.history_kept), in_milliseconds(mine.history_kept));
  compare_machines(mine, theirs, tolerable);
  Disagreement result;
  const std::string who = "replica " + number(peer.value()) + " has other settings than this one: ";
  if (!dangerous.empty()) {
    result.dangerous = who + dangerous.all() +
                       "; with these two processes could trust one lock, so neither hears the other: restart one of them with "
                       "the other's settings";
  }
  if (!tolerable.empty()) {
    result.tolerable = who + tolerable.all() + "; restart one of them with the correct settings";
  }
  return result;
}

}  // namespace coordkit
