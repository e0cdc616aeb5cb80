// kill -9 of all three processes at once, fifty times, under load: whatever was acknowledged exists afterwards.
//
// The victims report their answers. A line stands for an answer that the caller had received, so it must hold after every
// later restart:
//   put N        the key has N or a later number that was tried
//   granted      a kept lock has exactly that token and session; any lock that one, a larger token, or no holder
//   released     the lock has a larger token or no holder
//   tokens       one is never granted twice, and none after a restart is below any before it
// The moment of the kill is a random number of lines after the start, so it is anywhere in a call; nothing sleeps.
#include <array>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/unit/replica/replica_cluster.h"
#include "tests/unit/replica/victim.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"

namespace coordkit::testkit {
namespace {

constexpr int kRounds = 50;
constexpr int kMembers = 3;
constexpr int kOldLocksChecked = 20;  // of earlier rounds, each round; all of them at the end

struct Hold {
  uint64_t token = 0;
  uint64_t session = 0;
  bool kept = false;
  bool released = false;
};

struct Number {
  uint64_t tried = 0;
  uint64_t put = 0;
};

class KillAll {
 public:
  void run() {
    for (int round = 1; round <= kRounds && !::testing::Test::HasFailure(); ++round) {
      start();
      check(kOldLocksChecked);
      highest_before_ = highest_;
      load(round);
      kill();
      if (round % 5 == 0) {
        std::cerr << "# killed " << round << " times; " << answers_ << " answers, " << holds_.size() << " locks, token "
                  << highest_ << "\n";
      }
    }
    if (::testing::Test::HasFailure()) return;
    start();
    check(static_cast<int>(holds_.size()));
    EXPECT_GT(answers_, static_cast<size_t>(kRounds) * 20);
  }

 private:
  void start() {
    ready_ = 0;
    for (int id = 1; id <= kMembers; ++id) {
      victims_[id] = support::Child::start(
          {kVictimRole, std::to_string(id), folder_.path() / std::to_string(id), addresses_[0], addresses_[1], addresses_[2]});
      lines_.add(id, victims_[id].output());
    }
    while (ready_ < kMembers && !::testing::Test::HasFailure()) listen("the victims are ready");
  }

  void load(int round) {
    const size_t until = answers_ + std::uniform_int_distribution<size_t>(1, 400)(random_);
    for (auto& [id, victim] : victims_) victim.send("go " + std::to_string(round));
    while (answers_ < until && !::testing::Test::HasFailure()) listen("the victims are at work");
  }

  void kill() {
    for (auto& [id, victim] : victims_) {
      if (victim.running()) ::kill(victim.pid(), SIGKILL);
    }
    for (auto& [id, victim] : victims_) victim.kill();
    ended_ = 0;
    while (ended_ < kMembers && !::testing::Test::HasFailure()) listen("the last words are read");
  }

  // Through a random replica, whatever its role: reads are linearizable everywhere.
  void ask(const std::string& question) {
    asked_ = true;
    victims_[std::uniform_int_distribution<int>(1, kMembers)(random_)].send(question);
    while (asked_ && !::testing::Test::HasFailure()) listen("an answer to: " + question);
  }

  void check(int old_locks) {
    for (const auto& [key, number] : numbers_) ask("get " + key);
    for (const std::string& lock : fresh_) ask("holder " + lock);
    fresh_.clear();
    std::vector<std::string> names;
    for (const auto& [lock, hold] : holds_) names.push_back(lock);
    std::shuffle(names.begin(), names.end(), random_);
    names.resize(std::min(names.size(), static_cast<size_t>(old_locks)));
    for (const std::string& lock : names) ask("holder " + lock);
  }

  void listen(const std::string& what) {
    const std::optional<support::Line> line = lines_.next(support::in(60s));
    if (!line) {
      ADD_FAILURE() << "waited in vain until " << what;
    } else if (line->ended) {
      EXPECT_FALSE(victims_[line->from].running()) << "replica " << line->from << " ended by itself";
      ++ended_;
    } else {
      hear(line->text);
    }
  }

  void hear(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    uint64_t number = 0;
    words >> kind >> name >> number;
    if (kind == "ready") {
      ++ready_;
    } else if (kind == "failed") {
      ADD_FAILURE() << line;
    } else if (kind == "p") {
      numbers_[name].tried = number;
    } else if (kind == "P") {
      ++answers_;
      numbers_[name].put = number;
    } else if (kind == "G") {
      ++answers_;
      Hold hold{.token = number};
      words >> hold.session >> kind;
      hold.kept = kind == "kept";
      granted(name, hold);
    } else if (kind == "R") {
      ++answers_;
      released(name, number);
    } else if (kind == "value") {
      asked_ = false;
      EXPECT_GE(number, numbers_[name].put) << name;
      EXPECT_LE(number, numbers_[name].tried) << name;
    } else if (kind == "holder") {
      asked_ = false;
      uint64_t session = 0;
      words >> session;
      compare(name, number, session);
    }
  }

  // Lines of different processes arrive in any order; the newest token of a lock counts.
  void granted(const std::string& lock, const Hold& hold) {
    EXPECT_TRUE(tokens_.insert(hold.token).second) << "token " << hold.token << " twice";
    EXPECT_GT(hold.token, highest_before_) << lock << ": a token below one from before the restart";
    highest_ = std::max(highest_, hold.token);
    fresh_.insert(lock);
    if (hold.token > holds_[lock].token) holds_[lock] = hold;
  }

  void released(const std::string& lock, uint64_t token) {
    if (holds_[lock].token == token) holds_[lock].released = true;
  }

  void compare(const std::string& lock, uint64_t token, uint64_t session) {
    const Hold& hold = holds_.at(lock);
    if (hold.kept) {
      EXPECT_EQ(token, hold.token) << lock << ": an acknowledged grant is gone";
    } else if (token != 0) {
      EXPECT_GE(token, hold.token) << lock << ": an older grant came back";
    }
    if (token == hold.token) {
      EXPECT_EQ(session, hold.session) << lock;
      EXPECT_FALSE(hold.released) << lock << ": an acknowledged release is undone";
    }
  }

  Folder folder_;
  const std::vector<std::string> addresses_ = support::free_loopback_addresses(kMembers);
  std::map<int, support::Child> victims_;
  support::LineReader lines_;
  std::mt19937_64 random_{1};

  std::map<std::string, Number> numbers_;
  std::map<std::string, Hold> holds_;
  std::set<std::string> fresh_;  // locks that were granted in the last round
  std::set<uint64_t> tokens_;
  uint64_t highest_ = 0;
  uint64_t highest_before_ = 0;
  size_t answers_ = 0;
  int ready_ = 0;
  int ended_ = 0;
  bool asked_ = false;
};

// Covers: REG_F60 FLT_P01
TEST(KillAllTest, WhatWasAcknowledgedIsThereAfterFiftyKillsOfEverybody) { KillAll().run(); }

}  // namespace
}  // namespace coordkit::testkit
