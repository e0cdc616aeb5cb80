// ReplicaOptions::validate() lists every problem: each illegal value of each option, whatever else is wrong.
#include "coordkit/coordkit.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/storage/segmented_log_store.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Duration kNegative{-1};
constexpr Duration kLongest = Duration::max();

std::unique_ptr<StateMachine> no_machine() { return nullptr; }

// An illegal value, and what the sentence about it says.
struct Illegal {
  std::string words;
  std::function<void(ReplicaOptions&)> set;
};

const std::vector<Illegal>& illegal_values() {
  using Options = ReplicaOptions;
  static const std::vector<Illegal> all = {
      {"id is 0", [](Options& o) { o.id = 0; }},
      {"replica 7 is not among the members", [](Options& o) { o.id = 7; }},
      {"cluster is longer than 255 bytes", [](Options& o) { o.cluster = std::string(256, 'c'); }},
      {"data_dir is empty", [](Options& o) { o.data_dir.clear(); }},
      {"members is empty", [](Options& o) { o.members.clear(); }},
      {"more than 64 replicas", [](Options& o) { o.members.resize(65); }},
      {"member has id 0", [](Options& o) { o.members[1].id = 0; }},
      {"is not below 2^63", [](Options& o) { o.members[1].id = kRemoteBit; }},
      {"member id 2 is listed twice", [](Options& o) { o.members[2].id = 2; }},
      {"is listed twice", [](Options& o) { o.members[2].address = o.members[1].address; }},
      {"the address of member 2: '' is not an address", [](Options& o) { o.members[1].address.clear(); }},
      {"is not an address", [](Options& o) { o.members[1].address = "127.0.0.1"; }},
      {"port above 65535", [](Options& o) { o.members[1].address = "127.0.0.1:65536"; }},
      {"port 0", [](Options& o) { o.members[1].address = "127.0.0.1:0"; }},
      {"longer than 1024 bytes", [](Options& o) { o.members[1].address = std::string(1024, 'a') + ":1"; }},
      {"'0.0.0.0:7400' stands for every address", [](Options& o) { o.members[1].address = "0.0.0.0:7400"; }},
      {"'[::]:7400' stands for every address", [](Options& o) { o.members[1].address = "[::]:7400"; }},
      {"'[0:0::0]:7400' stands for every address", [](Options& o) { o.members[1].address = "[0:0::0]:7400"; }},
      {"'0:7400' stands for every address", [](Options& o) { o.members[1].address = "0:7400"; }},
      {"':7400' stands for every address", [](Options& o) { o.members[1].address = ":7400"; }},
      {"'0.0.0.0:7400' stands for every address",
       [](Options& o) {
         o.members = {{1, "0.0.0.0:7400"}};
       }},
      {"security is not chosen", [](Options& o) { o.security = std::monostate{}; }},
      {"16 to 1024 bytes", [](Options& o) { o.security = SharedSecret{std::string(15, 's')}; }},
      {"16 to 1024 bytes", [](Options& o) { o.security = SharedSecret{std::string(1025, 's')}; }},
      {"Tls lacks a file",
       [](Options& o) { o.security = Tls{.certificate = "a", .key = "b", .authority = "", .open = nullptr}; }},
      {"listen: '127.0.0.1' is not an address", [](Options& o) { o.listen = "127.0.0.1"; }},
      {"listen: '127.0.0.1:99999' has a port above", [](Options& o) { o.listen = "127.0.0.1:99999"; }},
      {"election_timeout is below 10 ms", [](Options& o) { o.election_timeout = Duration::zero(); }},
      {"election_timeout is below 10 ms", [](Options& o) { o.election_timeout = kNegative; }},
      {"election_timeout is below 10 ms", [](Options& o) { o.election_timeout = 9ms; }},
      {"election_timeout is above 1 h", [](Options& o) { o.election_timeout = 1h + Duration(1); }},
      {"election_timeout is above 1 h", [](Options& o) { o.election_timeout = kLongest; }},
      {"election_timeout is not above two heartbeat_intervals", [](Options& o) { o.election_timeout = 120ms; }},
      {"election_timeout is not above two heartbeat_intervals", [](Options& o) { o.heartbeat_interval = kLongest; }},
      {"heartbeat_interval is below 1 ms", [](Options& o) { o.heartbeat_interval = Duration::zero(); }},
      {"heartbeat_interval is below 1 ms", [](Options& o) { o.heartbeat_interval = kNegative; }},
      {"rate_error_ppm", [](Options& o) { o.rate_error_ppm = 500'001; }},
      {"sticky.block", [](Options& o) { o.sticky.block = 0; }},
      {"sticky.block", [](Options& o) { o.sticky.block = (1 << 20) + 1; }},
      {"sticky.time_max", [](Options& o) { o.sticky.time_max = kNegative; }},
      {"segment_bytes", [](Options& o) { o.segment_bytes = 0; }},
      {"segment_bytes", [](Options& o) { o.segment_bytes = 1000; }},
      {"segment_bytes", [](Options& o) { o.segment_bytes = (uint64_t{1} << 30) + 4096; }},
      {"checkpoint_entries is 0", [](Options& o) { o.checkpoint_entries = 0; }},
      {"compaction.age", [](Options& o) { o.compaction.age = 99ms; }},
      {"compaction.age", [](Options& o) { o.compaction.age = kNegative; }},
      {"digest_entries", [](Options& o) { o.digest_entries = 1; }},
      {"digest_entries", [](Options& o) { o.digest_entries = 127; }},
      {"scrub_every", [](Options& o) { o.scrub_every = 999ms; }},
      {"scrub_every", [](Options& o) { o.scrub_every = kNegative; }},
      {"scrub_bytes_per_second is 0", [](Options& o) { o.scrub_bytes_per_second = 0; }},
      {"drain is negative", [](Options& o) { o.drain = kNegative; }},
      {"busy_poll", [](Options& o) { o.busy_poll = kNegative; }},
      {"busy_poll", [](Options& o) { o.busy_poll = 10ms + Duration(1); }},
      {"more than 64 machines", [](Options& o) { o.machines.resize(65); }},
      {"machine 15 has an id of coordkit's own", [](Options& o) { o.machines = {{.id = MachineId(15), .make = no_machine}}; }},
      {"machine 16 has no factory", [](Options& o) { o.machines = {{.id = MachineId(16)}}; }},
      {"machine 16 is listed twice", [](Options& o) { o.machines.assign(2, {.id = MachineId(16), .make = no_machine}); }},
      {"only the TCP transport",
       [](Options& o) {
         o.security = SharedSecret{std::string(32, 's')};
         o.parts.transport = [](const PartContext&) { return nullptr; };
       }},
      {"parts.log_files has no use",
       [](Options& o) {
         o.parts.log_store = memory_stores().log_store;
         o.parts.log_files = [](const PartContext&) { return nullptr; };
       }},
      {"admin_socket is longer than 107 bytes", [](Options& o) { o.admin_socket = "/" + std::string(107, 'a'); }},
      {"admin_socket lies in data_dir", [](Options& o) { o.admin_socket = o.data_dir + "/below/admin"; }},
      {"admin_socket lies in data_dir", [](Options& o) { o.admin_socket = o.data_dir + "/../x/../1/admin"; }},
  };
  return all;
}

class OptionsTest : public ::testing::Test {
 protected:
  std::string sentence(const ReplicaOptions& options) const { return std::string(options.validate().message()); }
  const Cluster cluster_;
  const ReplicaOptions good_ = cluster_.options(1);
};

// Covers: FLT_A06
TEST_F(OptionsTest, EachIllegalValueOfEachOptionIsListedBesideAnyOther) {
  ASSERT_THAT(good_.validate(), IsOk());
  const std::vector<Illegal> others = {
      {"cluster is empty", [](ReplicaOptions& o) { o.cluster.clear(); }},
      {"checkpoint_entries is 0", [](ReplicaOptions& o) { o.checkpoint_entries = 0; }},
      {"heartbeat_interval is below 1 ms", [](ReplicaOptions& o) { o.heartbeat_interval = Duration::zero(); }},
  };
  for (const Illegal& illegal : illegal_values()) {
    ReplicaOptions alone = good_;
    illegal.set(alone);
    EXPECT_THAT(sentence(alone), HasSubstr(illegal.words));
    EXPECT_THAT(alone.validate(), Is(Reason::InvalidArgument));
    for (const Illegal& other : others) {
      ReplicaOptions both = alone;
      other.set(both);
      const std::string option = other.words.substr(0, other.words.find(' '));
      if (illegal.words.find(option) != std::string::npos) continue;  // it cannot have both values
      EXPECT_THAT(sentence(both), AllOf(HasSubstr(illegal.words), HasSubstr(other.words)));
    }
  }
}

TEST_F(OptionsTest, EachSentenceIsAboutAnOptionThatIsIllegal) {
  for (const Illegal& illegal : illegal_values()) {
    ReplicaOptions alone = good_;
    illegal.set(alone);
    const std::string said = sentence(alone);
    const bool several = illegal.words.starts_with("more than 64 replicas");  // which have no addresses
    EXPECT_TRUE(several || said.find("; ") == std::string::npos) << said;
  }
}

TEST_F(OptionsTest, ALoneMemberMayHaveAnyFreePortAndAListenerEveryAddress) {
  ReplicaOptions options = good_;
  options.members = {{1, "127.0.0.1:0"}};
  EXPECT_THAT(options.validate(), IsOk());
  options.listen = "0.0.0.0:0";
  EXPECT_THAT(options.validate(), IsOk());
  options.listen = ":7400";
  EXPECT_THAT(options.validate(), IsOk());
}

// Options of each of its parts are a host's own affair, so the same holds for them.
TEST_F(OptionsTest, OptionsOfPartsListEveryProblemToo) {
  const std::string log(SegmentedLogOptions{.segment_bytes = 1, .batch_bytes_max = 0}.validate().message());
  EXPECT_THAT(log, AllOf(HasSubstr("segment_bytes"), HasSubstr("batch_bytes_max")));
  const std::string state(LmdbStateOptions{.map_bytes_max = 1, .views_max = 0}.validate().message());
  EXPECT_THAT(state, AllOf(HasSubstr("map_bytes_max"), HasSubstr("views_max")));
  const std::string tcp(TcpOptions{.frame_bytes_max = 0, .bulk_frames_max = 0}.validate().message());
  EXPECT_THAT(tcp, AllOf(HasSubstr("frame_bytes_max"), HasSubstr("bulk_frames_max")));
  const std::string stm(StmOptions{.attempts_max = 0, .timeout = Duration::zero()}.validate().message());
  EXPECT_THAT(stm, AllOf(HasSubstr("attempts_max"), HasSubstr("timeout")));
}

}  // namespace
}  // namespace coordkit::testkit
