// Backups of directories at rest, and the clusters made from them, judged by what these answer.
#include <set>

#include "coordkit/operate/inspect.h"
#include "examples/02_ledger/ledger.h"
#include "tests/unit/backup/scene.h"
#include "tests/unit/storage/file_size_limit.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string sentence(const absl::Status& status) { return std::string(sentence_of(status)); }

class BackupTest : public ::testing::Test {
 protected:
  // Runs one replica and stops it again: its directory, and where the backup goes.
  void fill(int keys) {
    ASSERT_NO_FATAL_FAILURE(original.open(busy(original.options(1))));
    ASSERT_THAT(original[1].wait_ready(kPatience), IsOk());
    ASSERT_NO_FATAL_FAILURE(put_keys(original[1], 0, keys));
  }
  std::string directory() const { return original.options(1).data_dir; }
  void make_backup() {
    const auto made = backup_directory(directory(), file);
    ASSERT_THAT(made.status(), IsOk());
  }

  Cluster original{1};
  Folder folder;
  const std::string file = folder.path() / "backup";
};

TEST_F(BackupTest, ARestoredClusterHasTheKeysAndServes) {
  ASSERT_NO_FATAL_FAILURE(fill(50));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(3);
  const auto report = restore_backup(file, restored.restore_options());
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_EQ(report->cluster, "test");
  EXPECT_EQ(std::set<StoreId>(report->stores.begin(), report->stores.end()).size(), 3u);
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  for (uint64_t id = 1; id <= 3; ++id) expect_keys(restored[id], 50);
  ASSERT_NO_FATAL_FAILURE(put_keys(restored[2], 50, 10));
  for (uint64_t id = 1; id <= 3; ++id) expect_keys(restored[id], 60);
}

// Covers: INV_L04
TEST_F(BackupTest, TokensAndRevisionsOfTheNewClusterAreAboveAllOfTheFormer) {
  ASSERT_NO_FATAL_FAILURE(fill(20));
  Session session = original.session(1);
  Token highest;
  for (int i = 0; i < 5; ++i) {
    auto grant = session.acquire("lock-" + std::to_string(i), {.timeout = kPatience});
    ASSERT_THAT(grant.status(), IsOk());
    highest = grant->token();
  }
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  // The backup does not know this: the old cluster continued.
  ASSERT_NO_FATAL_FAILURE(original.open(busy(original.options(1))));
  ASSERT_THAT(original[1].wait_ready(kPatience), IsOk());
  Revision last;
  for (int i = 0; i < 20; ++i) last = original[1].put("later", "lost")->revision;
  auto later = original.session(1).acquire("later", {.timeout = kPatience});
  ASSERT_THAT(later.status(), IsOk());
  highest = std::max(highest, later->token());
  original.close(1);

  RestoredCluster restored(1);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  const auto put = restored[1].put("first", "new");
  ASSERT_THAT(put.status(), IsOk());
  EXPECT_GT(put->revision, last);
  auto fresh = restored[1].open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(fresh.status(), IsOk());
  auto grant = fresh->acquire("lock-0", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_GT(grant->token(), highest);
  RangeOperation past = RangeOperation::prefix("key-");
  past.revision = last;
  EXPECT_THAT(Kv(restored[1]).range(past).status(), Is(Reason::Compacted))
      << "a former revision is no revision of this cluster";
  EXPECT_FALSE(restored[1].get("later")->entry);
}

TEST_F(BackupTest, KeysKeepTheirCreationAndGoOnCounting) {
  ASSERT_NO_FATAL_FAILURE(fill(0));
  ASSERT_THAT(original[1].put("a", "1").status(), IsOk());
  ASSERT_THAT(original[1].put("a", "2").status(), IsOk());
  ASSERT_THAT(original[1].put("gone", "1").status(), IsOk());
  ASSERT_THAT(original[1].erase("gone").status(), IsOk());
  ASSERT_THAT(original[1].put("coordkit.restored", "somebody's own").status(), IsOk());
  const KeyValue before = *original[1].get("a")->entry;
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(1);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  EXPECT_EQ(restored[1].get("a")->entry, before);
  EXPECT_FALSE(restored[1].get("gone")->entry);
  EXPECT_EQ(restored[1].get("coordkit.restored")->entry->value, "somebody's own");
  EXPECT_EQ(Kv(restored[1]).range(RangeOperation::all())->entries.size(), 2u);
  ASSERT_THAT(restored[1].put("a", "3").status(), IsOk());
  EXPECT_EQ(restored[1].get("a")->entry->version, 3u);
  EXPECT_EQ(restored[1].get("a")->entry->create, before.create);
}

TEST_F(BackupTest, SessionsOfTheFormerClusterEndByTheirOwnRulesAndFreeWhatTheyHeld) {
  ASSERT_NO_FATAL_FAILURE(fill(0));
  Session holder = original.session(1, 2s);
  auto held = holder.acquire("printer", {.timeout = kPatience});
  ASSERT_THAT(held.status(), IsOk());
  ASSERT_THAT(original[1].put("plain", "stays").status(), IsOk());
  original.close(1);  // the session is not closed: its process ended
  ASSERT_NO_FATAL_FAILURE(make_backup());

  RestoredCluster restored(1);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  auto next = restored[1].open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(next.status(), IsOk());
  auto grant = next->acquire("printer", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_GT(grant->token(), held->token());
  EXPECT_THAT(restored[1].session_info(holder.id()).status(), Is(Reason::SessionNotFound));
  EXPECT_EQ(restored[1].get("plain")->entry->value, "stays");
}

TEST_F(BackupTest, ANewMemberIsSentTheRestoredState) {
  ASSERT_NO_FATAL_FAILURE(fill(30));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(2);
  RestoreOptions alone = restored.restore_options();
  alone.members.pop_back();
  ASSERT_THAT(restore_backup(file, alone).status(), IsOk());
  ReplicaOptions first = restored.options(1);
  first.members.pop_back();
  ASSERT_NO_FATAL_FAILURE(restored.open(first));
  ASSERT_THAT(restored[1].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open(restored.options(2)));
  ASSERT_THAT(restored[1].change_membership(MembershipChange().add(2, restored.members()[1].address)).status(), IsOk());
  ASSERT_THAT(restored[2].wait_ready(kPatience), IsOk());
  expect_keys(restored[2], 30);
  restored.close(2);
  ASSERT_NO_FATAL_FAILURE(restored.open(restored.options(2)));
  ASSERT_THAT(restored[2].wait_ready(kPatience), IsOk());
  expect_keys(restored[2], 30);
}

// The old member answers at an address that the new cluster names, with its old directory.
TEST_F(BackupTest, AFormerMemberCannotTakeANewOnesPlace) {
  ASSERT_NO_FATAL_FAILURE(fill(10));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(3);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open(1));
  ReplicaOptions old = restored.options(2);
  old.data_dir = directory();
  old.id = 1;  // as in the directory
  old.listen = restored.members()[1].address;
  const auto impostor = Replica::open(std::move(old));
  ASSERT_THAT(impostor.status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open(3));
  for (const uint64_t id : {1, 3}) ASSERT_THAT(restored[id].wait_ready(kPatience), IsOk());
  ASSERT_THAT((*impostor)->wait_ready(kPatience), IsOk()) << "of its own cluster it is the only voter";
  ASSERT_THAT((*impostor)->put("former", "only there").status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(put_keys(restored[1], 10, 5));
  expect_keys(restored[3], 15);
  expect_keys(**impostor, 10);
  EXPECT_FALSE(restored[3].get("former")->entry);
}

TEST_F(BackupTest, ARestoredClusterCanBeBackedUpAndRestoredAgain) {
  ASSERT_NO_FATAL_FAILURE(fill(10));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster once(1), twice(1);
  ASSERT_THAT(restore_backup(file, once.restore_options()).status(), IsOk());
  const std::string untouched = folder.path() / "untouched";
  ASSERT_THAT(backup_directory(once.members()[0].directory, untouched).status(), IsOk());  // before any replica started on it
  ASSERT_NO_FATAL_FAILURE(once.open_all());
  ASSERT_NO_FATAL_FAILURE(put_keys(once[1], 10, 5));
  const Revision last = once[1].put("last", "of the second")->revision;
  once.close(1);
  const std::string second = folder.path() / "second";
  ASSERT_THAT(backup_directory(once.members()[0].directory, second).status(), IsOk());
  ASSERT_THAT(restore_backup(second, twice.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(twice.open_all());
  expect_keys(twice[1], 15);
  EXPECT_GT(twice[1].put("first", "of the third")->revision, last);
}

// ---- refusals

TEST_F(BackupTest, ADirectoryInUseIsRefused) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  EXPECT_THAT(backup_directory(directory(), file).status(), Is(Reason::InUse));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(BackupTest, ABackupNeverReplacesAFile) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  original.close(1);
  write_file(file, "mine");
  EXPECT_THAT(backup_directory(directory(), file).status(), Is(Reason::AlreadyExists));
  EXPECT_EQ(read_file(file), "mine");
}

// It was made there, and the next start refused the directory as foreign.
// Covers: FLT_D13
TEST_F(BackupTest, ABackupIsNotMadeInADataDirectory) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  const fs::path data = directory();
  EXPECT_THAT(original[1].backup(data / "monday").status(), Is(Reason::InvalidArgument));
  original.close(1);
  for (const char* name : {"monday", "log/monday", "state/../monday", "log/../state/monday"}) {
    EXPECT_THAT(backup_directory(directory(), data / name).status(), Is(Reason::InvalidArgument)) << name;
  }
  EXPECT_THAT(backup_directory(directory(), data / "../monday").status(), IsOk());
  EXPECT_THAT(inspect_directory(directory())->problems, IsEmpty());
}

// Covers: FLT_D13
TEST_F(BackupTest, ADirectoryIsNotRestoredIntoADataDirectory) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  for (const char* name : {"new", "log/new", "state/../new"}) {
    const std::string into = fs::path(directory()) / name;
    EXPECT_THAT(restore_backup(file, {.members = {{1, "localhost:1", into}}}).status(), Is(Reason::InvalidArgument)) << name;
  }
  EXPECT_THAT(inspect_directory(directory())->problems, IsEmpty());
}

// The file of the shorter name was taken for what an interrupted backup had left, and removed.
TEST_F(BackupTest, ANameWithAZeroByteIsRefusedAndNoOtherFileIsMeant) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  original.close(1);
  write_file(file, "mine");
  EXPECT_THAT(backup_directory(directory(), file + '\0' + "x").status(), Is(Reason::InvalidArgument));
  ASSERT_TRUE(fs::exists(file));
  EXPECT_EQ(read_file(file), "mine");
}

TEST_F(BackupTest, ARestoreThatIsRefusedLeavesNoDirectory) {
  ASSERT_NO_FATAL_FAILURE(fill(5));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(2);
  const fs::path second = restored.members()[1].directory;
  fs::create_directory(second);
  write_file(second / "mine", "mine");
  EXPECT_THAT(restore_backup(file, restored.restore_options()).status(), Is(Reason::AlreadyExists));
  EXPECT_EQ(tree(restored.folder()), (std::map<std::string, std::string>{{"new-2", "a directory"}, {"new-2/mine", "mine"}}));
  fs::remove(second / "mine");
  EXPECT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk()) << "an empty directory is as good as none";
}

// The directory in which it failed stayed, and was in the way of the next try.
TEST_F(BackupTest, ARestoreThatFindsNoRoomForAnIdentityLeavesNoDirectory) {
  ASSERT_NO_FATAL_FAILURE(fill(5));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(2);
  absl::Status refused;
  {
    const FileSizeLimit limit(16);
    refused = restore_backup(file, restored.restore_options()).status();
  }
  EXPECT_THAT(refused, Is(Reason::LimitExceeded));
  EXPECT_THAT(tree(restored.folder()), IsEmpty());
  EXPECT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
}

// The unfinished work of another restore is not this one's to remove.
TEST_F(BackupTest, ARestoreLeavesWhatAnotherOneHasBegunAsItIs) {
  ASSERT_NO_FATAL_FAILURE(fill(5));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(2);
  const fs::path begun = restored.members()[1].directory + ".restoring";
  fs::create_directory(begun);
  write_file(begun / "identity", "another's");
  const absl::Status refused = restore_backup(file, restored.restore_options()).status();
  EXPECT_THAT(refused, Is(Reason::AlreadyExists));
  EXPECT_THAT(sentence(refused), HasSubstr(begun.string() + " is in the way"));
  EXPECT_EQ(tree(restored.folder()), (std::map<std::string, std::string>{{"new-2.restoring", "a directory"},
                                                                         {"new-2.restoring/identity", "another's"}}));
}

TEST_F(BackupTest, ATokenBaseBelowWhatWasGrantedIsRefused) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  Session session = original.session(1);
  const auto grant = session.acquire("a", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(1);
  RestoreOptions options = restored.restore_options();
  options.token_base = grant->token().value() - 1;  // as from a clock that is behind
  const absl::Status refused = restore_backup(file, options).status();
  EXPECT_THAT(refused, Is(Reason::InvalidArgument));
  EXPECT_THAT(sentence(refused), HasSubstr("clock"));
  EXPECT_THAT(tree(restored.folder()), IsEmpty());
}

// Every replica of the new cluster stopped at its first session, at each start again.
TEST_F(BackupTest, ATokenBaseThatLeavesNoTokensIsRefused) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  RestoredCluster restored(1);
  RestoreOptions options = restored.restore_options();
  constexpr uint64_t kEnd = (uint64_t{1} << 63) - (uint64_t{1} << 56);
  for (const uint64_t base : {kEnd, (uint64_t{1} << 63) - 2}) {
    options.token_base = base;
    EXPECT_THAT(restore_backup(file, options).status(), Is(Reason::InvalidArgument)) << base;
    EXPECT_THAT(tree(restored.folder()), IsEmpty());
  }
  options.token_base = kEnd - 1;
  ASSERT_THAT(restore_backup(file, options).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  const auto session = restored[1].open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(session.status(), IsOk());
  EXPECT_GE(session->id().value(), kEnd);
}

TEST_F(BackupTest, MembersThatMakeNoSenseAreAllTold) {
  const auto refused =
      restore_backup(file, {.members = {{0, "a:1", "x"}, {2, "b:1", "y"}, {2, "b:1", "y/"}, {3, "", ""}}}).status();
  EXPECT_THAT(refused, Is(Reason::InvalidArgument));
  EXPECT_THAT(sentence(refused), AllOf(HasSubstr("id 0"), HasSubstr("named twice"), HasSubstr("address b:1"),
                                       HasSubstr("directory y"), HasSubstr("no address"), HasSubstr("no directory")));
  EXPECT_THAT(restore_backup(file, {}).status(), Is(Reason::InvalidArgument));
}

TEST_F(BackupTest, EveryDamagedBackupIsRefusedAndLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(fill(40));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  const std::string whole = read_file(file);
  const std::string damaged = folder.path() / "damaged";
  RestoredCluster restored(1);
  const auto expect_refused = [&](const std::string& bytes, const std::string& how) {
    write_file(damaged, bytes);
    const absl::Status refused = restore_backup(damaged, restored.restore_options()).status();
    EXPECT_FALSE(refused.ok()) << how;
    EXPECT_EQ(fault_of_sentence(refused), "") << how << ": " << refused;
    EXPECT_THAT(tree(restored.folder()), IsEmpty()) << how;
  };
  for (size_t at = 0; at < whole.size(); at += 1 + at / 64) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    expect_refused(flipped, "a bit at " + std::to_string(at));
    expect_refused(whole.substr(0, at), "cut at " + std::to_string(at));
  }
  expect_refused(whole + '\0', "a byte more");
  expect_refused(std::string(5000, 'x'), "another file");
  EXPECT_THAT(check_backup(file).status(), IsOk());
  EXPECT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
}

// Covers: FLT_D14
TEST_F(BackupTest, ABackupOfANewerVersionIsToldApart) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  original.close(1);
  ASSERT_NO_FATAL_FAILURE(make_backup());
  std::string newer = read_file(file);
  newer[8] = 2;
  write_file(file, newer);
  EXPECT_THAT(check_backup(file).status(), Is(Reason::NewerFormat));
}

// ---- machines of the host

class LedgerBackupTest : public BackupTest {
 protected:
  std::vector<OwnMachine> ledger() const {
    return {{.id = example::kLedger, .make = [] { return std::make_unique<example::Ledger>(); }}};
  }
  void deposit(const ReplicaOptions& options) {
    ASSERT_NO_FATAL_FAILURE(original.open(options));
    ASSERT_THAT(original[1].wait_ready(kPatience), IsOk());
    for (int i = 0; i < 20; ++i) {
      ASSERT_THAT(original[1].propose(example::kLedger, "deposit anna 10", {.timeout = kPatience}).status(), IsOk());
    }
    original.close(1);
  }
  void expect_balance(const std::string& balance) {
    RestoredCluster restored(1);
    ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
    ReplicaOptions options = restored.options(1);
    options.machines = ledger();
    ASSERT_NO_FATAL_FAILURE(restored.open(options));
    ASSERT_THAT(restored[1].wait_ready(kPatience), IsOk());
    const auto answer = restored[1].query(example::kLedger, "anna", {.timeout = kPatience});
    ASSERT_THAT(answer.status(), IsOk());
    EXPECT_EQ(answer->bytes, balance);
  }
};

TEST_F(LedgerBackupTest, AMachineOfTheHostComesAlong) {
  ReplicaOptions options = original.options(1);
  options.machines = ledger();
  ASSERT_NO_FATAL_FAILURE(deposit(options));
  const absl::Status without = backup_directory(directory(), file).status();
  EXPECT_THAT(without, Is(Reason::MachineMissing)) << "its commands are in the log alone";
  ASSERT_THAT(backup_directory(directory(), file, {.machines = ledger()}).status(), IsOk());
  expect_balance("200");
}

TEST_F(LedgerBackupTest, RowsOfAMachineThatIsNotAtHandAreCopied) {
  ReplicaOptions options = original.options(1);
  options.machines = ledger();
  options.checkpoint_entries = 1;
  ASSERT_NO_FATAL_FAILURE(deposit(options));
  for (int round = 0; round < 100; ++round) {  // until a checkpoint was durable before the end
    const auto report = inspect_directory(directory());
    ASSERT_THAT(report.status(), IsOk());
    if (report->state) break;
    ASSERT_NO_FATAL_FAILURE(original.open(options));
    ASSERT_THAT(original[1].wait_ready(kPatience), IsOk());
    ASSERT_THAT(original[1].put("filler", std::to_string(round)).status(), IsOk());
    original.close(1);
  }
  ASSERT_THAT(backup_directory(directory(), file).status(), IsOk());
  expect_balance("200");
}

}  // namespace
}  // namespace coordkit::testkit
