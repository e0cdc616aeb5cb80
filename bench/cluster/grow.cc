#include "bench/cluster/grow.h"

#include <cmath>
#include <iostream>
#include <thread>

#include "bench/cluster/grow_load.h"
#include "bench/cluster/process.h"
#include "bench/cluster/processes.h"
#include "tools/support/loopback.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kReplicas = 5;
constexpr auto kLimit = 300s;  // beyond the length of the load
const std::string kName = "coordkit/grow";

// ---- one process

ReplicaOptions grown_options(const GrowMemberOptions& options) {
  ReplicaOptions replica{.id = options.id, .cluster = "grow", .data_dir = options.data_dir};
  replica.members.push_back({1, options.addresses.front()});
  if (options.id != 1) replica.members.push_back({options.id, options.addresses.at(options.id - 1)});
  replica.security = PlainText{};
  return replica;
}

class Driver {
 public:
  Driver(Replica& replica, const GrowMemberOptions& options, Session session)
      : replica_(replica), options_(options), load_(std::make_shared<GrowLoad>(std::move(session), options.load.callers)) {}

  bool run() {
    load_->start();
    stretch(1);
    const bool changed = change(1, 3, MembershipChange().add(2, at(2)).add(3, at(3))) &&
                         change(3, 5, MembershipChange().add(4, at(4)).add(5, at(5))) &&
                         change(5, 3, MembershipChange().remove(4).remove(5));
    load_->stop();
    nlohmann::ordered_json end = {{"name", kName}, {"phase", "end"}};
    end.update(load_->lap());
    if (load_->refusals() > 0) say(end);
    return changed && load_->refusals() == 0;
  }

 private:
  const std::string& at(size_t id) const { return options_.addresses.at(id - 1); }

  void stretch(int members) {
    std::this_thread::sleep_for(Seconds(options_.load.seconds));
    report(std::to_string(members) + " members", {});
  }

  bool change(int from, int to, const MembershipChange& change) {
    const absl::StatusOr<Index> changed = replica_.change_membership(change);
    nlohmann::ordered_json ended;
    if (!changed.ok()) ended["failed"] = changed.status().ToString();
    report(std::to_string(from) + " -> " + std::to_string(to), ended);
    if (changed.ok()) stretch(to);
    return changed.ok();
  }

  void report(const std::string& phase, const nlohmann::ordered_json& more) {
    nlohmann::ordered_json line = {{"name", kName}, {"phase", phase}, {"callers", options_.load.callers}};
    line.update(load_->lap());
    if (!more.is_null()) line.update(more);
    say(line);
  }

  Replica& replica_;
  const GrowMemberOptions& options_;
  const std::shared_ptr<GrowLoad> load_;
};

// ---- all of them

class Growing {
 public:
  Growing(const std::filesystem::path& data, const GrowOptions& options)
      : addresses_(support::free_loopback_addresses(kReplicas)) {
    for (int id = kReplicas; id >= 1; --id) {  // the first one starts at once, so the others must already be waiting
      auto arguments = member_arguments("grow-member", id, data / std::to_string(id), addresses_);
      arguments.insert(arguments.end(), {"--callers", std::to_string(options.callers)});
      arguments.insert(arguments.end(), {"--seconds", std::to_string(options.seconds)});
      processes_.start(id, arguments);
    }
  }

  bool listen(support::Deadline deadline, const std::function<void(const nlohmann::ordered_json&)>& tell) {
    for (;;) {
      const auto [from, line] = processes_.listen(deadline, "the changes end");
      if (line.contains("passed")) return line["passed"];
      tell(line);
    }
  }

 private:
  const std::vector<std::string> addresses_;
  Processes processes_;
};

}  // namespace

bool run_grow(const std::filesystem::path& data, const GrowOptions& options,
              const std::function<void(const nlohmann::ordered_json&)>& line) {
  std::filesystem::create_directories(data);
  const auto length = std::chrono::ceil<std::chrono::seconds>(Seconds(4 * options.seconds));
  const bool passed = Growing(data, options).listen(support::in(length + kLimit), line);
  std::filesystem::remove_all(data);
  return passed;
}

int run_grow_member(const GrowMemberOptions& options) {
  absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(grown_options(options));
  if (!replica.ok()) return fail(replica.status());
  if (options.id == 1) {
    if (const absl::Status ready = (*replica)->wait_ready(60s); !ready.ok()) return fail(ready);
    absl::StatusOr<Session> session = (*replica)->open_session({.ttl = 10s});
    if (!session.ok()) return fail(session.status());
    say({{"passed", Driver(**replica, options, *session).run()}});
  }
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace coordkit::bench
