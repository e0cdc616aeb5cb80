// Runs every tests/proof/scenarios/raft_*.txt: commands, a line of dashes, what happened. COORDKIT_REWRITE=1 writes what
// happens instead of comparing. Each file must end converged: everything healed, all replicas with one log, committed and
// applied.
//
//   cluster 3              a fresh cluster that has its genesis; cluster 3 100: that keeps 100 bytes of log for the absent
//   campaign 1             node 1's clock runs to its deadline
//   elect 1                campaign and everything that follows, without narration
//   elapse 2 300ms         node 2's clock advances, no tick; tick 2 300ms: and it notices
//   propose 1 x            confirm 1          checkpoint 1
//   change 1 +4,^4,-2      add learner, promote (^), demote (v), remove; cluster 3+2 has two spare nodes
//   install 3 1            node 3 gets the state of node 1's checkpoint
//   transfer 1 2           leadership from 1 to 2, within 300 ms; 0: to the best
//   stall 2                node 2's disk stores nothing until resume 2
//   written 2              the oldest write of node 2 is durable; all: of every node, all of them
//   deliver                the messages in flight now; deliver 1->2: on one link
//   stabilize              writes and messages until all is quiet
//   drop 1->2              cut 1->2   isolate 1   heal   crash 3   start 3   restart 3
//   status
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "narrate.h"
#include "tests/support/source_dir.h"
#include "twin/core_twin.h"

namespace coordkit::raft::testing {
namespace {

class Scenario {
 public:
  // Runs one command line and reports what happened.
  std::string run(const std::string& line) {
    output_.clear();
    std::istringstream in(line);
    std::string verb, subject;
    in >> verb >> subject;
    const size_t from = output_.size();
    if (verb == "cluster") {
      const std::vector<std::string> sizes = absl::StrSplit(subject, '+');
      Options options{.election_timeout = milliseconds(300), .heartbeat_interval = milliseconds(60)};
      for (std::string with; in >> with;) {
        if (with == "leases") options.lease = lease_of(options.election_timeout, 10'000);
        if (with != "leases") options.log_retained_bytes = options.log_pinned_bytes = std::stoul(with);
      }
      cluster_.emplace(std::stoul(sizes[0]), options, 1, sizes.size() > 1 ? std::stoul(sizes[1]) : 0);
      cluster_->on_turn = [this](const Node& node, const Effects& effects) { output_ += narrate(node, effects); };
      return "";
    }
    if (verb == "deliver" || verb == "drop" || verb == "cut") {
      links(verb, subject);
    } else if (verb == "written" && subject == "all") {
      for (auto& [id, node] : cluster_->nodes()) cluster_->written_all(id);
    } else if (subject.empty()) {
      everybody(verb);
    } else {
      std::string rest;
      in >> rest;
      one_node(verb, std::stoul(subject), rest);
    }
    return output_.substr(from);
  }

  bool end_converged() {
    output_.clear();
    cluster_->heal();
    for (auto& [id, node] : cluster_->nodes()) {
      if (!node.core) cluster_->start(id);
    }
    for (int i = 0; i < 50 && !cluster_->converged(); ++i) cluster_->run(milliseconds(100));
    return cluster_->converged();
  }

 private:
  void links(const std::string& verb, const std::string& link) {
    if (link.empty()) return cluster_->deliver_round();
    const std::vector<std::string> ends = absl::StrSplit(link, "->");
    const uint64_t from = std::stoul(ends.at(0));
    const uint64_t to = std::stoul(ends.at(1));
    if (verb == "drop") return cluster_->drop(from, to);
    if (verb == "cut") return cluster_->cut(from, to);
    std::vector<Flight> flights;
    for (const Flight& flight : cluster_->network()) {
      if (flight.from.value() == from && flight.to.value() == to) flights.push_back(flight);
    }
    cluster_->drop(from, to);
    for (const Flight& flight : flights) cluster_->deliver(flight);
  }

  void everybody(const std::string& verb) {
    if (verb == "stabilize") return cluster_->quiesce();
    if (verb == "heal") return cluster_->heal();
    if (verb == "status") return status();
    output_ += "unknown command\n";
  }

  void lease(uint64_t id) {
    const std::optional<Lease> lease = cluster_->core(id).lease();
    if (!lease) return void(output_ += std::to_string(id) + ": no lease\n");
    const auto age = std::chrono::duration_cast<milliseconds>(cluster_->node(id).now - lease->since);
    output_ += std::to_string(id) + ": lease since " + std::to_string(age.count()) + " ms ago, read index " +
               std::to_string(lease->read_index.value()) + "\n";
  }

  void one_node(const std::string& verb, uint64_t id, const std::string& rest) {
    Node& node = cluster_->node(id);
    if (verb == "campaign") {
      cluster_->advance(id, CoreTwin::deadline_without_repeats(cluster_->core(id)) - node.now);
    } else if (verb == "elect") {
      cluster_->elect(id);
      output_.clear();
    } else if (verb == "tick") {
      cluster_->advance(id, milliseconds(std::stol(rest)));
    } else if (verb == "elapse") {
      node.now += milliseconds(std::stol(rest));
    } else if (verb == "propose") {
      cluster_->propose(id, rest);
    } else if (verb == "confirm") {
      cluster_->confirm(id);
    } else if (verb == "lease") {
      lease(id);
    } else if (verb == "change") {
      cluster_->change(id, changes(rest));
    } else if (verb == "transfer") {
      cluster_->transfer(id, std::stoul(rest), milliseconds(300));
    } else if (verb == "stall" || verb == "resume") {
      node.disk_stalled = verb == "stall";
    } else if (verb == "written") {
      cluster_->written(id);
    } else if (verb == "checkpoint") {
      cluster_->checkpoint(id);
    } else if (verb == "install") {
      cluster_->install(id, std::stoul(rest));
    } else if (verb == "isolate") {
      cluster_->isolate(id);
    } else if (verb == "crash") {
      cluster_->crash(id);
    } else if (verb == "start") {
      cluster_->start(id);
    } else if (verb == "restart") {
      cluster_->restart(id);
    } else {
      output_ += "unknown command\n";
    }
  }

  static std::vector<MemberChange> changes(const std::string& text) {
    std::vector<MemberChange> changes;
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      const std::string one(part);
      const uint64_t id = std::stoul(one.substr(1));
      changes.push_back(one[0] == '+' ? add(id) : one[0] == '^' ? promote(id) : one[0] == 'v' ? demote(id) : remove(id));
    }
    return changes;
  }

  void status() {
    for (const auto& [id, node] : cluster_->nodes()) {
      if (!node.core) {
        absl::StrAppend(&output_, id, ": down\n");
        continue;
      }
      const Status status = node.core->status();
      absl::StrAppend(&output_, id, ": term ", status.hard_state.term.value(), " last ", status.last.index.value(), "@",
                      status.last.term.value(), " commit ", status.commit.value(), " durable ", status.durable.value(),
                      " applied ", node.applied.value(), status.leadership.role == Role::Leader ? " leader" : "", "\n");
    }
  }

  std::optional<Cluster> cluster_;
  std::string output_;
};

std::string replay(std::istream& in, bool& converged) {
  Scenario scenario;
  std::string out, line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') {
      out += line + "\n";
      continue;
    }
    std::string output;
    do {  // commands up to the dashes
      out += line + "\n";
      output += scenario.run(line);
    } while (std::getline(in, line) && line != "----" && !line.empty());
    out += "----\n" + output;
    while (line == "----" || !line.empty()) {  // what was expected
      if (!std::getline(in, line)) break;
    }
    out += "\n";
  }
  converged = scenario.end_converged();
  return out;
}

std::filesystem::path folder() { return std::filesystem::path(source_dir()) / "tests" / "proof" / "scenarios"; }

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    const std::string name = file.path().stem().string();
    if (name.starts_with("raft_") && file.path().extension() == ".txt") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ScenarioTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, HappensAsWritten) {
  const std::filesystem::path path = folder() / (GetParam() + ".txt");
  std::ifstream in(path);
  std::stringstream written;
  written << in.rdbuf();
  bool converged = false;
  const std::string happened = replay(written, converged);
  if (std::getenv("COORDKIT_REWRITE")) {
    std::ofstream(path) << happened;
  } else {
    EXPECT_EQ(happened, written.str()) << "COORDKIT_REWRITE=1 rewrites " << path;
  }
  EXPECT_TRUE(converged);
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, ::testing::ValuesIn(names()), [](const auto& file) { return file.param; });

}  // namespace
}  // namespace coordkit::raft::testing
