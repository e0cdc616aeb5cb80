#include "tools/demo/recording.h"

#include <algorithm>
#include <optional>

namespace coordkit::demo {

using State = sim::Timeline::State;

Recording::Recording(int nodes, int64_t started_ns) : started_ns_(started_ns), lanes_(static_cast<size_t>(nodes)) {
  timeline_.title = "three processes and one lock: ./dev demo";
  timeline_.command = "./dev demo";
  for (int id = 1; id <= nodes; ++id) timeline_.lanes.push_back("node " + std::to_string(id));
}

void Recording::stands(int id, int64_t at_ns, State state, uint64_t term) {
  timeline_.states.push_back({lane_of(id), since_start(at_ns), state, Term(term)});
}

void Recording::started(int id, int64_t at_ns) {
  lanes_[lane_of(id)] = {.up = true};
  stands(id, at_ns, State::Follower, 0);
  timeline_.notes.push_back({lane_of(id), since_start(at_ns), sim::Timeline::Weight::Plain, "its process starts"});
}

void Recording::killed(int id, int64_t at_ns) {
  thawed(id, at_ns);
  answered(id, at_ns, "its process was killed", 0);
  lanes_[lane_of(id)] = {};
  stands(id, at_ns, State::Down, 0);
}

void Recording::frozen(int id, int64_t at_ns) {
  timeline_.frozen.push_back({lane_of(id), since_start(at_ns), std::nullopt, "SIGSTOP"});
  lanes_[lane_of(id)].frozen = timeline_.frozen.size();
}

void Recording::thawed(int id, int64_t at_ns) {
  Lane& lane = lanes_[lane_of(id)];
  if (lane.frozen != 0) timeline_.frozen[lane.frozen - 1].until = since_start(at_ns);
  lane.frozen = 0;
}

// Last lines may be read after the process is known to be dead.
void Recording::leadership(int id, int64_t at_ns, bool leads, uint64_t term) {
  if (lanes_[lane_of(id)].up) stands(id, at_ns, leads ? State::Leader : State::Follower, term);
}

void Recording::called(int id, int64_t at_ns, const char* what, uint64_t token) {
  sim::Timeline::Operation call;
  call.id = timeline_.operations.size();
  call.lane = lane_of(id);
  call.kind = what;
  call.subject = "ledger";
  call.called = since_start(at_ns);
  call.token = Token(token);
  timeline_.operations.push_back(std::move(call));
  lanes_[lane_of(id)].called = timeline_.operations.size();
}

void Recording::answered(int id, int64_t at_ns, const char* outcome, uint64_t token) {
  Lane& lane = lanes_[lane_of(id)];
  if (lane.called == 0) return;
  sim::Timeline::Operation& call = timeline_.operations[lane.called - 1];
  call.ended = since_start(at_ns);
  call.outcome = outcome;
  if (token != 0) call.token = Token(token);
  lane.called = 0;
}

void Recording::noted(int id, int64_t at_ns, sim::Timeline::Weight weight, const std::string& text) {
  timeline_.notes.push_back({lane_of(id), since_start(at_ns), weight, text});
}

void Recording::narrated(int64_t at_ns, const std::string& sentence) {
  timeline_.notes.push_back({std::nullopt, since_start(at_ns), sim::Timeline::Weight::Story, sentence});
}

sim::Timeline Recording::timeline(const support::Claims& claims, const std::vector<support::Admission>& admissions,
                                  int64_t now_ns, const std::string& wrong) const {
  sim::Timeline all = timeline_;
  all.end = since_start(now_ns);
  if (!wrong.empty()) all.violation = sim::Timeline::Violation{.id = "FAILED", .what = wrong, .at = all.end};
  const std::vector<support::Claim> held = claims.in_order();
  for (size_t i = 0; i < held.size(); ++i) {
    const support::Claim& claim = held[i];
    // The lower bits count, the upper ones say when the cluster was created.
    if (all.token_base == 0) all.token_base = claim.token & ~((uint64_t{1} << 31) - 1);
    sim::Timeline::Grant grant;
    grant.lock = "ledger";
    grant.token = Token(claim.token);
    grant.lane = lane_of(claim.holder);
    grant.granted = since_start(claim.from_ns);
    grant.trusted_from = grant.granted;
    grant.trusted_until = since_start(claim.until_ns);
    // For a holder that was stopped only this is known: when the next one came.
    if (i + 1 < held.size()) grant.ended = since_start(held[i + 1].from_ns);
    grant.end = "released, or its session expired";
    for (const sim::Timeline::Operation& call : all.operations) {
      if (call.token != grant.token) continue;
      if (call.kind == "acquire") grant.operation = call.id;
      if (call.kind == "release" && call.outcome == "ok") {
        grant.ended = call.called;
        grant.end = "released";
      }
    }
    all.grants.push_back(std::move(grant));
  }
  for (const support::Admission& write : admissions) {
    if (write.accepted) continue;
    all.notes.push_back({lane_of(write.holder), since_start(write.at_ns), sim::Timeline::Weight::Refused,
                         "the resource refuses a late write with token " + std::to_string(write.token)});
  }
  all.facts = {{"lasted", std::to_string(all.end.count() / 1'000'000) + " ms"},
               {"hand-overs", std::to_string(claims.handovers())},
               {"two holders at once", std::to_string(claims.overlaps())},
               {"longest gap", std::to_string(claims.longest_gap_ns() / 1'000'000) + " ms"}};
  const auto earlier = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::stable_sort(all.states.begin(), all.states.end(), earlier);  // of different processes, in order of arrival
  std::stable_sort(all.notes.begin(), all.notes.end(), earlier);
  std::stable_sort(all.operations.begin(), all.operations.end(),
                   [](const auto& a, const auto& b) { return a.called < b.called; });
  return all;
}

}  // namespace coordkit::demo
