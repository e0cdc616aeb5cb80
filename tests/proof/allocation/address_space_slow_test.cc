// FLT_A18 with real processes: one member of three has 24 MiB of address space left while another writes 1,500 values of 64
// KiB.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kMembers = 3;
constexpr uint64_t kValues = 1500;
constexpr size_t kValueBytes = 64 << 10;
constexpr int kWriters = 16;
constexpr rlim_t kLeft = rlim_t{24} << 20;

std::string key_of(uint64_t number) { return absl::StrCat("value/", number); }
std::string value_of(uint64_t number) { return std::string(kValueBytes, static_cast<char>('a' + number % 26)); }

// The answer of a member.
struct Answer {
  uint64_t number = 0;
  bool leads = false;
  bool halted = false;
  char text[512] = {};
};

// A process with one replica. Between commands its own thread allocates nothing.
class Member {
 public:
  enum Command : char { Look = 'l', Write = 'w', Count = 'c', Reopen = 'o', End = 'e' };

  explicit Member(const ReplicaOptions& options) {
    EXPECT_EQ(::pipe(to_), 0);
    EXPECT_EQ(::pipe(from_), 0);
    pid_ = ::fork();
    if (pid_ == 0) work(options);
  }
  ~Member() {
    ask(End);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a member's process ended with status " << status;
    for (const int end : {to_[0], to_[1], from_[0], from_[1]}) ::close(end);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Answer hear() {
    Answer answer;
    EXPECT_EQ(::read(from_[0], &answer, sizeof answer), static_cast<ssize_t>(sizeof answer)) << "a member's process has died";
    return answer;
  }
  void order(Command command) { EXPECT_EQ(::write(to_[1], &command, 1), 1); }
  Answer ask(Command command) {
    order(command);
    return hear();
  }
  bool alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

  void limit_address_space() const {
    uint64_t pages = 0;
    std::ifstream(absl::StrCat("/proc/", pid_, "/statm")) >> pages;
    const rlim_t limit = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kLeft;
    const rlimit to{limit, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(pid_, RLIMIT_AS, &to, nullptr), 0);
  }
  void lift_limit() const {
    const rlimit to{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(pid_, RLIMIT_AS, &to, nullptr), 0);
  }

 private:
  [[noreturn]] void work(const ReplicaOptions& options) {
    std::unique_ptr<Replica> replica;
    const auto say = [this](const Answer& answer) {
      if (::write(from_[1], &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer)) ::_exit(2);
    };
    const auto open = [&] {
      Answer answer;
      replica.reset();
      absl::StatusOr<std::unique_ptr<Replica>> opened = Replica::open(options);
      absl::Status status = opened.status();
      if (opened.ok()) {
        replica = *std::move(opened);
        status = replica->wait_ready(kPatience);
      }
      std::strncpy(answer.text, status.ToString().c_str(), sizeof answer.text - 1);
      answer.halted = !status.ok();
      say(answer);
    };
    open();
    for (char command = 0; ::read(to_[0], &command, 1) == 1;) {
      if (command == Reopen) open();
      if (command == Look) say(look(*replica));
      if (command == Write) say(write_all(*replica));
      if (command == Count) say(count(*replica));
      if (command == End) {
        say({});
        replica.reset();
        ::_exit(0);
      }
    }
    ::_exit(3);
  }

  static Answer look(Replica& replica) {
    const Health health = replica.health();
    Answer answer{.leads = health.role == raft::Role::Leader, .halted = health.state == ReplicaState::Halted};
    std::strncpy(answer.text, health.reason.c_str(), sizeof answer.text - 1);
    return answer;
  }
  // Each until it is answered, some at a time.
  static Answer write_all(Replica& replica) {
    std::atomic<uint64_t> next{1};
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&] {
        for (uint64_t number = next++; number <= kValues; number = next++) {
          while (!replica.put(key_of(number), value_of(number)).ok()) {
          }
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    return {.number = kValues};
  }
  static Answer count(Replica& replica) {
    Answer answer;
    for (uint64_t number = 1; number <= kValues; ++number) {
      const absl::StatusOr<GetResult> got = replica.get(key_of(number));
      if (got.ok() && got->entry && got->entry->value == value_of(number)) {
        ++answer.number;
      }
    }
    return answer;
  }

  pid_t pid_ = -1;
  int to_[2] = {-1, -1};
  int from_[2] = {-1, -1};
};

class AddressSpaceTest : public ::testing::Test {
 protected:
  AddressSpaceTest() {
    for (uint64_t id = 1; id <= kMembers; ++id) {
      ReplicaOptions options = cluster_.options(id);
      options.segment_bytes = 64 << 20;  // as by default
      members_[id - 1] = std::make_unique<Member>(options);
    }
    for (auto& member : members_) {
      const Answer ready = member->hear();
      EXPECT_FALSE(ready.halted) << ready.text;
    }
  }
  // The first that leads, or does not.
  size_t that(bool leads) {
    size_t found = kMembers;
    EXPECT_TRUE(eventually([&] {
      for (found = 0; found < kMembers && members_[found]->ask(Member::Look).leads != leads;) ++found;
      return found < kMembers;
    }));
    return found;
  }
  void runs_out_of_address_space(bool leader) {
    const size_t small = that(leader);
    const size_t other = (small + 1) % kMembers;
    members_[small]->limit_address_space();
    EXPECT_EQ(members_[other]->ask(Member::Write).number, kValues);
    EXPECT_TRUE(members_[small]->alive());
    members_[small]->lift_limit();
    const Answer now = members_[small]->ask(Member::Look);
    EXPECT_TRUE(now.halted) << "so much does not fit, and it is said: " << now.text;
    RecordProperty("reason", now.text);
    const Answer again = members_[small]->ask(Member::Reopen);
    EXPECT_FALSE(again.halted) << again.text;
    EXPECT_TRUE(eventually([&] { return members_[small]->ask(Member::Count).number == kValues; }));
  }

  Cluster cluster_;
  std::array<std::unique_ptr<Member>, kMembers> members_;
};

// Covers: FLT_A18
TEST_F(AddressSpaceTest, AFollowerWithoutAddressSpaceHaltsAndItsProcessLives) { runs_out_of_address_space(false); }
// Covers: FLT_A18
TEST_F(AddressSpaceTest, ALeaderWithoutAddressSpaceHaltsAndItsProcessLives) { runs_out_of_address_space(true); }

}  // namespace
}  // namespace coordkit::testkit
