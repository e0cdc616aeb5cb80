#include "bench/cluster/cluster.h"

#include <map>

#include "bench/cluster/processes.h"
#include "tools/certificates/folder.h"
#include "tools/support/loopback.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kMembers = 3;
constexpr int kRemote = kMembers + 1;
constexpr auto kStartLimit = 60s;
constexpr auto kAnswerLimit = 60s;  // beyond the length of the load

class Cluster {
 public:
  Cluster(const std::filesystem::path& data, const LoadOptions& load) : addresses_(support::free_loopback_addresses(kMembers)) {
    const std::filesystem::path certificates = data / "certificates";
    if (load.security == "tls") support::make_certificates({.folder = certificates, .cluster = "bench"});
    if (load.where == "remote") gateways_ = support::free_loopback_addresses(kMembers);
    for (int id = 1; id <= kMembers; ++id) {
      std::vector<std::string> arguments = member_arguments("member", id, data / std::to_string(id), addresses_);
      arguments.insert(arguments.end(), {"--security", load.security, "--certificates", certificates});
      if (load.where == "remote") arguments.insert(arguments.end(), {"--remotes", gateways_.at(static_cast<size_t>(id) - 1)});
      if (load.kind == "overload") arguments.insert(arguments.end(), {"--history", "100000"});
      processes_.start(id, arguments);
      members_[id] = {};
    }
  }

  nlohmann::ordered_json run(const LoadOptions& load) {
    const support::Deadline start = support::in(kStartLimit);
    while (!leader()) listen(start, "the three replicas elect a leader");
    processes_.send(place_of(load), load);
    const auto length = std::chrono::ceil<std::chrono::seconds>(std::chrono::duration<double>(load.warmup_s + load.seconds));
    const support::Deadline answer = support::in(length + kAnswerLimit);
    while (result_.is_null()) listen(answer, "the load ends");
    return result_;
  }

 private:
  struct Member {
    bool ready = false;
    bool leads = false;
    uint64_t term = 0;
  };

  // The process that runs the load.
  int place_of(const LoadOptions& load) {
    const int leads = leader();
    if (load.where == "remote") return start_remote(leads);
    return load.where == "follower" ? leads % kMembers + 1 : leads;
  }

  int start_remote(int leads) {
    std::vector<std::string> arguments = {"remote", "--gateways"};
    for (int id = 1; id <= kMembers; ++id) {
      if (id != leads) arguments.push_back(gateways_.at(static_cast<size_t>(id) - 1));
    }
    processes_.start(kRemote, arguments);
    members_[kRemote] = {};
    const support::Deadline start = support::in(kStartLimit);
    while (!members_[kRemote].ready) listen(start, "the remote is ready");
    return kRemote;
  }

  int leader() const {
    int found = 0;
    uint64_t newest = 0;
    for (const auto& [id, member] : members_) {
      if (!member.ready) return 0;
      if (member.term > newest || (member.term == newest && member.leads)) found = member.leads ? id : 0;
      newest = std::max(newest, member.term);
    }
    return found;
  }

  void listen(support::Deadline deadline, const std::string& what) {
    const auto [from, line] = processes_.listen(deadline, what);
    Member& member = members_[from];
    if (line.contains("ready")) member.ready = true;
    if (line.contains("result")) result_ = line["result"];
    if (line.contains("term")) {
      member.term = line["term"];
      member.leads = line["leads"];
    }
  }

  const std::vector<std::string> addresses_;
  std::vector<std::string> gateways_;  // of the members, for remotes
  std::map<int, Member> members_;
  Processes processes_;
  nlohmann::ordered_json result_;
};

}  // namespace

nlohmann::ordered_json run_cluster(const std::filesystem::path& data, const LoadOptions& load) {
  return Cluster(data, load).run(load);
}

}  // namespace coordkit::bench
