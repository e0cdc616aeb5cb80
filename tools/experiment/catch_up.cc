// One follower of three stops under full load and resumes. How long until it has caught up while the load lasts? What does that
// cost in memory, how often was a state transfer begun, and did any other process notice?
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/experiment/load_group.h"
#include "tools/experiment/roles.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr size_t kFollowersCaughtUp = 3;  // reports in a row

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

class CatchUp {
 public:
  explicit CatchUp(const CatchUpOptions& options)
      : options_(options), group_(options.out / "catch-up-data", options.out / "catch-up.log", kNodes) {}

  int run() {
    group_.start_all();
    const size_t leader = group_.leader();
    const size_t writer = leader % kNodes + 1;
    victim_ = writer % kNodes + 1;
    fill(leader);
    load(leader, writer);
    group_.pass(5s);
    term_before_ = group_.news(leader).term;
    const uint64_t before = written();
    for (size_t id = 1; id <= kNodes; ++id) idle_[id] = group_.memory(id).anonymous;
    group_.need(group_.process(victim_).freeze(), "a member that can be stopped");
    group_.pass(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds)));
    rate_while_stopped_ = static_cast<double>(written() - before) / options_.seconds / 1e6;
    watch_it_return();
    const int result = judge();
    for (size_t id = 1; id <= kNodes; ++id) group_.say(id, "load 0");
    group_.pass(2s);
    for (size_t id = 1; id <= kNodes; ++id) group_.stop(id);
    std::filesystem::remove_all(options_.out / "catch-up-data");
    return result;
  }

 private:
  uint64_t keys() const { return options_.state_mb * 1'000'000 / options_.value_bytes; }
  uint64_t written() {
    uint64_t sum = 0;
    for (size_t id = 1; id <= kNodes; ++id) sum += group_.news(id).written;
    return sum;
  }

  void fill(size_t leader) {
    group_.say(leader, "fill " + std::to_string(keys()) + " " + std::to_string(options_.value_bytes));
    group_.need(group_.until(20min, [&] { return group_.news(leader).filled; }), "a filled state");
    group_.pass(2s);
  }

  void load(size_t leader, size_t writer) {
    const uint64_t each = options_.rate_mb * 1'000'000 / 2;
    for (const size_t id : {leader, writer}) {
      group_.say(id, "keys " + std::to_string(keys()) + " " + std::to_string(options_.value_bytes));
      group_.say(id, "load " + std::to_string(each));
    }
    group_.say(victim_, "probe");
  }

  // It has caught up when it reports Ready and has applied what the leader had committed a moment before.
  bool caught_up() {
    const MemberNews& victim = group_.news(victim_);
    if (victim.reported_at == reported_at_) return in_a_row_ >= kFollowersCaughtUp;
    reported_at_ = victim.reported_at;
    uint64_t committed = 0;
    for (size_t id = 1; id <= kNodes; ++id) committed = std::max(committed, id == victim_ ? 0 : committed_before_[id]);
    for (size_t id = 1; id <= kNodes; ++id) committed_before_[id] = group_.news(id).commit;
    const bool now = victim.state == "Ready" && committed != 0 && victim.applied >= committed;
    in_a_row_ = now ? in_a_row_ + 1 : 0;
    return in_a_row_ >= kFollowersCaughtUp;
  }

  void watch_it_return() {
    const uint64_t before = written();
    const Clock::time_point begun = Clock::now();
    group_.news(victim_).state.clear();
    group_.process(victim_).thaw();
    committed_before_.fill(UINT64_MAX);
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.limit));
    returned_ = group_.until(limit, [&] {
      const MemberNews& victim = group_.news(victim_);
      if (!victim.sentence.empty() && !options_.json) {
        std::fprintf(stderr, "\r%6.1f s  %s: %-100.100s", seconds_since(begun), victim.state.c_str(), victim.sentence.c_str());
      }
      return caught_up();
    });
    catch_up_seconds_ = seconds_since(begun);
    rate_meanwhile_ = static_cast<double>(written() - before) / catch_up_seconds_ / 1e6;
    group_.pass(5s);  // Ready means that calls are answered
  }

  int judge() {
    uint64_t term = 0;
    for (size_t id = 1; id <= kNodes; ++id) term = std::max(term, group_.news(id).term);
    nlohmann::ordered_json nodes = nlohmann::json::array();
    for (size_t id = 1; id <= kNodes; ++id) {
      const MemoryUse& memory = group_.memory(id);
      nodes.push_back({{"id", id},
                       {"anonymous_mib_before", idle_[id]},
                       {"anonymous_mib_peak", memory.anonymous_peak},
                       {"peak_mib", memory.peak}});
    }
    const MemberNews& victim = group_.news(victim_);
    const bool fine =
        returned_ && term == term_before_ && victim.transfers.size() <= 1 && victim.probes_failed_while_ready == 0;
    const nlohmann::ordered_json line{{"experiment", "catch-up"},
                                      {"stopped_seconds", options_.seconds},
                                      {"state_mb", options_.state_mb},
                                      {"rate_mb", options_.rate_mb},
                                      {"rate_mb_while_stopped", rate_while_stopped_},
                                      {"rate_mb_meanwhile", rate_meanwhile_},
                                      {"caught_up", returned_},
                                      {"catch_up_seconds", catch_up_seconds_},
                                      {"transfers", victim.transfers.size()},
                                      {"terms", term - term_before_},
                                      {"ready_but_unanswered", victim.probes_failed_while_ready},
                                      {"follower", victim_},
                                      {"nodes", nodes},
                                      {"as_expected", fine}};
    std::printf("%s%s\n", options_.json ? "" : "\n", line.dump().c_str());
    std::fflush(stdout);
    return fine ? 0 : 1;
  }

  const CatchUpOptions options_;
  LoadGroup group_;
  size_t victim_ = 0;
  uint64_t term_before_ = 0;
  std::array<uint64_t, kNodes + 1> idle_{};
  std::array<uint64_t, kNodes + 1> committed_before_{};
  Clock::time_point reported_at_{};
  size_t in_a_row_ = 0;
  bool returned_ = false;
  double catch_up_seconds_ = 0;
  double rate_while_stopped_ = 0;
  double rate_meanwhile_ = 0;
};

}  // namespace

int run_catch_up(const CatchUpOptions& options) { return CatchUp(options).run(); }

}  // namespace coordkit::experiment
