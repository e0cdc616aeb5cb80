// Three replicas with a socket for operators each, and visitors of all kinds.
#include "replica/operate/admin_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>
#include <future>
#include <thread>

#include "base/cells.h"
#include "base/random.h"
#include "coordkit/keys/kv.h"
#include "replica/operate/admin_commands.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Cells = std::vector<std::string>;

Descriptor connect_to(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return socket;
}

struct Answer {
  std::vector<Cells> fields;  // the name, without its kind, and the cells
  Cells columns;
  std::vector<Cells> rows;
  Cells notes;
  std::string end;  // "ok", or the sentence of the error; empty: it broke off

  // The first cell of this field.
  std::string of(const std::string& what) const {
    for (const Cells& field : fields) {
      if (field[0] == what && field.size() > 1) return field[1];
    }
    return "(no " + what + ")";
  }
};

class Visitor {
 public:
  explicit Visitor(const std::string& path) : socket_(connect_to(path)) {}
  bool connected() const { return static_cast<bool>(socket_); }
  void say(std::string_view bytes) const { ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void hang_up() { socket_ = Descriptor(); }
  Cells line() {
    size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      char bytes[4096];
      const ssize_t now = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (now <= 0) return {};
      received_.append(bytes, static_cast<size_t>(now));
    }
    Cells cells = *split_cells(std::string_view(received_).substr(0, end));
    received_.erase(0, end + 1);
    return cells;
  }
  Answer answer() {
    Answer answer;
    for (Cells cells = line(); !cells.empty(); cells = line()) {
      const std::string kind = cells.front();
      cells.erase(cells.begin());
      if (kind == "field") {
        cells[0] = cells[0].substr(0, cells[0].find(':'));
        answer.fields.push_back(cells);
      }
      if (kind == "columns") answer.columns = cells;
      if (kind == "row") answer.rows.push_back(cells);
      if (kind == "note") answer.notes.push_back(cells.at(0));
      if (kind == "ok") answer.end = "ok";
      if (kind == "error") answer.end = cells.at(1);
      if (!answer.end.empty()) break;
    }
    return answer;
  }
  Answer ask(const Cells& words) {
    say(join_cells(words) + "\n");
    return answer();
  }

 private:
  Descriptor socket_;
  std::string received_;
};

class AdminSocketTest : public ::testing::Test {
 protected:
  std::string path(uint64_t id) const { return (folder_.path() / ("admin-" + std::to_string(id))).string(); }
  ReplicaOptions options(uint64_t id) const {
    ReplicaOptions options = cluster_.options(id);
    options.admin_socket = path(id);
    return options;
  }
  void open_all() {
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster_.open(options(id)));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  }

  // Once there is room: the thread of a visitor that left needs a moment.
  Visitor admitted() {
    while (true) {
      Visitor visitor(path(1));
      if (visitor.ask({"status"}).end == "ok") return visitor;
    }
  }

  Folder folder_;
  Cluster cluster_;
};

TEST_F(AdminSocketTest, SaysWhatTheReplicaKnows) {
  open_all();
  Visitor visitor(path(2));
  const Answer status = visitor.ask({"status"});
  EXPECT_EQ(status.end, "ok");
  EXPECT_EQ(status.of("replica"), "2");
  EXPECT_EQ(status.of("cluster"), "test");
  EXPECT_EQ(status.of("state"), "Ready");
  const std::string leader = status.of("leader");
  EXPECT_EQ(leader, std::to_string(cluster_[2].health().leader.value()));
  const Answer members = visitor.ask({"members"});
  ASSERT_EQ(members.rows.size(), 3u);
  for (const Cells& row : members.rows) {
    ASSERT_EQ(row.size(), members.columns.size());
    EXPECT_EQ(row[3], row[0] == leader ? "true" : "false");
    EXPECT_EQ(row[4], row[0] == "2" ? "true" : "false");
  }
  const Answer metrics = visitor.ask({"metrics"});
  EXPECT_THAT(metrics.rows, Contains(ElementsAre(HasSubstr("coordkit_log_writes_total{replica=\"2\"}"))));
  EXPECT_EQ(visitor.ask({"scrub"}).end, "ok");
}

TEST_F(AdminSocketTest, ShowsLocksQueuesSessionsAndKeysAndEndsASession) {
  open_all();
  Session holder = cluster_.session(1);
  Session waiter = cluster_.session(3);
  absl::StatusOr<Grant> grant = holder.acquire("jobs/\t7", {.timeout = kPatience, .owner = "nightly"});
  ASSERT_THAT(grant.status(), IsOk());
  std::thread waiting([&] { EXPECT_THAT(waiter.acquire("jobs/\t7", {.timeout = kPatience}).status(), IsOk()); });
  Visitor visitor(path(2));
  while (visitor.ask({"queue", "jobs/\t7"}).rows.empty()) std::this_thread::sleep_for(5ms);
  const std::string session = std::to_string(holder.id().value());
  const std::string token = std::to_string(grant->token().value());
  for (const Cells& words : {Cells{"locks", "jobs/\t7"}, Cells{"locks"}}) {
    const Answer locks = visitor.ask(words);
    ASSERT_EQ(locks.rows.size(), 1u) << locks.end;
    EXPECT_EQ(locks.rows[0][0], "jobs/\t7");
    EXPECT_EQ(locks.rows[0][2], session);
    EXPECT_EQ(locks.rows[0][3], "nightly");
    EXPECT_EQ(locks.rows[0][4], token);
  }
  EXPECT_THAT(visitor.ask({"locks", "jobs/\t7"}).notes, ElementsAre("1 wait for it"));
  EXPECT_EQ(visitor.ask({"sessions"}).rows.size(), 2u);
  EXPECT_THAT(visitor.ask({"force-release", "jobs/\t7", "1"}).end, HasSubstr("NotOwner"));
  const Answer ended = visitor.ask({"force-release", "jobs/\t7", token});
  EXPECT_EQ(ended.end, "ok");
  EXPECT_THAT(ended.rows, ElementsAre(ElementsAre(session)));
  waiting.join();
  EXPECT_EQ(visitor.ask({"kill-session", std::to_string(waiter.id().value())}).end, "ok");
  EXPECT_THAT(visitor.ask({"kill-session", "12345"}).end, HasSubstr("SessionNotFound"));

  for (const char* key : {"a/1", "a/2", "b/1"}) ASSERT_THAT(cluster_[1].put(key, std::string("x\n\0y", 4)).status(), IsOk());
  const Answer keys = visitor.ask({"keys", "a/"});
  ASSERT_EQ(keys.rows.size(), 2u);
  EXPECT_EQ(keys.rows[1][0], "a/2");
  EXPECT_EQ(keys.rows[1][1], std::string("x\n\0y", 4));
  const Answer few = visitor.ask({"keys", "", "1"});
  EXPECT_EQ(few.rows.size(), 1u);
  EXPECT_THAT(few.notes, ElementsAre(HasSubstr("of 3 keys")));
}

TEST_F(AdminSocketTest, ChangesMembersAndHandsLeadershipOn) {
  open_all();
  Visitor visitor(path(1));
  const std::string leader = visitor.ask({"status"}).of("leader");
  const std::string other = leader == "3" ? "2" : "3";
  EXPECT_EQ(visitor.ask({"transfer", other}).end, "ok");
  EXPECT_EQ(visitor.ask({"status"}).of("leader"), other);
  EXPECT_EQ(visitor.ask({"demote", leader}).end, "ok");
  const Answer promoted = visitor.ask({"promote", leader});
  EXPECT_EQ(promoted.end, "ok");
  EXPECT_EQ(promoted.rows.size(), 1u);
  EXPECT_THAT(visitor.ask({"remove", "9"}).end, HasSubstr("MemberNotFound"));
  EXPECT_THAT(visitor.ask({"add", "4", "nowhere"}).end, HasSubstr("InvalidArgument"));
}

// Covers: FLT_M11
TEST_F(AdminSocketTest, AChangeOfMembersEndsWhenItsVisitorHangsUp) {
  open_all();
  Visitor mistaken(path(1));
  mistaken.say("replace\t3\t3\tlocalhost:1\n");
  Visitor visitor(path(1));
  EXPECT_TRUE(eventually([&] { return visitor.ask({"status"}).of("change").starts_with("replica 3 still runs"); }));
  EXPECT_THAT(visitor.ask({"remove", "2"}).end, HasSubstr("ChangeInProgress"));
  mistaken.hang_up();
  EXPECT_TRUE(eventually([&] { return visitor.ask({"status"}).of("change") == "(no change)"; }));
  EXPECT_EQ(visitor.ask({"demote", "2"}).end, "ok");
}

TEST_F(AdminSocketTest, AWatchTellsChangesUntilItsReaderLeaves) {
  open_all();
  Visitor watching(path(1));
  watching.say("watch\ta/\n");
  EXPECT_THAT(watching.line(), Contains("columns"));
  // The watch begins after its columns were sent: its first rows may be any of these.
  std::atomic<bool> done{false};
  std::thread writing([&] {
    while (!done) EXPECT_THAT(cluster_[2].put("a/1", "v").status(), IsOk());
  });
  Cells row = watching.line();
  done = true;
  writing.join();
  ASSERT_EQ(row.size(), 5u);
  EXPECT_EQ(row[2], "put");
  EXPECT_EQ(row[3], "a/1");
  ASSERT_THAT(cluster_[2].erase("a/1").status(), IsOk());
  while (row.size() == 5 && row[2] == "put") row = watching.line();
  EXPECT_THAT(row, Contains("delete"));
  watching.hang_up();
  Visitor later(path(1));
  EXPECT_EQ(later.ask({"status"}).end, "ok");
}

// Leaves with the first row.
class LeavingReader final : public AdminReply {
 public:
  void field(std::string, std::vector<std::string>) override {}
  void columns(std::vector<std::string>) override {}
  void row(std::vector<std::string>) override { ++rows; }
  void note(std::string) override {}
  bool gone() override { return rows > 0; }
  int rows = 0;
};

// Each lock cost a look into the replica until the last one, in the place of a visitor.
TEST_F(AdminSocketTest, ALongAnswerEndsWhenItsReaderLeaves) {
  ASSERT_NO_FATAL_FAILURE(open_all());
  std::vector<Session> sessions;
  std::vector<absl::StatusOr<Grant>> grants;
  for (int i = 0; i < 5; ++i) {
    sessions.push_back(cluster_.session(1));
    grants.push_back(sessions.back().acquire("lock-" + std::to_string(i), {.timeout = kPatience}));
    ASSERT_THAT(grants.back().status(), IsOk());
  }
  for (const char* command : {"locks", "sessions"}) {
    LeavingReader reader;
    EXPECT_THAT(run_admin_command(cluster_[1], {1, "test"}, Cells{command}, reader), Is(Reason::Cancelled));
    EXPECT_EQ(reader.rows, 1) << command;
  }
}

// At its pace of a byte a second it ends in some hours. Eight that were interrupted had all places, also that for a status.
TEST_F(AdminSocketTest, AScrubIsNotWaitedForOnceItsReaderHasLeft) {
  ReplicaOptions slow = options(1);
  slow.scrub_bytes_per_second = 1;
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(slow)));
  LeavingReader reader;
  reader.row({});
  EXPECT_THAT(run_admin_command(cluster_[1], {1, "test"}, Cells{"scrub"}, reader), Is(Reason::Cancelled));
  std::list<Visitor> visitors;
  for (size_t i = 0; i < AdminSocket::kVisitorsMax; ++i) {
    visitors.push_back(admitted());
    visitors.back().say("scrub\n");
  }
  for (Visitor& visitor : visitors) visitor.hang_up();
  EXPECT_EQ(admitted().ask({"status"}).end, "ok");
}

// Covers: FLT_A01
TEST_F(AdminSocketTest, VisitorsOfAReplicaThatIsDestroyedInACallbackAreServedUntilItIsClosed) {
  open_all();
  Visitor watching(path(1));
  watching.say("watch\ta/\n");
  EXPECT_THAT(watching.line(), Contains("columns"));
  std::unique_ptr<Replica> replica = cluster_.take(1);
  std::promise<void> begun, destroyed, asked;
  replica->put_async("k", "v", {.timeout = kPatience}, [&](const absl::StatusOr<PutResult>&) {
    begun.get_future().wait();
    replica.reset();
    destroyed.set_value();
    asked.get_future().wait();
  });
  begun.set_value();
  destroyed.get_future().wait();
  Visitor late(path(1));
  late.say("status\n");
  asked.set_value();
  EXPECT_TRUE(eventually([&] { return !Visitor(path(1)).connected(); }));
}

TEST_F(AdminSocketTest, WrongWordsAreRefusedWithASentenceAndTheTalkGoesOn) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  Visitor visitor(path(1));
  EXPECT_THAT(visitor.ask({"sing"}).end, HasSubstr("knows no command 'sing'"));
  EXPECT_THAT(visitor.ask({"queue"}).end, HasSubstr("queue takes NAME"));
  EXPECT_THAT(visitor.ask({"status", "now"}).end, HasSubstr("status takes no words"));
  EXPECT_THAT(visitor.ask({"remove", "-1"}).end, HasSubstr("whole number"));
  EXPECT_THAT(visitor.ask({"kill-session", "0"}).end, HasSubstr("from 1 up"));
  EXPECT_THAT(visitor.ask({""}).end, HasSubstr("knows no command ''"));
  visitor.say("stat\\qus\n");
  EXPECT_THAT(visitor.answer().end, HasSubstr("escapes nothing"));
  EXPECT_EQ(visitor.ask({"status"}).of("state"), "WaitingForMembers");
}

TEST_F(AdminSocketTest, HostileVisitorsCostNobodyAnything) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    Visitor visitor(path(1));
    std::string noise(random.below(3000), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.below(256));
    visitor.say(noise);
  }
  Visitor endless = admitted();
  std::thread talking([&] { endless.say(std::string(1 << 20, 'x')); });
  const Answer answer = endless.answer();
  endless.hang_up();
  talking.join();
  EXPECT_THAT(answer.end, HasSubstr("64 KiB at most"));
  EXPECT_EQ(admitted().ask({"status"}).end, "ok");
}

TEST_F(AdminSocketTest, VisitorsThatComeAndGoAllAtOnceEndNothing) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  std::vector<std::thread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([this] {
      for (int visit = 0; visit < 300; ++visit) EXPECT_TRUE(Visitor(path(1)).connected());
    });
  }
  for (std::thread& one : crowd) one.join();
  EXPECT_EQ(admitted().ask({"status"}).end, "ok");
}

TEST_F(AdminSocketTest, OneVisitorTooManyIsToldSoAndRoomComesBack) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  std::list<Visitor> visitors;
  for (size_t i = 0; i < AdminSocket::kVisitorsMax; ++i) {
    visitors.emplace_back(path(1)).say("watch\n");
    EXPECT_THAT(visitors.back().line(), Contains("columns"));
  }
  Visitor extra(path(1));
  EXPECT_THAT(extra.answer().end, HasSubstr("answers 8 visitors"));
  visitors.pop_front();
  admitted();
}

// They locked the operator out for as long as they liked.
TEST_F(AdminSocketTest, TheVisitorThatIsSilentForLongestMakesRoomForANewOne) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  std::list<Visitor> visitors;
  for (size_t i = 0; i < AdminSocket::kVisitorsMax; ++i) {
    EXPECT_EQ(visitors.emplace_back(path(1)).ask({"status"}).end, "ok");
  }
  EXPECT_EQ(visitors.front().ask({"status"}).end, "ok") << "now the second is silent for longest";
  Visitor operators(path(1));
  EXPECT_EQ(operators.ask({"status"}).end, "ok");
  EXPECT_THAT(std::next(visitors.begin())->answer().end, HasSubstr("needs the place of this one, which was silent"));
  EXPECT_EQ(visitors.front().ask({"status"}).end, "ok");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Visitor(path(1)).ask({"status"}).end, "ok") << "however many come";
}

TEST_F(AdminSocketTest, VisitorsThatSayNothingOrHalfACommandKeepNobodyOut) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  std::list<Visitor> visitors;
  for (size_t i = 0; i < 3 * AdminSocket::kVisitorsMax; ++i) {
    visitors.emplace_back(path(1));
    if (i % 2 == 0) visitors.back().say("stat");
  }
  EXPECT_EQ(Visitor(path(1)).ask({"status"}).end, "ok");
}

TEST_F(AdminSocketTest, VisitorsThatDoNotReadTheirAnswersKeepNobodyOut) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  std::list<Visitor> visitors;
  for (size_t i = 0; i < AdminSocket::kVisitorsMax; ++i) {
    visitors.emplace_back(path(1));
    std::string many;
    for (int j = 0; j < 500; ++j) many += "metrics\n";
    visitors.back().say(many);
  }
  EXPECT_EQ(admitted().ask({"status"}).end, "ok");
}

TEST_F(AdminSocketTest, BelongsToItsOwnerAloneAndIsGoneAfterTheClose) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  struct stat info = {};
  ASSERT_EQ(::stat(path(1).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  Visitor watching(path(1));
  watching.say("watch\n");
  EXPECT_THAT(watching.line(), Contains("columns"));
  cluster_.close(1);
  while (!watching.line().empty()) {
  }
  EXPECT_FALSE(std::filesystem::exists(path(1)));
}

TEST_F(AdminSocketTest, NamedByARelativePathItIsTheOneThatIsGoneAfterTheClose) {
  const std::string elsewhere = (folder_.path() / "elsewhere").string();
  std::filesystem::create_directory(elsewhere);
  {
    const WorkingDirectory here(folder_.path());
    ReplicaOptions relative = options(1);
    relative.admin_socket = "admin-1";
    ASSERT_NO_FATAL_FAILURE(cluster_.open(relative));
  }
  EXPECT_EQ(Visitor(path(1)).ask({"status"}).end, "ok");
  std::ofstream(elsewhere + "/admin-1") << "somebody else's";
  const WorkingDirectory there(elsewhere);
  cluster_.close(1);
  EXPECT_TRUE(std::filesystem::exists(elsewhere + "/admin-1"));
  EXPECT_FALSE(std::filesystem::exists(path(1)));
}

TEST_F(AdminSocketTest, ALeftSocketIsReplacedAndNothingElseIs) {
  {
    Descriptor left(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path(1).copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
  EXPECT_EQ(Visitor(path(1)).ask({"status"}).end, "ok");

  ReplicaOptions same = options(2);
  same.admin_socket = path(1);
  EXPECT_THAT(Replica::open(same).status(), Is(Reason::InUse));
  std::ofstream(path(3)) << "notes";
  EXPECT_THAT(Replica::open(options(3)).status(), Is(Reason::ForeignData));
  EXPECT_TRUE(std::filesystem::exists(path(3)));
  ReplicaOptions too_long = options(2);
  too_long.admin_socket = std::string(108, 'p');
  EXPECT_THAT(Replica::open(too_long).status(), Is(Reason::InvalidArgument));
  ReplicaOptions nowhere = options(2);
  nowhere.admin_socket = path(2) + "/missing/socket";
  const absl::Status refused = Replica::open(nowhere).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("admin socket"));
}

// A process that was killed left it there, and the directory was refused as foreign from then on.
// Covers: FLT_D13
TEST_F(AdminSocketTest, InTheDataDirectoryThereIsNone) {
  ReplicaOptions inside = options(1);
  inside.admin_socket = inside.data_dir + "/admin";
  EXPECT_THAT(Replica::open(inside).status(), Is(Reason::InvalidArgument));
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(1)));
}

}  // namespace
}  // namespace coordkit::testkit
