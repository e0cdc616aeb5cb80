// One member of the remotes experiment, which is also a gateway of remotes. It reports whether it leads at each change. A line
// "measure" of its standard input has its counters reported, and "sessions" the number of sessions of the cluster. It ends when
// that input does.
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "coordkit/replica.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

class CrowdMember {
 public:
  explicit CrowdMember(const CrowdMemberOptions& options) : options_(options) {}

  int run() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) return fail("open: " + replica.status().ToString());
    replica_ = *std::move(replica);
    if (const absl::Status ready = replica_->wait_ready(60s); !ready.ok()) return fail("wait_ready: " + ready.ToString());
    report_("ready");
    std::thread reporter([this] { report_leadership(); });
    for (std::string line; std::getline(std::cin, line);) {
      if (line == "measure") measure();
      if (line == "sessions") count_sessions();
    }
    over_ = true;
    reporter.join();
    const absl::Status closed = replica_->close();
    if (!closed.ok()) return fail("close: " + closed.ToString());
    report_("bye");
    return 0;
  }

 private:
  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "crowd", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    options.remotes = {.listen = options_.remotes, .security = PlainText{}, .remotes_max = options_.remotes_max};
    options.on_halt = [this](const absl::Status& why) { fail("halted: " + why.ToString()); };
    return options;
  }

  void report_leadership() {
    bool leads = false;
    while (!over_) {
      if (std::exchange(leads, replica_->health().role == raft::Role::Leader) != leads) report_("leads", {{"leads", leads}});
      std::this_thread::sleep_for(100ms);
    }
  }

  void measure() {
    const auto metrics = replica_->metrics();
    if (!metrics.ok()) return static_cast<void>(fail("metrics: " + metrics.status().ToString()));
    report_("measured", {{"leads", metrics->consensus.leads},
                         {"term", metrics->consensus.term.value()},
                         {"sent", metrics->peers.messages_sent},
                         {"received", metrics->peers.messages_received},
                         {"linked", metrics->remotes->linked},
                         {"links_opened", metrics->remotes->tcp.opened}});
  }

  void count_sessions() {
    uint64_t count = 0;
    SessionId after;
    for (bool more = true; more;) {
      const auto page = replica_->sessions(after, 1000);
      if (!page.ok()) return static_cast<void>(fail("sessions: " + page.status().ToString()));
      count += page->sessions.size();
      more = page->more && !page->sessions.empty();
      if (more) after = page->sessions.back().session;
    }
    report_("sessions", {{"sessions", count}});
  }

  int fail(const std::string& what) {
    report_("error", {{"what", what}});
    return 1;
  }

  const CrowdMemberOptions options_;
  support::Reporter report_;
  std::unique_ptr<Replica> replica_;
  std::atomic<bool> over_{false};
};

}  // namespace

int run_crowd_member(const CrowdMemberOptions& options) { return CrowdMember(options).run(); }

}  // namespace coordkit::experiment
