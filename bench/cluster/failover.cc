#include "bench/cluster/failover.h"

#include <algorithm>
#include <map>
#include <thread>

#include "bench/cluster/measure.h"
#include "bench/cluster/processes.h"
#include "tools/support/loopback.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr int kMembers = 3;
constexpr int kHome = 1;  // of the sessions
constexpr auto kLimit = 120s;
constexpr auto kOpenLimit = 1200s;
constexpr auto kQuietTime = 2s;  // before a kill, and before judging what follows

class Cluster {
 public:
  Cluster(std::filesystem::path data, uint32_t election_timeout_ms)
      : data_(std::move(data)),
        addresses_(support::free_loopback_addresses(kMembers)),
        election_timeout_ms_(std::to_string(election_timeout_ms)) {
    for (int id = 1; id <= kMembers; ++id) start(id);
    for (int id = 1; id <= kMembers; ++id) answer(id, "ready", kLimit);
  }

  ordered_json ask(int id, const ordered_json& question, const std::string& expected, support::Deadline::duration limit) {
    processes_.send(id, question);
    return answer(id, expected, limit);
  }

  // Milliseconds from the death of this leader until another process reports that it leads.
  double kill(int id) {
    const uint64_t term = members_[id].term;
    const TimePoint killed = Clock::now();
    processes_.kill(id);
    members_[id] = {};
    const support::Deadline limit = support::in(kLimit);
    while (!led_after(term)) listen(limit, "another leader is elected");
    return one_digit(Seconds(Clock::now() - killed).count() * 1000);
  }

  // Seconds until it is ready again.
  double restart(int id) {
    const TimePoint started = Clock::now();
    start(id);
    answer(id, "ready", kLimit);
    return one_digit(Seconds(Clock::now() - started).count());
  }

 private:
  struct Member {
    bool leads = false;
    uint64_t term = 0;
    std::map<std::string, ordered_json> outputs;  // the newest of each, until consumed
  };

  void start(int id) {
    std::vector<std::string> arguments = member_arguments("failover-member", id, data_ / std::to_string(id), addresses_);
    arguments.insert(arguments.end(), {"--election-timeout", election_timeout_ms_});
    processes_.start(id, arguments);
  }

  bool led_after(uint64_t term) const {
    return std::ranges::any_of(members_, [term](const auto& each) { return each.second.leads && each.second.term > term; });
  }

  ordered_json answer(int id, const std::string& expected, support::Deadline::duration limit) {
    auto& outputs = members_[id].outputs;
    const support::Deadline deadline = support::in(limit);
    while (!outputs.contains(expected)) listen(deadline, "replica " + std::to_string(id) + " says \"" + expected + "\"");
    return outputs.extract(expected).mapped();
  }

  void listen(support::Deadline deadline, const std::string& what) {
    const auto [from, line] = processes_.listen(deadline, what);
    Member& member = members_[from];
    for (const auto& [key, value] : line.items()) member.outputs[key] = value;
    if (!line.contains("term")) return;
    member.term = line["term"];
    member.leads = line["leads"];
  }

  const std::filesystem::path data_;
  const std::vector<std::string> addresses_;
  const std::string election_timeout_ms_;
  std::map<int, Member> members_;
  Processes processes_;
};

// One cluster with that many sessions.
class Failover {
 public:
  Failover(const std::filesystem::path& data, const FailoverOptions& options, uint64_t sessions, const PrintLine& print)
      : cluster_(data, options.election_timeout_ms), sessions_(sessions), print_(print) {}

  bool run(uint32_t kills) {
    ordered_json line = named("opening");
    line.update(cluster_.ask(kHome, {{"open", sessions_}}, "opened", kOpenLimit));
    print_(line);
    for (uint32_t number = 0; number < kills; ++number) kill(number);
    if (kills > 1) print_medians();
    lap();
    const uint64_t valid = cluster_.ask(kHome, {{"count", true}}, "valid", kLimit);
    if (valid == sessions_ && refused_ == 0) return true;
    line = named("failed");
    line.update({{"valid", valid}, {"refused", refused_}});
    print_(line);
    return false;
  }

 private:
  ordered_json named(const std::string& phase) const {
    return {{"name", "coordkit/failover"}, {"sessions", sessions_}, {"phase", phase}};
  }

  void kill(uint32_t number) {
    const int leader = number % 2 == 0 ? 2 : 3;
    cluster_.ask(kHome, {{"lead", leader}}, "led", kLimit);
    std::this_thread::sleep_for(kQuietTime);
    lap();
    const double election = cluster_.kill(leader);
    std::this_thread::sleep_for(kQuietTime);
    const ordered_json around = lap();
    const double back = cluster_.restart(leader);
    const ordered_json figures = {{"election_ms", election}, {"longest_gap_ms", around.at("longest_gap_ms")}, {"back_s", back}};
    for (const auto& [key, value] : figures.items()) seen_[key].push_back(value);
    ordered_json line = named("kill " + std::to_string(number + 1));
    line.update(figures);
    if (!around.at("refused").empty()) line["refused"] = around.at("refused");
    print_(line);
  }

  // What the caller saw since the last query.
  ordered_json lap() {
    ordered_json seen = cluster_.ask(kHome, {{"lap", true}}, "lap", kLimit);
    for (const auto& [reason, times] : seen.at("refused").items()) refused_ += times.get<uint64_t>();
    return seen;
  }

  void print_medians() {
    ordered_json line = named("median");
    for (const auto& [key, values] : seen_) line[key] = one_digit(median(values));
    print_(line);
  }

  Cluster cluster_;
  const uint64_t sessions_;
  const PrintLine& print_;
  std::map<std::string, std::vector<double>> seen_;
  uint64_t refused_ = 0;
};

}  // namespace

bool run_failover(const std::filesystem::path& data, const FailoverOptions& options, const PrintLine& print) {
  bool passed = true;
  for (const uint64_t sessions : options.sessions) {
    std::filesystem::create_directories(data);
    passed = Failover(data, options, sessions, print).run(options.kills) && passed;
    std::filesystem::remove_all(data);
  }
  return passed;
}

}  // namespace coordkit::bench
