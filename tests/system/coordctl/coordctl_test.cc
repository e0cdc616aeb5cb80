// The real program beside a real replica: what it prints, and its exit statuses.

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <sstream>

#include "coordkit/ports/parts.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "replica/operate/admin_socket.h"
#include "replica/operate/local_stream.h"
#include "tests/proof/conformance/state_wrapper.h"
#include "tests/support/command.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tools/support/child.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr const char* kSecret = "the secret of those without a replica";

Ran run(const std::string& arguments) { return run_command(shell_word(COORDCTL) + " " + arguments + " 2>&1"); }

class CoordctlTest : public ::testing::Test {
 protected:
  void open() {
    ReplicaOptions options = cluster_.options(1);
    options.admin_socket = socket_;
    ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  }
  Ran live(const std::string& command) const { return run("--socket " + shell_word(socket_) + " " + command); }

  Folder folder_;
  const std::string socket_ = folder_.path() / "admin";
  Cluster cluster_{1};
};

TEST_F(CoordctlTest, PrintsTablesForPeopleAndObjectsForPrograms) {
  ASSERT_NO_FATAL_FAILURE(open());
  Session session = cluster_.session(1);
  absl::StatusOr<Grant> grant = session.acquire("jobs/7", {.timeout = kPatience, .owner = "nightly \"x\"", .value = "host-1"});
  ASSERT_THAT(grant.status(), IsOk());
  const Ran table = live("locks");
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.text, MatchesRegex("lock +mode +session +owner +token +since +count +value\n"
                                       "jobs/7 +Exclusive +[0-9]+ +nightly \"x\" +[0-9]+ +[0-9]+ +1 +host-1\n"));
  const Ran objects = live("locks --json");
  const auto lock = nlohmann::json::parse(objects.text);
  EXPECT_EQ(lock["lock"], "jobs/7");
  EXPECT_EQ(lock["owner"], "nightly \"x\"");
  EXPECT_EQ(lock["token"].get<uint64_t>(), grant->token().value()) << "all digits of it";
  EXPECT_THAT(live("status").text, HasSubstr("state"));
  EXPECT_THAT(live("metrics").text, HasSubstr("coordkit_log_writes_total"));
  EXPECT_THAT(live("members --json").text, HasSubstr("\"leads\":true"));
}

TEST_F(CoordctlTest, RefusalsAreSentencesAndExitStatuses) {
  EXPECT_EQ(live("status").status, 2) << "no replica is there";
  EXPECT_THAT(live("status").text, StartsWith("coordctl: no replica answers at "));
  ASSERT_NO_FATAL_FAILURE(open());
  const Ran refused = live("kill-session 77");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.text, StartsWith("coordctl: SessionNotFound: "));
  EXPECT_EQ(live("queue").status, 3) << "a word is missing";
  EXPECT_EQ(live("sing").status, 3);
  EXPECT_THAT(live("sing").text, HasSubstr("'sing' is no command"));
  EXPECT_EQ(run("status").status, 3) << "which replica?";
}

TEST_F(CoordctlTest, WithoutAReplicaItAsksAsARemote) {
  ReplicaOptions options = cluster_.options(1);
  const std::string address = support::free_loopback_addresses(1).front();
  options.remotes = {.listen = address, .security = SharedSecret{kSecret}};
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  const std::string secret = folder_.path() / "secret";
  std::ofstream(secret) << kSecret << "\n";
  const auto remote = [&](const std::string& command) {
    return run("--remote " + address + " --cluster " + cluster_.options(1).cluster + " --secret-file " + shell_word(secret) +
               " " + command);
  };
  Session session = cluster_.session(1);
  const absl::StatusOr<Grant> grant = session.acquire("jobs/7", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  const Ran held = remote("locks --json");
  ASSERT_EQ(held.status, 0) << held.text;
  EXPECT_EQ(nlohmann::json::parse(held.text)["token"].get<uint64_t>(), grant->token().value());
  EXPECT_THAT(remote("keys").text, HasSubstr("green"));
  EXPECT_THAT(remote("sessions").text, HasSubstr(std::to_string(session.id().value())));
  const Ran state = remote("status --json");
  EXPECT_EQ(nlohmann::json::parse(state.text)["state"], "Ready") << state.text;

  const Ran at_replica = remote("backup-to /tmp/nowhere");
  EXPECT_EQ(at_replica.status, 1);
  EXPECT_THAT(at_replica.text, HasSubstr("backup-to needs a replica"));
  EXPECT_EQ(run("--remote " + address + " locks").status, 3) << "which cluster?";
  std::ofstream(secret) << "another secret, of nobody\n";
  EXPECT_EQ(remote("locks").status, 2);
}

// It made "jobs" of "[jobs]" and nothing at all of "{}", and answered as if it had been asked that.
TEST_F(CoordctlTest, AWordInBracketsIsTakenAsItStands) {
  ASSERT_NO_FATAL_FAILURE(open());
  Session session = cluster_.session(1);
  for (const char* name : {"[jobs]", "[a,b]", "{}", "%%"}) {
    const absl::StatusOr<Grant> grant = session.acquire(name, {.timeout = kPatience});
    ASSERT_THAT(grant.status(), IsOk());
    const Ran held = live("locks --json '" + std::string(name) + "'");
    ASSERT_EQ(held.status, 0) << held.text;
    ASSERT_THAT(held.text, HasSubstr("\"lock\":")) << name;
    EXPECT_EQ(nlohmann::json::parse(held.text)["lock"], name);
    ASSERT_THAT(cluster_[1].put(name, "green").status(), IsOk());
    EXPECT_THAT(live("keys '" + std::string(name) + "' 1").text, HasSubstr("green")) << name;
  }
  EXPECT_EQ(live("locks a b").status, 3) << "one name";
  EXPECT_EQ(live("keys '' 2 --json").status, 0) << "all of them";
}

TEST_F(CoordctlTest, ABackupIsMadeByTheReplicaAtWork) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  const std::string file = folder_.path() / "backup";
  const Ran made = live("backup-to " + shell_word(file) + " --json");
  EXPECT_EQ(made.status, 0) << made.text;
  const auto row = nlohmann::json::parse(made.text);
  EXPECT_EQ(row["file"], file);
  EXPECT_EQ(row["revision"], 2);
  EXPECT_EQ(run("restore --check " + shell_word(file)).status, 0);
  const Ran again = live("backup-to " + shell_word(file));
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.text, StartsWith("coordctl: AlreadyExists: "));
  const Ran relative = live("backup-to here");
  EXPECT_EQ(relative.status, 1);
  EXPECT_THAT(relative.text, HasSubstr("must begin with '/'"));
}

// A state of which a backup takes long: once it is begun, its rows come when they are wanted, and are many.
class LongState final : public StateWrapper {
 public:
  struct Moments {
    std::binary_semaphore begun{0}, wanted{0};
  };
  LongState(std::shared_ptr<DataDirectory> directory, Moments& moments) : store_(std::move(directory)), moments_(moments) {
    set_inner(store_);
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    auto intact = inner().view();
    if (!intact.ok()) return intact.status();
    return std::make_unique<View>(*std::move(intact), moments_);
  }

 private:
  class View final : public ViewWrapper {
   public:
    View(std::unique_ptr<CheckpointView> intact, Moments& moments) : ViewWrapper(std::move(intact)), moments_(moments) {}
    absl::Status scan(std::string_view prefix, Visitor visit) const override {
      if (!prefix.empty()) return inner().scan(prefix, visit);
      moments_.begun.release();
      moments_.wanted.acquire();
      absl::Status status;
      for (int i = 0; i < 100'000 && status.ok(); ++i) status = visit("row", std::string(1024, 'x'));
      return status;
    }

   private:
    Moments& moments_;
  };
  LmdbStateStore store_;
  Moments& moments_;
};

// The replica wrote it to its end, even if the caller had hung up meanwhile.
TEST_F(CoordctlTest, AnInterruptedBackupEndsSoonSaysSoAndLeavesNothing) {
  LongState::Moments moments;
  ReplicaOptions options = cluster_.options(1);
  options.admin_socket = socket_;
  options.parts.state_store = [&](const PartContext& part) -> absl::StatusOr<std::unique_ptr<StateStore>> {
    return std::make_unique<LongState>(part.directory(), moments);
  };
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  const std::filesystem::path made = folder_.path() / "made";
  std::filesystem::create_directory(made);
  const std::string said = folder_.path() / "said";
  const std::string command = "exec " + shell_word(COORDCTL) + " --socket " + shell_word(socket_) + " backup-to " +
                              shell_word(made / "backup") + " > " + shell_word(said) + " 2>&1";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    support::Child caller = support::Child::start_program("/bin/sh", {"-c", command});
    moments.begun.acquire();
    ASSERT_EQ(::kill(caller.pid(), signal), 0);
    moments.wanted.release();
    const std::optional<int> status = caller.wait(support::in(kPatience));
    std::ostringstream text;
    text << std::ifstream(said).rdbuf();
    ASSERT_TRUE(status && WIFEXITED(*status)) << text.str();
    EXPECT_EQ(WEXITSTATUS(*status), 1);
    EXPECT_THAT(text.str(), StartsWith("coordctl: Cancelled: the caller stopped waiting for this backup"));
    EXPECT_TRUE(std::filesystem::is_empty(made));
  }
}

// It had exit status 0, and a watch ran for ever where SIGPIPE is ignored, as in a service of systemd.
TEST_F(CoordctlTest, OutputThatCannotBeWrittenIsNoSuccess) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (const char* command : {"status", "status --json", "metrics"}) {
    const Ran full =
        run_command(shell_word(COORDCTL) + " --socket " + shell_word(socket_) + " " + command + " 2>&1 > /dev/full");
    EXPECT_EQ(full.status, 4) << command;
    EXPECT_THAT(full.text, HasSubstr("could not be written in full")) << command;
  }
  EXPECT_EQ(run("completion > /dev/full").status, 4);
  EXPECT_EQ(live("kill-session 77 > /dev/full").status, 1) << "what was refused stays refused";
  auto watch = std::async(std::launch::async, [this] { return live("watch > /dev/full"); });
  EXPECT_TRUE(eventually([&] {
    EXPECT_THAT(cluster_[1].put("color", "green").status(), IsOk());
    return watch.wait_for(0s) == std::future_status::ready;
  }));
  cluster_.close(1);
  EXPECT_EQ(watch.get().status, 4);
}

// Both ended with an exception that nobody caught.
TEST_F(CoordctlTest, WhatCannotBeReadOrCopiedIsASentence) {
  const Ran folder = run("check --model register " + shell_word(folder_.path()));
  EXPECT_EQ(folder.status, 3);
  EXPECT_EQ(folder.text, "coordctl: cannot read " + folder_.path().string() + ": Is a directory\n");
  EXPECT_EQ(run("check --model register - < " + shell_word(folder_.path())).status, 3);
  const Ran copy = run_command("TMPDIR=/no/such/folder " + shell_word(COORDCTL) + " inspect --read-only-copy here 2>&1");
  EXPECT_EQ(copy.status, 1);
  EXPECT_THAT(copy.text, AllOf(StartsWith("coordctl: NotFound: "), HasSubstr("TMPDIR")));
}

// Its reason was lost if the replica was quicker than the visitor.
TEST_F(CoordctlTest, AVisitorTooManyIsToldSo) {
  ASSERT_NO_FATAL_FAILURE(open());
  std::vector<LocalStream> visitors(AdminSocket::kVisitorsMax);
  for (LocalStream& visitor : visitors) {
    visitor = LocalStream::connect(socket_);
    ASSERT_TRUE(visitor.say(std::vector<std::string>{"watch"}));
    ASSERT_THAT(visitor.next().status(), IsOk());  // it has a place, and is answered
  }
  for (int i = 0; i < 20; ++i) {
    const Ran refused = live("status");
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.text, StartsWith("coordctl: TooManyRequests: this replica answers 8 visitors"));
  }
}

TEST_F(CoordctlTest, TheCompletionIsBash) {
  const std::string file = folder_.path() / "completion";
  EXPECT_EQ(run("completion > " + shell_word(file) + " && bash -n " + shell_word(file)).status, 0);
  const std::string complete =
      "bash -c " + shell_word("source " + shell_word(file) +
                              "; COMP_WORDS=(coordctl --socket x mem); COMP_CWORD=3; _coordctl; echo \"${COMPREPLY[@]}\"");
  EXPECT_EQ(run("completion > /dev/null; " + complete).text, "members\n");
}

}  // namespace
}  // namespace coordkit::testkit
