// All states of all replicas, letters and logs ever seen, each stored once, and the world as numbers of them.
//
// A step of one replica depends on that replica and its input alone. So each is computed once with the real core and then
// looked up: there are some thousand of them for a million states of the world.
//
// The network keeps every letter forever and may deliver it at any time, again and again, or never. So letters may be
// lost, late, repeated and out of order without limit; and because a letter that changes nothing leaves no trace, there are
// fewer states than if each could arrive once. Letters that no replica will ever react to again are forgotten
// (Space::dead). That a peer is up again is sent as a letter, and received at most once.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "interned.h"
#include "replica.h"

namespace coordkit::explore {

struct Budget {  // spent
  uint8_t timeouts = 0, proposals = 0, crashes = 0, beats = 0, step_downs = 0, changes = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};

struct World {
  std::array<Number, kReplicasMost> replicas{};
  std::array<Number, kReplicasMost> inboxes{};
  Number committed = 0;  // the longest log that any replica called committed
  std::array<uint8_t, kTermsMost + 1> leaders{};
  Budget spent;
  friend bool operator==(const World&, const World&) = default;
};

struct Move {
  Kind kind = Kind::Deliver;
  uint8_t self = 0;      // the acting replica; from 0
  uint8_t from = 0;      // Deliver...
  uint8_t argument = 0;  // as in Input
  Number letter = 0;     // Deliver...
};

struct Log {
  std::vector<uint64_t> terms;
  std::vector<uint64_t> chain;  // hash over the log up to each entry
};

// The facts about one replica that are often asked for.
struct Facts {
  Role role = Role::Follower;
  bool hears_leader = false;
  bool may_campaign = false;  // if it is no leader
  uint8_t writes = 0;
  uint8_t commit = 0;
  uint64_t term = 0;
  uint64_t disk_term = 0;
  Number log = 0;
  Number disk = 0;
  std::array<uint8_t, kReplicasMost> match{};  // a leader's knowledge of its peers
  std::array<uint64_t, 6> prints{};            // under each renaming
};

struct Inbox {
  struct Item {
    uint8_t from;
    Number letter;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  std::vector<Item> items;           // sorted
  std::array<uint64_t, 6> prints{};  // under each renaming
};

class Space {
 public:
  explicit Space(const Scope& scope);

  World first();
  // The moves within the scope, in a fixed order.
  void moves(const World& world, std::vector<Move>& into) const;
  // Empty: nothing is violated.
  std::string make(World& world, const Move& move);
  // Equal for worlds that differ only by renaming.
  uint64_t print_of(const World& world) const;

  const Scope& scope() const { return scope_; }
  const Facts& facts(const World& world, size_t replica) const { return facts_[world.replicas[replica]]; }
  const Replica& replica(const World& world, size_t replica) const { return replicas_[world.replicas[replica]]; }
  const Log& log(Number number) const { return logs_[number]; }
  const Letter& letter(Number number) const { return letters_[number]; }
  uint64_t print_of_letter(Number number) const { return letter_prints_[number]; }

  size_t replicas() const { return replicas_.size(); }
  size_t steps() const { return outcomes_.size(); }
  size_t letters() const { return letters_.size(); }
  size_t inboxes() const { return inboxes_.size(); }

  // Runs each pair of replicas with equal fingerprints side by side from now on; it is a violation if they differ.
  void compare_twins() { compares_twins_ = true; }
  size_t twins() const { return twins_; }

 private:
  struct Outcome {
    Number replica = 0;
    uint32_t first = 0;  // of its sends
    uint32_t count = 0;
    Number violation = 0;  // zero: none
  };
  struct Sending {
    uint8_t to;
    Number letter;
  };

  Number intern(Replica replica, size_t self);
  Number intern(const Letter& letter);
  Number intern(Inbox inbox);
  Number intern_log(std::span<const Entry> entries);
  Facts facts_of(const Replica& replica);
  Outcome outcome(Number replica, const Move& move);
  void compare(const Replica& one, const Replica& other, size_t self);
  bool dead(Number replica, const Inbox::Item& item, bool may_crash);
  bool tells_nothing(Number replica, size_t from, const Heartbeat& heartbeat) const;
  void learning(const World& world, uint8_t self, std::vector<Move>& into) const;
  std::optional<Move> harmless(const World& world) const;
  void put(World& world, size_t from, size_t to, Number letter);
  void forget_dead(World& world, size_t replica);
  std::string judge(World& world, size_t moved, Number before);
  std::string judge_commit(World& world, size_t moved, Number before);
  bool matching(Number a, Number b);
  bool begins_with(Number log, Number prefix, size_t length) const;

  const Scope scope_;
  std::vector<Names> renamings_;
  Interned<Replica> replicas_;
  std::deque<Facts> facts_;
  Interned<Letter> letters_;
  std::vector<uint64_t> letter_prints_;
  Interned<Inbox> inboxes_;
  Interned<Log> logs_;
  NumberMap outcome_of_;
  std::deque<Outcome> outcomes_;
  std::deque<Sending> sendings_;
  std::vector<std::string> violations_{""};
  NumberMap matching_;
  NumberMap inbox_with_;
  NumberMap inbox_without_dead_;
  bool compares_twins_ = false;
  size_t twins_ = 0;
  std::string twin_difference_;
};

}  // namespace coordkit::explore
