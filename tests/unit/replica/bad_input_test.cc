// Any bad input is answered with a sentence that says what to do, and nothing is lost by it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "coordkit/coordkit.h"
#include "coordkit/operate/inspect.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tools/support/child.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A status with this code whose sentence has these words.
MATCHER_P2(Refuses, code, words, "refuses with " + absl::StatusCodeToString(code) + " and says: " + words) {
  const std::string fault = fault_of_sentence(arg);
  *result_listener << arg << ": " << fault;
  return arg.code() == code && std::string(arg.message()).find(words) != std::string::npos && fault.empty();
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

TEST_F(BadOptionsTest, AnIdThatIsNoMemberIsRefused) {
  options_.id = 7;
  expect_refused(options_, "7");
}

TEST_F(BadOptionsTest, AnIdOfZeroIsRefused) {
  options_.id = 0;
  expect_refused(options_, "id");
}

TEST_F(BadOptionsTest, TwoMembersWithOneIdAreRefused) {
  options_.members[2].id = 2;
  expect_refused(options_, "2");
}

TEST_F(BadOptionsTest, AnEmptyClusterNameIsRefused) {
  options_.cluster.clear();
  expect_refused(options_, "cluster");
}

TEST_F(BadOptionsTest, AMissingDataDirectoryIsRefused) {
  options_.data_dir.clear();
  expect_refused(options_, "data_dir");
}

TEST_F(BadOptionsTest, ABusyPollOutOfItsRangeIsRefused) {
  for (const Duration bad : {Duration(-1), Duration(10ms) + Duration(1)}) {
    options_.busy_poll = bad;
    expect_refused(options_, "busy_poll");
  }
  for (const Duration good : {Duration(0), Duration(10ms)}) {
    options_.busy_poll = good;
    EXPECT_TRUE(options_.validate().ok());
  }
}

TEST_F(BadOptionsTest, OptionsWithoutAChoiceOfSecurityAreRefused) {
  options_.security = std::monostate{};
  expect_refused(options_, "PlainText");
}

// Covers: FLT_S03
TEST_F(BadOptionsTest, ASecretThatCouldBeGuessedIsRefusedWithoutRepeatingIt) {
  options_.security = SharedSecret{"only 15 letters"};
  expect_refused(options_, "16 to 1024 bytes");
  EXPECT_THAT(std::string(open_status(options_).message()), Not(HasSubstr("only 15")));
}

TEST_F(BadOptionsTest, AMemberWithoutAnAddressIsRefused) {
  options_.members[1].address.clear();
  expect_refused(options_, "address");
}

TEST_F(BadOptionsTest, AnAddressWithoutAPortIsRefused) {
  options_.members[0].address = "127.0.0.1";
  expect_refused(options_, "port");
}

TEST_F(BadOptionsTest, AMemberAddressWithPortZeroIsRefused) {
  options_.members[1].address = "127.0.0.1:0";
  expect_refused(options_, "has port 0");
}

TEST_F(BadOptionsTest, ASegmentSizeThatTheLogCannotHaveIsRefused) {
  options_.segment_bytes = 1000;
  expect_refused(options_, "segment_bytes");
}

TEST_F(BadOptionsTest, OptionsWithoutMembersAreRefused) {
  options_.members.clear();
  expect_refused(options_, "member");
}

TEST_F(BadOptionsTest, AnElectionTimeoutNoLongerThanTheHeartbeatIsRefused) {
  options_.election_timeout = options_.heartbeat_interval;
  expect_refused(options_, "heartbeat");
}

TEST_F(BadOptionsTest, LimitsOfStickyLocksOutOfTheirRangeAreRefused) {
  for (const uint64_t block : {uint64_t{0}, (uint64_t{1} << 20) + 1}) {
    options_.sticky = {.block = block};
    expect_refused(options_, "sticky.block");
  }
  options_.sticky = {.time_max = Duration(-1)};
  expect_refused(options_, "sticky.time_max");
}

// Covers: FLT_A06
TEST_F(BadOptionsTest, EveryProblemIsListedAtOnce) {
  options_.cluster.clear();
  options_.data_dir.clear();
  options_.security = std::monostate{};
  options_.sticky.block = 0;
  EXPECT_THAT(std::string(open_status(options_).message()),
              AllOf(HasSubstr("cluster"), HasSubstr("data_dir"), HasSubstr("PlainText"), HasSubstr("sticky.block")));
}

// ---- data directory and port

class BadPlaceTest : public ::testing::Test {
 protected:
  Cluster cluster_{1};
  ReplicaOptions options_ = cluster_.options(1);
};

TEST_F(BadPlaceTest, ADirectoryWithoutAParentIsRefused) {
  options_.data_dir += "/below/nothing";
  const absl::Status refused = open_status(options_);
  EXPECT_THAT(refused, Refuses(absl::StatusCode::kNotFound, "create"));
  EXPECT_EQ(reason_of(refused), Reason::NotFound);
  EXPECT_EQ(outcome_of(refused), Outcome::NoEffect);
}

TEST_F(BadPlaceTest, AFileInPlaceOfADirectoryIsRefusedAndKept) {
  std::ofstream(options_.data_dir) << "mine";
  const absl::Status status = open_status(options_);
  EXPECT_THAT(status, Is(Reason::ForeignData));
  EXPECT_THAT(std::string(status.message()), HasSubstr(options_.data_dir));
  EXPECT_EQ(fs::file_size(options_.data_dir), 4u);
}

// Permissions do not bind root, so the test changes its user for the duration of the call.
class Unprivileged {
 public:
  Unprivileged() { works_ = geteuid() != 0 || seteuid(65534) == 0; }
  ~Unprivileged() { EXPECT_EQ(seteuid(getuid()), 0); }
  bool works() const { return works_; }

 private:
  bool works_ = false;
};

TEST_F(BadPlaceTest, AnUnwritableDirectoryIsRefused) {
  fs::create_directory(options_.data_dir);
  fs::permissions(options_.data_dir, fs::perms::owner_read | fs::perms::owner_exec);
  absl::Status status;
  {
    const Unprivileged unprivileged;
    if (!unprivileged.works()) GTEST_SKIP() << "this user can write everywhere";
    status = open_status(options_);
  }
  EXPECT_THAT(status, Refuses(absl::StatusCode::kPermissionDenied, options_.data_dir));
  EXPECT_THAT(status, Is(Reason::PermissionDenied));
  fs::permissions(options_.data_dir, fs::perms::owner_all);
  EXPECT_TRUE(fs::is_empty(options_.data_dir));
}

TEST_F(BadPlaceTest, ADirectoryWithForeignFilesIsRefusedAndLeftAsItIs) {
  fs::create_directory(options_.data_dir);
  std::ofstream(options_.data_dir + "/notes.txt") << "mine";
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kFailedPrecondition, "notes.txt"));
  EXPECT_THAT(open_status(options_), Is(Reason::ForeignData));
  EXPECT_EQ(fs::file_size(options_.data_dir + "/notes.txt"), 4u);
  EXPECT_EQ(std::distance(fs::directory_iterator(options_.data_dir), fs::directory_iterator()), 1);
}

TEST_F(BadPlaceTest, TheDirectoryOfAnotherClusterIsRefused) {
  cluster_.open_all();
  ASSERT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  cluster_.close(1);
  ReplicaOptions other = options_;
  other.cluster = "another";
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kFailedPrecondition, "another"));
  cluster_.open_all();
  EXPECT_TRUE(cluster_[1].get("color")->entry);
}

TEST_F(BadPlaceTest, TheDirectoryOfAnotherReplicaIsRefused) {
  cluster_.open_all();
  cluster_.close(1);
  ReplicaOptions other = options_;
  other.id = 2;
  other.members[0].id = 2;
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kFailedPrecondition, "replica 1"));
}

TEST_F(BadPlaceTest, ADirectoryThatIsOpenAlreadyIsRefused) {
  cluster_.open_all();
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kFailedPrecondition, options_.data_dir));
  EXPECT_THAT(open_status(options_), Is(Reason::InUse));
  EXPECT_THAT(cluster_[1].put("color", "green").status(), IsOk());
}

// A log and a checkpoint of different moments, on real files: refused with a sentence, in either direction. All that can be
// rebuilt from the other one is.
// Covers: FLT_D21
TEST_F(BadPlaceTest, AMemberWhoseLogOrCheckpointIsGoneIsRefused) {
  options_.checkpoint_entries = 5;
  options_.log_retained_bytes = 0;
  const fs::path data = options_.data_dir;
  const auto begins_late = [&] {
    const absl::StatusOr<DirectoryReport> found = inspect_directory(options_.data_dir);
    return found.ok() && found->log && found->log->base.index > Index();
  };
  for (int lives = 0; lives < 100 && !begins_late(); ++lives) {  // a busy machine is late with its checkpoints
    ASSERT_NO_FATAL_FAILURE(cluster_.open(options_));
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
    for (int i = 0; i < 40; ++i) ASSERT_THAT(cluster_[1].put("color", std::to_string(i)).status(), IsOk());
    cluster_.close(1);
  }
  const fs::path kept = data.string() + "-kept";
  fs::copy(data, kept, fs::copy_options::recursive);
  const auto restore = [&] {
    fs::remove_all(data);
    fs::copy(kept, data, fs::copy_options::recursive);
  };

  fs::remove_all(data / "log");
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "the log is empty"));
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "replace this member")) << "again";
  restore();
  for (const fs::directory_entry& file : fs::directory_iterator(data / "log")) {
    if (file.path().extension() == ".seg") fs::remove(file.path());
  }
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "the log is empty"));
  restore();
  fs::remove_all(data / "state");
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "the checkpoint was taken at entry 0"));
  restore();
  fs::remove_all(data / "log");
  fs::remove_all(data / "state");
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "had a log")) << "it would found a second cluster";
  restore();
  fs::remove(data / "identity");
  EXPECT_THAT(open_status(options_), Refuses(absl::StatusCode::kDataLoss, "identity"));
  restore();
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options_));
  EXPECT_TRUE(cluster_[1].get("color")->entry);
}

TEST_F(BadPlaceTest, APortInUseIsToldAndFreeAgainLater) {
  ReplicaOptions other = options_;
  other.data_dir += "-other";
  cluster_.open_all();
  EXPECT_THAT(open_status(other), Refuses(absl::StatusCode::kUnavailable, options_.members[0].address));
  EXPECT_THAT(open_status(other), Is(Reason::CannotListen));
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

TEST_F(BadCallTest, ATimeToLiveOfZeroOrLessIsRefused) {
  EXPECT_THAT(cluster_[1].open_session({.ttl = 0s}).status(), Refuses(absl::StatusCode::kInvalidArgument, "time to live"));
  EXPECT_THAT(cluster_[1].open_session({.ttl = -1s}).status(), Refuses(absl::StatusCode::kInvalidArgument, "time to live"));
}

TEST_F(BadCallTest, AnEmptyOrOversizeLockNameIsRefused) {
  Session me = cluster_.session(1);
  EXPECT_THAT(me.acquire("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(me.try_acquire("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(me.acquire(std::string(1025, 'n')).status(), Refuses(absl::StatusCode::kResourceExhausted, "name"));
  EXPECT_THAT(me.acquire(std::string(1024, 'n')).status(), IsOk());
  EXPECT_THAT(cluster_[1].holders("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
  EXPECT_THAT(cluster_[1].queue("").status(), Refuses(absl::StatusCode::kInvalidArgument, "name"));
}

TEST_F(BadCallTest, AnEmptyKeyIsRefused) {
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

TEST_F(BadCallTest, ASecondAcquireOfOneOwnerIsRefusedAndTheFirstStaysValid) {
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

TEST_F(BadCallTest, AnAcquireOfAClosedSessionIsLost) {
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

// ---- all kinds of refusals; each sentence is checked by the matcher, and read by humans (tests/support/sentence.h)

TEST_F(BadCallTest, EveryRefusalOfLocksAndSessionsIsASentence) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  const absl::StatusOr<Grant> held = other.acquire("billing");
  ASSERT_THAT(held.status(), IsOk());
  EXPECT_THAT(me.try_acquire("billing").status(), Is(Reason::Held));
  const absl::StatusOr<Grant> odd = me.try_acquire("bill\x01\xff" + std::string(100, 'x'));
  ASSERT_THAT(odd.status(), IsOk());
  EXPECT_THAT(other.try_acquire("bill\x01\xff" + std::string(100, 'x')).status(), Is(Reason::Held))
      << "whatever the name has in it";
  EXPECT_THAT(me.acquire("billing", {.timeout = 1ms}).status(), Is(Reason::WaitTimeout));
  EXPECT_THAT(me.acquire("x", {.owner = std::string(5000, 'o')}).status(), Is(Reason::LimitExceeded));
  EXPECT_THAT(me.acquire("x", {.value = std::string(5000, 'v')}).status(), Is(Reason::LimitExceeded));
  EXPECT_THAT(me.acquire("x", {.delay = 61s}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(me.acquire("x", {.mode = LockMode::Shared, .sticky = true}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(me.acquire_all({}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(me.acquire_all({{.name = "a"}, {.name = "a"}}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(me.acquire_all(std::vector<NamedLock>(129, {.name = "a"})).status(), Is(Reason::LimitExceeded));
  EXPECT_THAT(cluster_[1].resume_session(SessionId(), "secret").status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].resume_session(me.id(), "").status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].resume_session(me.id(), me.secret()).status(), Is(Reason::AlreadyExists));
  EXPECT_THAT(cluster_[1].resume_session(SessionId(999'999), "secret").status(), Is(Reason::SessionNotFound));
  EXPECT_THAT(cluster_[1].kill_session(SessionId()), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].kill_session(SessionId(999'999)), Is(Reason::SessionNotFound));
  EXPECT_THAT(cluster_[1].session_info(SessionId(999'999)).status(), Is(Reason::SessionNotFound));
  EXPECT_THAT(cluster_[1].force_release("billing", Token()).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].force_release("billing", Token(1)).status(), Is(Reason::NotOwner));
  EXPECT_THAT(cluster_[1].clear_delay("billing"), Is(Reason::NotFound));
  EXPECT_THAT(cluster_[1].open_session({.ttl = 9'100'000'000s}).status(), Is(Reason::TtlTooLarge));
  EXPECT_THAT(cluster_[1].open_session({.metadata = std::string(5000, 'm')}).status(), Is(Reason::LimitExceeded));
}

TEST_F(BadCallTest, EveryRefusalOfKeysIsASentence) {
  Kv kv(cluster_[1]);
  ASSERT_THAT(kv.put("a", "1").status(), IsOk());
  ASSERT_THAT(kv.put("a", "2").status(), IsOk());
  const Revision newest = kv.put("a", "3")->revision;
  ASSERT_THAT(kv.compact(newest).status(), IsOk());
  const absl::Status gone = kv.range({.key = "a", .revision = Revision(newest.value() - 1)}).status();
  EXPECT_THAT(gone, Is(Reason::Compacted));
  EXPECT_EQ(revision_of(gone), newest);
  const absl::Status future = kv.range({.key = "a", .revision = Revision(newest.value() + 10)}).status();
  EXPECT_THAT(future, Is(Reason::FutureRevision));
  EXPECT_EQ(revision_of(future), newest);
  EXPECT_THAT(kv.compact(newest).status(), Is(Reason::Compacted));
  EXPECT_THAT(kv.compact(Revision()).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(kv.put({.key = "b", .ignore_value = true}).status(), Is(Reason::KeyNotFound));
  EXPECT_THAT(kv.put({.key = "a", .value = "x", .ignore_value = true}).status(), Is(Reason::ValueProvided));
  EXPECT_THAT(kv.put({.key = "a", .value = "x", .lease = LeaseId(999'999)}).status(), Is(Reason::LeaseNotFound));
  EXPECT_THAT(kv.put("a", std::string(2 << 20, 'v')).status(), Is(Reason::LimitExceeded));
  EXPECT_THAT(kv.put(std::string(9000, 'k'), "").status(), Is(Reason::LimitExceeded));
  const PutOperation twice{.key = "a", .value = "x"};
  EXPECT_THAT(kv.commit({{}, {twice, twice}, {}}).status(), Is(Reason::DuplicateKey));
  EXPECT_THAT(kv.commit({{}, std::vector<Operation>(129, Operation{RangeOperation{.key = "a"}}), {}}).status(),
              Is(Reason::TooManyOps));
  EXPECT_THAT(kv.put("a", "x", {.fence = Fence{.lock = "billing", .token = Token(5)}}).status(), Is(Reason::Fenced));
  Watch empty(cluster_[1], {.key = "b", .end = "a"});
  EXPECT_THAT(empty.next(kPatience).status(), Is(Reason::EmptyRange));
  Watch below(cluster_[1], {.key = "a", .from = Revision(1)});
  const absl::Status ended = below.next(kPatience).status();
  EXPECT_THAT(ended, Is(Reason::Compacted));
  EXPECT_EQ(revision_of(ended), newest);
}

TEST_F(BadCallTest, EveryRefusalOfCoordinationIsASentence) {
  Session me = cluster_.session(1);
  EXPECT_THAT(Semaphore(me, "permits").try_acquire().status(), Is(Reason::NotFound));
  EXPECT_THAT(Semaphore(me, "permits").try_acquire({.permits = 0}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(Semaphore(me, "permits").remove(), Is(Reason::NotFound));
  EXPECT_THAT(Latch(me, "latch").wait(kPatience), Is(Reason::NotFound));
  EXPECT_THAT(Latch(me, "latch").create(1), IsOk());
  EXPECT_THAT(Latch(me, "latch").create(1), Is(Reason::AlreadyExists));
  EXPECT_THAT(Barrier(me, "barrier").open(), Is(Reason::NotFound));
  EXPECT_THAT(Group(me, "group").leave(), Is(Reason::NotFound));
  Counter counter(cluster_[1], "counter");
  EXPECT_THAT(counter.set(std::numeric_limits<int64_t>::max()).status(), IsOk());
  EXPECT_THAT(counter.add(1).status(), Is(Reason::CounterOverflow));
  EXPECT_THAT(Leases(cluster_[1]).renew(LeaseId(999'999)).status(), Is(Reason::LeaseNotFound));
  EXPECT_THAT(Leases(cluster_[1]).grant(0s).status(), Is(Reason::InvalidArgument));
}

TEST_F(BadCallTest, EveryRefusalOfMembersAndOwnMachinesIsASentence) {
  EXPECT_THAT(cluster_[1].change_membership({}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].change_membership(MembershipChange().remove(9)).status(), Is(Reason::MemberNotFound));
  EXPECT_THAT(cluster_[1].change_membership(MembershipChange().remove(1)).status(), Is(Reason::NotEnoughVoters));
  EXPECT_THAT(cluster_[1].change_membership(MembershipChange().add(1, "127.0.0.1:1")).status(), Is(Reason::AlreadyExists));
  EXPECT_THAT(cluster_[1].transfer_leadership(9), Is(Reason::MemberNotFound));
  EXPECT_THAT(cluster_[1].transfer_leadership(0), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].propose(MachineId(17), "x").status(), Is(Reason::Unsupported));
  EXPECT_THAT(cluster_[1].query(MachineId(17), "x").status(), Is(Reason::Unsupported));
}

// A caller that waits for an impossible leader learns who is missing.
TEST(BadClusterTest, ACallThatFindsNoLeaderSaysWhoIsMissing) {
  Cluster cluster;
  cluster.open_all();
  cluster.close(2);
  cluster.close(3);
  absl::Status put = cluster[1].put("k", "v", {.timeout = 1s}).status();
  while (reason_of(put) != Reason::NoLeader) put = cluster[1].put("k", "v", {.timeout = 1s}).status();
  EXPECT_THAT(put, Is(Reason::NoLeader));
  EXPECT_THAT(std::string(put.message()), AllOf(HasSubstr("2 of 3 voters are missing"), HasSubstr("replica 3 at")));
}

}  // namespace
}  // namespace coordkit::testkit
