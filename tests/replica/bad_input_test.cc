// Whatever is wrong at the door is told in a sentence that says what to do, and nothing is lost by it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "coordkit/coordkit.h"
#include "tests/replica/cluster.h"
#include "tools/support/child.h"

namespace coordkit::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A status with this code whose sentence has these words.
MATCHER_P2(Refuses, code, words, "refuses with " + absl::StatusCodeToString(code) + " and says: " + words) {
  *result_listener << arg;
  return arg.code() == code && std::string(arg.message()).find(words) != std::string::npos && arg.message().size() > 20;
}

absl::Status open_status(ReplicaOptions options) { return Replica::open(std::move(options)).status(); }

// ---- options: nothing is touched on disk

class BadOptionsTest : public ::testing::Test {
 protected:
  void expect_refused(ReplicaOptions options, const std::string& words) {
    const fs::path data = options.data_dir;
    EXPECT_THAT(open_status(std::move(options)), Refuses(absl::StatusCode::kInvalidArgument, words));
    EXPECT_TRUE(data.empty() || !fs::exists(data));
  }
  Cluster cluster_;
  ReplicaOptions options_ = cluster_.options(1);
};

TEST_F(BadOptionsTest, AnIdThatIsNoMember) {
  options_.id = 7;
  expect_refused(options_, "7");
}

TEST_F(BadOptionsTest, IdZero) {
  options_.id = 0;
  expect_refused(options_, "id");
}

TEST_F(BadOptionsTest, TwoMembersWithOneId) {
  options_.members[2].id = 2;
  expect_refused(options_, "2");
}

TEST_F(BadOptionsTest, AnEmptyClusterName) {
  options_.cluster.clear();
  expect_refused(options_, "cluster");
}

TEST_F(BadOptionsTest, NoDataDirectory) {
  options_.data_dir.clear();
  expect_refused(options_, "data_dir");
}

TEST_F(BadOptionsTest, SecurityNotChosen) {
  options_.security = std::monostate{};
  expect_refused(options_, "PlainText");
}

TEST_F(BadOptionsTest, AMemberWithoutAnAddress) {
  options_.members[1].address.clear();
  expect_refused(options_, "address");
}

TEST_F(BadOptionsTest, AnAddressWithoutAPort) {
  options_.members[0].address = "127.0.0.1";
  expect_refused(options_, "port");
}

TEST_F(BadOptionsTest, ASegmentSizeTheLogCannotHave) {
  options_.segment_bytes = 1000;
  expect_refused(options_, "segment_bytes");
}

TEST_F(BadOptionsTest, NoMembers) {
  options_.members.clear();
  expect_refused(options_, "member");
}

TEST_F(BadOptionsTest, AnElectionTimeoutBelowTheHeartbeat) {
  options_.election_timeout = options_.heartbeat_interval;
  expect_refused(options_, "heartbeat");
}

TEST_F(BadOptionsTest, FLT_A06_EveryProblemIsListedAtOnce) {
  options_.cluster.clear();
  options_.data_dir.clear();
  options_.security = std::monostate{};
  EXPECT_THAT(std::string(open_status(options_).message()),
              AllOf(HasSubstr("cluster"), HasSubstr("data_dir"), HasSubstr("PlainText")));
}

// ---- data directory and port

class BadPlaceTest : public ::testing::Test {
 protected:
  Cluster cluster_{1};
  ReplicaOptions options_ = cluster_.options(1);
};

TEST_F(BadPlaceTest, AParentThatDoesNotExist) {
  options_.data_dir += "/below/nothing";
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kNotFound, "create"));
}

TEST_F(BadPlaceTest, AFileInPlaceOfADirectory) {
  std::ofstream(options_.data_dir) << "mine";
  const absl::Status status = open_status(options_);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(options_.data_dir));
  EXPECT_EQ(fs::file_size(options_.data_dir), 4u);
}

// Permissions do not bind root, so the test becomes somebody else for the moment of the call.
class Unprivileged {
 public:
  Unprivileged() { works_ = geteuid() != 0 || seteuid(65534) == 0; }
  ~Unprivileged() { EXPECT_EQ(seteuid(getuid()), 0); }
  bool works() const { return works_; }

 private:
  bool works_ = false;
};

TEST_F(BadPlaceTest, AnUnwritableDirectory) {
  fs::create_directory(options_.data_dir);
  fs::permissions(options_.data_dir, fs::perms::owner_read | fs::perms::owner_exec);
  absl::Status status;
  {
    const Unprivileged nobody;
    if (!nobody.works()) GTEST_SKIP() << "this user can write everywhere";
    status = open_status(options_);
  }
  EXPECT_THAT(status, Refuses(absl::StatusCode::kPermissionDenied, options_.data_dir));
  fs::permissions(options_.data_dir, fs::perms::owner_all);
  EXPECT_TRUE(fs::is_empty(options_.data_dir));
}

TEST_F(BadPlaceTest, ADirectoryWithForeignFiles) {
  fs::create_directory(options_.data_dir);
  std::ofstream(options_.data_dir + "/notes.txt") << "mine";
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kFailedPrecondition, "notes.txt"));
  EXPECT_EQ(fs::file_size(options_.data_dir + "/notes.txt"), 4u);
  EXPECT_EQ(std::distance(fs::directory_iterator(options_.data_dir), fs::directory_iterator()), 1);
}

TEST_F(BadPlaceTest, ADirectoryOfAnotherCluster) {
  cluster_.open_all();
  ASSERT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  cluster_.close(1);
  ReplicaOptions other = options_;
  other.cluster = "another";
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kFailedPrecondition, "another"));
  cluster_.open_all();
  EXPECT_TRUE(cluster_[1].get("color")->entry);
}

TEST_F(BadPlaceTest, ADirectoryOfAnotherReplica) {
  cluster_.open_all();
  cluster_.close(1);
  ReplicaOptions other = options_;
  other.id = 2;
  other.members[0].id = 2;
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kFailedPrecondition, "replica 1"));
}

TEST_F(BadPlaceTest, ADirectoryThatIsOpenAlready) {
  cluster_.open_all();
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kFailedPrecondition, options_.data_dir));
  EXPECT_THAT(cluster_[1].put("color", "green").status(), IsOk());
}

TEST_F(BadPlaceTest, APortInUseIsToldAndFreeAgainLater) {
  ReplicaOptions other = options_;
  other.data_dir += "-other";
  cluster_.open_all();
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kUnavailable, options_.members[0].address));
  EXPECT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  cluster_.close(1);
  const auto opened = Replica::open(other);
  ASSERT_THAT(opened.status(), IsOk());
  EXPECT_THAT((*opened)->wait_ready(kPatience), IsOk());
}

// ---- calls

class BadCallTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Cluster cluster_{1};
};

TEST_F(BadCallTest, ATtlBelowTheFloorIsRaisedAndReported) {
  const absl::StatusOr<Session> session = cluster_[1].open_session({.ttl = 1ms});
  ASSERT_THAT(session.status(), IsOk());
  EXPECT_EQ(session->ttl(), 50ms);
}

TEST_F(BadCallTest, ATtlOfNothingOrLess) {
  EXPECT_THAT(cluster_[1].open_session({.ttl = 0s}).status(), Refuses(absl::StatusCode::kInvalidArgument, "time to live"));
  EXPECT_THAT(cluster_[1].open_session({.ttl = -1s}).status(), Refuses(absl::StatusCode::kInvalidArgument, "time to live"));
}

TEST_F(BadCallTest, AnEmptyOrOversizeLockName) {
  Session me = cluster_.session(1);
  EXPECT_THAT(me.acquire("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(me.try_acquire("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(me.acquire(std::string(1025, 'n')).status(), Refuses(absl::StatusCode::kResourceExhausted, "name"));
  EXPECT_THAT(me.acquire(std::string(1024, 'n')).status(), IsOk());
  EXPECT_THAT(cluster_[1].holders("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(cluster_[1].queue("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
}

TEST_F(BadCallTest, AnEmptyKey) {
  EXPECT_THAT(cluster_[1].put("", "x").status(), Refuses(absl::StatusCode::kInvalidArgument, "key"));
  EXPECT_THAT(cluster_[1].get("").status(), Refuses(absl::StatusCode::kInvalidArgument, "key"));
  EXPECT_THAT(cluster_[1].erase("").status(), Refuses(absl::StatusCode::kInvalidArgument, "key"));
}

TEST_F(BadCallTest, AReleaseWithAnOldTokenLeavesTheNewHolderAlone) {
  Session me = cluster_.session(1);
  Session other = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(grant->release(), IsOk());
  absl::StatusOr<Grant> next = other.acquire("billing");
  ASSERT_THAT(next.status(), IsOk());
  EXPECT_THAT(grant->release(), Is(Reason::NotOwner));
  EXPECT_GT(std::string(grant->release().message()).size(), 20u);
  EXPECT_TRUE(next->valid());
  EXPECT_TRUE(*next->check());
  EXPECT_EQ(cluster_[1].holders("billing")->holders.at(0).token, next->token());
}

TEST_F(BadCallTest, AGrantThatHoldsNothing) {
  Grant nothing;
  EXPECT_FALSE(nothing.valid());
  EXPECT_THAT(nothing.release(), Refuses(absl::StatusCode::kFailedPrecondition, "holds nothing"));
  EXPECT_THAT(nothing.check().status(), Refuses(absl::StatusCode::kFailedPrecondition, "holds nothing"));
}

TEST_F(BadCallTest, TheSameOwnerTwice) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_THAT(me.acquire("billing").status(), Is(Reason::AlreadyHeld));
  EXPECT_TRUE(grant->valid());
}

TEST_F(BadCallTest, ASessionThatWasNeverOpened) {
  Session none;
  EXPECT_FALSE(none.valid());
  EXPECT_THAT(none.acquire("billing").status(), Refuses(absl::StatusCode::kFailedPrecondition, "open_session"));
  EXPECT_THAT(none.close(), Refuses(absl::StatusCode::kFailedPrecondition, "open_session"));
}

TEST_F(BadCallTest, AClosedSession) {
  Session me = cluster_.session(1);
  ASSERT_THAT(me.close(), IsOk());
  EXPECT_THAT(me.acquire("billing").status(), Is(Reason::Lost));
  EXPECT_THAT(me.close(), IsOk());
}

TEST_F(BadCallTest, EveryCallAfterCloseSaysThatTheReplicaIsClosed) {
  Session me = cluster_.session(1);
  Replica& replica = cluster_[1];
  ASSERT_THAT(replica.close(), IsOk());
  EXPECT_THAT(replica.open_session().status(), Is(Reason::Closed));
  EXPECT_THAT(replica.put("color", "green").status(), Is(Reason::Closed));
  EXPECT_THAT(replica.get("color").status(), Is(Reason::Closed));
  EXPECT_THAT(replica.erase("color").status(), Is(Reason::Closed));
  EXPECT_THAT(replica.holders("billing").status(), Is(Reason::Closed));
  EXPECT_THAT(replica.queue("billing").status(), Is(Reason::Closed));
  EXPECT_THAT(me.acquire("billing").status(), Refuses(absl::StatusCode::kFailedPrecondition, "closed"));
  EXPECT_THAT(replica.wait_ready(kPatience), Is(Reason::Closed));
  EXPECT_THAT(replica.close(), IsOk());
}

}  // namespace
}  // namespace coordkit::testing
