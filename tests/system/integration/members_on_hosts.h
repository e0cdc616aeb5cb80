// Three members, each a process on its own network host, and the network between them: shared by the tests of this folder.
//
// Everything is judged by callers' answers, by the data afterwards, and by how many terms have passed; durations are only
// printed. All processes and networks end with the test, however it ends.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/deployment/deployment.h"
#include "tests/system/integration/network_host.h"
#include "tests/system/integration/packet_switch.h"

namespace coordkit::testkit {

inline constexpr uint64_t kFewTerms = 4;  // one election; a vote may be split now and then

// Rows of the table of timeouts in docs/operations.md.
struct Pace {
  std::chrono::milliseconds heartbeat;
  std::chrono::milliseconds election;
};
inline constexpr Pace kZones{std::chrono::milliseconds(100), std::chrono::milliseconds(1000)};
inline constexpr Pace kContinents{std::chrono::milliseconds(500), std::chrono::milliseconds(3000)};

// "COUNT MEDIAN P99 MAX" of a member, in microseconds.
struct Timing {
  uint64_t count = 0, median = 0, p99 = 0, max = 0;
};
Timing timing_of(const std::string& answer);                    // of "took ..." or "loaded ..."; all zero: it failed
void print_row(const std::string& what, const Timing& timing);  // in milliseconds
void print_head(const std::string& title);

class MembersOnHosts : public ::testing::Test {
 protected:
  static constexpr int kMembers = 3;

  MembersOnHosts();
  void SetUp() override;  // skips, with the reason, where creating hosts is not permitted

  // Starts all of them, and waits until they are ready.
  void start(const Pace& pace, std::vector<std::string> more = {});
  Deployment& members() { return *members_; }
  // In both directions.
  void between(int one, int other, const Way& way);
  void everywhere(const Way& way);
  void cut_off(int id, bool to_it, bool from_it);
  void mend() { everywhere({}); }
  PacketSwitch& wires() { return *wires_; }
  const NetworkHost& host(int id) const { return *hosts_.at(static_cast<size_t>(id - 1)); }

  uint64_t term(int id) const { return std::stoull(members_->status_of(id, "term")); }
  // Waits until `id` knows a leader other than `former`; zero: not within a minute.
  int new_leader(int id, int previous) const;
  // Waits until all are ready and name the same leader; zero: not within a minute.
  int agreed_leader() const;
  // Waits until its `coordctl status` contains this; false: not within a minute.
  bool says(int id, const std::string& text) const;
  static int other_than(int one, int other = 0);  // a member
  // This many, one after the other, through `id`; each must be acknowledged.
  void put(int id, const std::string& prefix, int count);
  // Ends the load of `id` under `prefix`, and checks that every acknowledged key exists.
  Timing expect_loaded_keys(int loader, const std::string& prefix, int reader);
  void expect_keys(const std::string& prefix, const std::vector<std::pair<uint64_t, uint64_t>>& runs, int reader);

 private:
  std::string refusal_;  // why there are no hosts; empty: there are
  std::vector<std::unique_ptr<NetworkHost>> hosts_;
  std::unique_ptr<PacketSwitch> wires_;
  std::unique_ptr<Deployment> members_;  // destroyed first
};

}  // namespace coordkit::testkit
