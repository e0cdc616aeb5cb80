// Three replicas and a remote at work, and hostile uninvited peers beside them (attackers.h, gateway_attackers.h). They must
// affect nothing but counters: terms do not leap, no member is removed or displaced, work continues, and memory stays where it
// was.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tools/experiment/attackers.h"
#include "tools/experiment/counter_group.h"
#include "tools/experiment/gateway_attackers.h"
#include "tools/experiment/roles.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Deadline;

constexpr auto kQuiet = 5s;  // work without attackers, to compare with
// A loaded machine may hold an election now and then; a forged term leaps much further.
constexpr uint64_t kTermsMax = 50;
constexpr uint64_t kGrowthMaxMib = 48;

struct Usage {
  uint64_t rss_mib = 0;
  double cpu_seconds = 0;
};

Usage usage_of(pid_t pid) {
  Usage usage;
  const std::filesystem::path proc = "/proc/" + std::to_string(pid);
  uint64_t size = 0, resident = 0;
  std::ifstream(proc / "statm") >> size >> resident;
  usage.rss_mib = resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
  std::string line;
  std::getline(std::ifstream(proc / "stat"), line);
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  usage.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return usage;
}

// The report of a node about itself.
struct NodeReport {
  uint64_t term = 0;
  uint64_t leader = 0;
  uint64_t voters = 0;
  uint64_t reports = 0;
  uint64_t without_leader = 0;  // reports without a leader
  std::string warning;          // the newest
};

class Siege {
 public:
  explicit Siege(const StrangersOptions& options) : options_(options) {}
  int run();

 private:
  void hear(int from, const std::string& event, const nlohmann::json& report);
  void measure();
  static std::vector<uint16_t> ports_of(const std::vector<std::string>& addresses);
  int judge(const std::map<std::string, uint64_t>& attacks);

  const StrangersOptions options_;
  CounterGroup group_{options_.out / "strangers-data", options_.out / "strangers.log",
                      [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); }};
  std::array<NodeReport, kNodes + 1> nodes_;
  std::array<Usage, kNodes + 1> before_;
  std::array<Usage, kNodes + 1> after_;
  std::array<uint64_t, kNodes + 1> peak_mib_{};
  uint64_t term_before_ = 0;
  uint64_t leader_before_ = 0;
  uint64_t updates_ = 0, remote_updates_ = 0;  // of all, and of the remote
};

void Siege::hear(int from, const std::string& event, const nlohmann::json& report) {
  if (event == "ended" && report.value("how", std::string()) == "written") {
    ++updates_;
    remote_updates_ += from == CounterGroup::kRemote ? 1u : 0u;
  }
  if (event != "health" || from > kNodes) return;
  NodeReport& node = nodes_.at(static_cast<size_t>(from));
  node.term = report.value("term", uint64_t{0});
  node.leader = report.value("leader", uint64_t{0});
  node.voters = report.value("voters", uint64_t{0});
  node.warning = report.value("warning", std::string());
  ++node.reports;
  node.without_leader += node.leader == 0 ? 1 : 0;
}

void Siege::measure() {
  for (size_t id = 1; id <= kNodes; ++id) {
    after_[id] = usage_of(group_.node(static_cast<int>(id)).pid());
    peak_mib_[id] = std::max(peak_mib_[id], after_[id].rss_mib);
  }
}

std::vector<uint16_t> Siege::ports_of(const std::vector<std::string>& addresses) {
  std::vector<uint16_t> ports;
  for (const std::string& address : addresses) {
    ports.push_back(static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  }
  return ports;
}

int Siege::run() {
  CounterGroup::Arguments arguments{.counter = {}, .node = {"--reports", "--section-ms", "20"}, .remote = true};
  if (options_.secret) {
    arguments.node.insert(arguments.node.end(), {"--secret", "of the experiment, and long enough", "--remotes-secret",
                                                 "of its remotes, and as long as that"});
  }
  group_.start(arguments);
  group_.listen(support::in(kQuiet));
  measure();
  before_ = after_;
  term_before_ = nodes_[1].term;
  leader_before_ = nodes_[1].leader;
  updates_ = remote_updates_ = 0;
  for (NodeReport& node : nodes_) node.reports = node.without_leader = 0;

  const std::vector<uint16_t> members = ports_of(group_.addresses()), gateways = ports_of(group_.gateways());
  Attackers attackers("experiment", members, options_.seed);
  GatewayAttackers at_gateways("experiment", members, gateways, options_.seed);
  attackers.start();
  at_gateways.start();
  const Deadline end = support::in(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds)));
  while (support::in(0s) < end) {
    group_.listen(std::min(end, support::in(500ms)));
    measure();
  }
  attackers.stop();
  at_gateways.stop();
  group_.stop();
  std::map<std::string, uint64_t> attacks = attackers.counts();
  attacks.merge(at_gateways.counts());
  return judge(attacks);
}

int Siege::judge(const std::map<std::string, uint64_t>& attacks) {
  bool fine = updates_ > 0 && remote_updates_ > 0 && term_before_ > 0;
  nlohmann::ordered_json nodes = nlohmann::json::array();
  for (size_t id = 1; id <= kNodes; ++id) {
    const NodeReport& node = nodes_[id];
    const uint64_t growth = peak_mib_[id] - std::min(peak_mib_[id], before_[id].rss_mib);
    const double cpu = after_[id].cpu_seconds - before_[id].cpu_seconds;
    fine = fine && node.term - term_before_ <= kTermsMax && node.voters == kNodes && node.leader != 0 &&
           growth <= kGrowthMaxMib && node.reports > 0 && node.without_leader * 10 <= node.reports;
    nodes.push_back({{"id", id},
                     {"term", node.term},
                     {"leader", node.leader},
                     {"voters", node.voters},
                     {"reports", node.reports},
                     {"without_leader", node.without_leader},
                     {"rss_mib_before", before_[id].rss_mib},
                     {"rss_mib_peak", peak_mib_[id]},
                     {"cpu_seconds", cpu},
                     {"warning", node.warning}});
    if (options_.json) continue;
    std::printf(
        "node %zu: term %lu (was %lu), leader %lu (was %lu), %lu voters; %lu MiB before, %lu at most; %.1f s of "
        "processor%s%s\n",
        id, node.term, term_before_, node.leader, leader_before_, node.voters, before_[id].rss_mib, peak_mib_[id], cpu,
        node.warning.empty() ? "" : "; it warns: ", node.warning.c_str());
  }
  uint64_t made = 0;
  for (const auto& [name, count] : attacks) {
    made += count;
    fine = fine && count > 0;
  }
  const nlohmann::ordered_json line{{"experiment", "strangers"},
                                    {"seconds", options_.seconds},
                                    {"seed", options_.seed},
                                    {"secret", options_.secret},
                                    {"attacks", attacks},
                                    {"updates", updates_},
                                    {"remote_updates", remote_updates_},
                                    {"term_before", term_before_},
                                    {"leader_before", leader_before_},
                                    {"nodes", nodes},
                                    {"as_expected", fine}};
  if (!options_.json) {
    std::printf("%lu attacks in %.0f s, %lu updates under the lock meanwhile, %lu of them by a remote: %s\n", made,
                options_.seconds, updates_, remote_updates_, fine ? "nothing came of them" : "SOMETHING CAME OF THEM");
  }
  std::printf("%s\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_strangers(const StrangersOptions& options) { return Siege(options).run(); }

}  // namespace coordkit::experiment
