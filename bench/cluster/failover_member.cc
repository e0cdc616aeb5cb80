// One replica process of the suite "failover".
#include <cmath>
#include <iostream>

#include "bench/cluster/failover.h"
#include "bench/cluster/grow_load.h"
#include "bench/cluster/process.h"
#include "bench/cluster/sessions.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr Duration kTtl = 60s;  // opening a million takes longer
constexpr size_t kCallers = 1;

class Member {
 public:
  explicit Member(Replica& replica) : replica_(replica) {}
  ~Member() {
    if (probe_) probe_->stop();
  }

  absl::Status obey(const ordered_json& command) {
    if (command.contains("open")) return open(command["open"]);
    if (command.contains("lead")) return lead(command["lead"]);
    if (command.contains("lap")) say({{"lap", probe_->lap()}});
    if (command.contains("count")) say({{"valid", sessions_->valid()}});
    return absl::OkStatus();
  }

 private:
  absl::Status open(uint64_t count) {
    const TimePoint started = Clock::now();
    sessions_ = std::make_shared<Sessions>(replica_, count, kTtl);
    if (absl::Status opened = sessions_->open(); !opened.ok()) return opened;
    const double seconds = Seconds(Clock::now() - started).count();
    absl::StatusOr<Session> session = replica_.open_session({.ttl = kTtl});
    if (!session.ok()) return session.status();
    probe_ = std::make_shared<GrowLoad>(*std::move(session), kCallers);
    probe_->start();
    say({{"opened", {{"opened_per_s", std::round(static_cast<double>(count) / seconds)}}}});
    return absl::OkStatus();
  }

  absl::Status lead(uint64_t member) {
    const Health health = replica_.health();
    if (health.leader != ReplicaId(member)) {
      if (absl::Status led = replica_.transfer_leadership(member, 30s); !led.ok()) return led;
    }
    say({{"led", member}});
    return absl::OkStatus();
  }

  Replica& replica_;
  std::shared_ptr<Sessions> sessions_;
  std::shared_ptr<GrowLoad> probe_;
};

}  // namespace

int run_failover_member(const MemberOptions& options) {
  absl::StatusOr<std::unique_ptr<Replica>> replica = open_member("failover", options);
  if (!replica.ok()) return fail(replica.status());
  Member member(**replica);
  for (std::string line; std::getline(std::cin, line);) {
    if (const absl::Status obeyed = member.obey(ordered_json::parse(line)); !obeyed.ok()) return fail(obeyed);
  }
  return 0;
}

}  // namespace coordkit::bench
