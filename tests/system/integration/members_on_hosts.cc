#include "tests/system/integration/members_on_hosts.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // only a hang takes that long
constexpr auto kBetweenLooks = 20ms;
constexpr uint64_t kSeed = 20;
constexpr int kPort = 7400;

// "1-7,9-20"
std::vector<std::pair<uint64_t, uint64_t>> runs_of(const std::string& text) {
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  std::istringstream in(text);
  char between = 0;
  for (uint64_t first = 0, last = 0; in >> first >> between >> last; in >> between) runs.emplace_back(first, last);
  return runs;
}

// False: not within a minute.
template <typename Condition>
bool wait_until(const Condition& condition) {
  const support::Deadline end = support::in(kPatience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

}  // namespace

Timing timing_of(const std::string& answer) {
  std::istringstream words(answer);
  std::string what;
  Timing timing;
  words >> what >> timing.count >> timing.median >> timing.p99 >> timing.max;
  return timing;
}

void print_head(const std::string& title) {
  std::printf("\n%-48s %7s %9s %9s %9s\n", title.c_str(), "count", "median", "99 %", "max (ms)");
}

void print_row(const std::string& what, const Timing& timing) {
  const auto ms = [](uint64_t microseconds) { return static_cast<double>(microseconds) / 1000; };
  std::printf("%-48s %7llu %9.1f %9.1f %9.1f\n", what.c_str(), static_cast<unsigned long long>(timing.count), ms(timing.median),
              ms(timing.p99), ms(timing.max));
}

MembersOnHosts::MembersOnHosts() {
  try {
    std::vector<int> packets;
    for (int id = 1; id <= kMembers; ++id) {
      hosts_.push_back(std::make_unique<NetworkHost>(id));
      packets.push_back(hosts_.back()->packets());
    }
    wires_ = std::make_unique<PacketSwitch>(packets, kSeed);
  } catch (const std::system_error& error) {
    refusal_ = error.what();
    return;
  }
  std::vector<std::string> addresses;
  for (int id = 1; id <= kMembers; ++id) addresses.push_back(NetworkHost::ip(id) + ":" + std::to_string(kPort));
  members_ = std::make_unique<Deployment>(
      addresses, [this](int id, const std::string& program, const std::vector<std::string>& arguments) {
        const NetworkHost::Inside there(host(id));
        return support::Child::start_program(program, arguments);
      });
}

void MembersOnHosts::SetUp() {
  if (!refusal_.empty()) GTEST_SKIP() << "hosts as network namespaces are not to be had here: " << refusal_;
}

void MembersOnHosts::start(const Pace& pace, std::vector<std::string> more) {
  more.push_back("--heartbeat-ms=" + std::to_string(pace.heartbeat.count()));
  more.push_back("--election-ms=" + std::to_string(pace.election.count()));
  members_->set_options(std::move(more));
  for (int id = 1; id <= kMembers; ++id) ASSERT_EQ(members_->start(id, {1, 2, 3}), "opened");
  ASSERT_NE(agreed_leader(), 0);
}

void MembersOnHosts::between(int one, int other, const Way& way) {
  wires_->set(one, other, way);
  wires_->set(other, one, way);
}

void MembersOnHosts::everywhere(const Way& way) {
  for (int one = 1; one <= kMembers; ++one) {
    for (int other = one + 1; other <= kMembers; ++other) between(one, other, way);
  }
}

void MembersOnHosts::cut_off(int id, bool to_it, bool from_it) {
  for (int other = 1; other <= kMembers; ++other) {
    if (other == id) continue;
    wires_->set(other, id, {.cut = to_it});
    wires_->set(id, other, {.cut = from_it});
  }
}

int MembersOnHosts::new_leader(int id, int previous) const {
  int found = 0;
  wait_until([&] {
    const std::string leader = members_->status_of(id, "leader");
    if (!leader.empty() && leader != "none" && leader != std::to_string(previous)) found = std::stoi(leader);
    return found != 0;
  });
  return found;
}

int MembersOnHosts::agreed_leader() const {
  int found = 0;
  wait_until([&] {
    std::map<std::string, int> leaders;
    for (int id = 1; id <= kMembers; ++id) {
      if (members_->status_of(id, "state") == "Ready") ++leaders[members_->status_of(id, "leader")];
    }
    const bool one = leaders.size() == 1 && leaders.begin()->second == kMembers && leaders.begin()->first != "none";
    if (one) found = std::stoi(leaders.begin()->first);
    return one;
  });
  return found;
}

bool MembersOnHosts::says(int id, const std::string& text) const {
  return wait_until([&] { return members_->coordctl(id, "status").text.find(text) != std::string::npos; });
}

int MembersOnHosts::other_than(int one, int other) {
  for (int id = 1; id <= kMembers; ++id) {
    if (id != one && id != other) return id;
  }
  return 0;
}

void MembersOnHosts::put(int id, const std::string& prefix, int count) {
  for (int i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_EQ(members_->ask(id, "put " + prefix + number + " " + number), "done") << "by member " << id;
  }
}

Timing MembersOnHosts::expect_loaded_keys(int loader, const std::string& prefix, int reader) {
  const std::string report = members_->ask(loader, "unload");
  std::istringstream words(report);
  std::string skipped, runs;
  for (int i = 0; i < 5; ++i) words >> skipped;
  uint64_t unknown = 0, refused = 0;
  words >> unknown >> refused >> runs;
  std::printf("puts of member %d under %s: %llu acknowledged, %llu of unknown outcome, %llu refused\n", loader, prefix.c_str(),
              static_cast<unsigned long long>(timing_of(report).count), static_cast<unsigned long long>(unknown),
              static_cast<unsigned long long>(refused));
  EXPECT_FALSE(runs.empty()) << "nothing was acknowledged: " << report;
  expect_keys(prefix, runs_of(runs), reader);
  return timing_of(report);
}

void MembersOnHosts::expect_keys(const std::string& prefix, const std::vector<std::pair<uint64_t, uint64_t>>& runs,
                                 int reader) {
  const Ran ran = members_->coordctl(reader, "keys " + prefix + " 1000000 --json");
  ASSERT_EQ(ran.status, 0) << ran.text;
  std::map<std::string, std::string> found;
  std::istringstream lines(ran.text);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(row.is_object()) << line;
    found[row.value("key", "")] = row.value("value", "");
  }
  for (const auto& [first, last] : runs) {
    for (uint64_t number = first; number <= last; ++number) {
      ASSERT_EQ(found[prefix + std::to_string(number)], std::to_string(number))
          << "acknowledged and lost, says member " << reader;
    }
  }
}

}  // namespace coordkit::testkit
