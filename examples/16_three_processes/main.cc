// A small deployment: a configuration file, three processes that pass a lock around and count jobs, a fourth that is added
// later, and restarts one after the other that go unnoticed.
//
//   16_three_processes CONFIGURATION ID      and then, as lines on its standard input:
//     add ID HOST:PORT    the process just started there becomes a member
//     remove ID           a member leaves; stop it afterwards
//     reload              reads new certificates
//     status              a line about this replica
//     stop                hands leadership over, releases the lock, and ends
//
// CONFIGURATION has lines like these, the same file for all; a process added later has a file that includes its own line:
//   cluster jobs
//   secret 8f0c...              openssl rand -hex 32; or instead:
//   certificates /etc/jobs      a folder with ID.pem, ID.key and authority.pem (docs/security.md)
//   data /var/lib/jobs          each process makes a directory of its own there, named by its id
//   member 1 10.0.0.1:7400
#include <coordkit/coordkit.h>
#include <coordkit/operate/tls.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;

void say(const std::string& line) { std::cout << line << std::endl; }

Tls certificates_of(const std::string& folder, uint64_t id) {
  const std::string own = folder + "/" + std::to_string(id);
  return {.certificate = own + ".pem", .key = own + ".key", .authority = folder + "/authority.pem"};
}

// The rest of the line: a path may have spaces.
bool rest_of(std::istream& words, std::string& value) { return static_cast<bool>(std::getline(words >> std::ws, value)); }

bool configure(const std::string& path, ReplicaOptions& options) {
  std::ifstream file(path);
  if (!file) {
    std::cerr << path << " cannot be read\n";
    return false;
  }
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream words(line);
    if (!(words >> word) || word[0] == '#') continue;
    MemberAddress member;
    std::string value;
    if (word == "cluster" && words >> options.cluster) continue;
    if (word == "data" && rest_of(words, value)) {
      options.data_dir = value + "/" + std::to_string(options.id);
    } else if (word == "secret" && words >> value) {
      options.security = SharedSecret{value};
    } else if (word == "certificates" && rest_of(words, value)) {
      options.security = certificates_of(value, options.id);
    } else if (word == "member" && words >> member.id >> member.address) {
      options.members.push_back(member);
    } else {
      std::cerr << path << ": not understood: " << line << "\n";
      return false;
    }
  }
  return true;
}

// One job after the other, whichever process has the lock; the fence keeps a late one from counting twice.
absl::Status work(Replica& replica, const std::string& id, const std::atomic<bool>& stopping) {
  absl::StatusOr<Session> session = replica.open_session({.ttl = 2s});
  for (; session.ok() && !stopping; std::this_thread::sleep_for(20ms)) {
    absl::StatusOr<Grant> grant = session->acquire("jobs", {.timeout = 1s});
    if (!grant.ok()) {
      if (session->phase() == SessionPhase::Lost) session = replica.open_session({.ttl = 2s});
      continue;
    }
    const absl::StatusOr<GetResult> done = replica.get("done");
    if (!done.ok()) continue;
    const int next = done->entry ? std::stoi(done->entry->value) + 1 : 1;
    if (replica.put("done", std::to_string(next), {.fence = fenced_by(*grant)}).ok()) {
      say("process " + id + " has done job " + std::to_string(next));
    }
  }
  return session.status();
}

// Until told to stop, or its input ends.
void obey(Replica& replica) {
  for (std::string line, word; std::getline(std::cin, line);) {
    std::istringstream words(line);
    words >> word;
    uint64_t id = 0;
    std::string address;
    absl::StatusOr<Index> changed = absl::InvalidArgumentError("not understood: " + line);
    if (word == "stop") return;
    if (word == "status") {
      const Health health = replica.health();
      say(std::string(name_of(health.state)) + ", leader " + std::to_string(health.leader.value()) + ", " +
          std::to_string(health.members.members.size()) + " members " + health.reason);
      continue;
    }
    if (word == "reload") {
      const absl::Status reloaded = replica.reload_tls();
      say(reloaded.ok() ? "reloaded" : reloaded.ToString());
      continue;
    }
    if (word == "add" && words >> id >> address) changed = replica.change_membership(MembershipChange().add(id, address));
    if (word == "remove" && words >> id) changed = replica.change_membership(MembershipChange().remove(id));
    say(changed.ok() ? "changed: " + line : changed.status().ToString());
  }
}

}  // namespace

int main(int argc, char** argv) {
  ReplicaOptions options;
  if (argc == 3) options.id = std::strtoull(argv[2], nullptr, 10);
  if (argc != 3 || !configure(argv[1], options)) return 2;
  absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(options);
  absl::Status status = replica.status();
  std::atomic<bool> stopping{false};
  std::thread worker;
  if (status.ok()) {
    worker = std::thread([&] {
      if (status = (*replica)->wait_ready(5min); !status.ok()) return;
      say("process " + std::string(argv[2]) + " is ready");
      status = work(**replica, argv[2], stopping);
    });
    obey(**replica);
    stopping = true;
    if ((*replica)->health().role == raft::Role::Leader) (*replica)->transfer_leadership().IgnoreError();
    worker.join();
  }
  if (!status.ok()) std::cerr << status << std::endl;
  return status.ok() ? 0 : 1;
}
