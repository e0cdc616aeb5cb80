#include "initialization.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sums.h"
#include "engine/members/founding.h"
#include "initialization_lives.h"
#include "state_set.h"

namespace coordkit::explore {
namespace {

constexpr size_t kReplicas = Lives::kReplicas;
constexpr int kMajority = kReplicas / 2 + 1;

constexpr InitializationScope kScopes[] = {
    {.name = "initialization", .what = "a cluster is founded, one crash", .crashes = 1},
    {.name = "initialization-lost", .what = "a cluster is founded, a disk loses what it reported durable", .lost = 1},
    {.name = "initialization-wiped", .what = "a cluster is founded, a disk is exchanged for a blank one", .wiped = 1},
    {.name = "initialization-twice", .what = "a cluster is founded, two crashes", .crashes = 2},
    {.name = "lists", .what = "1 lists two of three, and is corrected", .lists = {List::OneTwo}},
    {.name = "lists-agreed", .what = "1 and 2 list each other alone, and are corrected", .lists = {List::OneTwo, List::OneTwo}},
    {.name = "lists-all",
     .what = "2 and 3 leave each other out, and are corrected",
     .lists = {List::Right, List::OneTwo, List::OneThree}},
    {.name = "lists-swapped", .what = "1 has the addresses of 2 and 3 swapped, and is corrected", .lists = {List::Swapped}},
    {.name = "lists-founded",
     .what = "1 has founded a cluster with 2, and is corrected",
     .lists = {List::OneTwo},
     .founded = true},
    {.name = "lists-founded-swapped",
     .what = "1 has founded a cluster with swapped addresses, and is corrected",
     .lists = {List::Swapped},
     .founded = true},
    {.name = "lists-founded-crash",
     .what = "1 has founded a cluster with 2, and is corrected, one crash",
     .crashes = 1,
     .lists = {List::OneTwo},
     .founded = true},
};

struct InitializationLetter {
  uint8_t from = 0;
  uint8_t to = 0;
  uint8_t connection = 0;
  Number content = 0;  // in Initializations::contents_
  auto operator<=>(const InitializationLetter&) const = default;
};

struct InitializationWorld {
  std::array<Number, kReplicas> lives{};
  std::array<std::array<uint8_t, kReplicas>, kReplicas> seen{};       // [who][from]: the newest connection
  std::array<std::array<uint8_t, kReplicas>, kReplicas> connected{};  // [low][high]: their newest connection
  std::array<std::array<bool, kReplicas>, kReplicas> up{};            // [low][high]: it is open
  std::array<uint8_t, kReplicas> exchanged{};                         // replaced disks so far
  std::array<bool, kReplicas> may_have_voted{};                       // in this life, for the genesis that is in force there
  std::array<uint64_t, kReplicas> voted{};                            // in an earlier life: for this cluster; zero: none
  std::vector<InitializationLetter> letters;                          // sorted, all different
  std::vector<uint64_t> stored;  // clusters whose genesis any replica ever had durable, according to its engine
  std::vector<uint64_t> chosen;  // those whose genesis a majority had at one moment: from then on it may have answered
  uint8_t crashes = 0, lost = 0, wiped = 0;

  std::string print() const;
};

enum class Doing : uint8_t { Connect, Deliver, Sync, Correct, Crash, Lose, Wipe };
constexpr std::array<const char*, 7> kDoing = {"connect", "deliver", "sync", "correct", "crash", "lose", "wipe"};

struct InitializationMove {
  Doing doing = Doing::Connect;
  uint8_t self = 0;
  uint8_t other = 0;     // Connect: the other end; Deliver: the sender
  uint8_t argument = 0;  // Deliver: the connection; Crash, Correct, Lose: how many of the pending writes are on the disk
  Number content = 0;    // Deliver
  bool voted = false;    // Crash, Correct: before
};

template <typename Value>
void add(std::vector<Value>& sorted, const Value& value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

template <typename... Numbers>
void put(std::string& text, Numbers... numbers) {
  (absl::StrAppend(&text, static_cast<uint64_t>(numbers), " "), ...);
}

std::string InitializationWorld::print() const {
  std::string text;
  for (size_t i = 0; i < kReplicas; ++i) {
    put(text, lives[i], exchanged[i], may_have_voted[i], voted[i]);
    for (size_t k = 0; k < kReplicas; ++k) put(text, seen[i][k], connected[i][k], up[i][k]);
  }
  put(text, crashes, lost, wiped, letters.size());
  for (const InitializationLetter& one : letters) put(text, one.from, one.to, one.connection, one.content);
  for (const uint64_t cluster : stored) put(text, cluster);
  put(text, chosen.size());
  for (const uint64_t cluster : chosen) put(text, cluster);
  return text;
}

class Initializations {
 public:
  explicit Initializations(const InitializationScope& scope) : scope_(scope) {}

  InitializationWorld first() {
    InitializationWorld world;
    for (size_t i = 0; i < kReplicas; ++i) {
      InitializationDisk disk{.store = store_of(i, 0), .boot = BootCounter(0), .list = scope_.lists[i]};
      if (scope_.founded && i == 0) disk.apply(founding_write());
      world.lives[i] = lives_.begin(ReplicaId(i + 1), std::move(disk));
    }
    for (uint8_t i = 0; i < kReplicas; ++i) finish_move(world, i);
    return world;
  }

  std::vector<InitializationMove> moves(const InitializationWorld& world) const {
    std::vector<InitializationMove> moves;
    for (uint8_t low = 0; low < kReplicas; ++low) {
      for (uint8_t high = low + 1; high < kReplicas; ++high) {
        if (!world.up[low][high]) moves.push_back({Doing::Connect, low, high});
      }
    }
    for (const InitializationLetter& one : world.letters) {
      if (arrives(world, one)) moves.push_back({Doing::Deliver, one.to, one.from, one.connection, one.content});
    }
    for (uint8_t self = 0; self < kReplicas; ++self) {
      const size_t pending = lives_[world.lives[self]].pending.size();
      if (pending > 0) moves.push_back({Doing::Sync, self});
      for (uint8_t kept = 0; kept <= pending; ++kept) {
        for (const bool voted : {false, true}) {
          if (voted && (!differing() || !world.may_have_voted[self])) continue;
          if (list_of(world, self) != List::Right) moves.push_back({Doing::Correct, self, 0, kept, 0, voted});
          if (world.crashes < scope_.crashes) moves.push_back({Doing::Crash, self, 0, kept, 0, voted});
        }
      }
      if (world.lost < scope_.lost) moves.push_back({Doing::Lose, self});
      if (world.wiped < scope_.wiped) moves.push_back({Doing::Wipe, self});
    }
    return moves;
  }

  // From here on only accidents can happen.
  static bool quiet(const std::vector<InitializationMove>& moves) {
    return std::all_of(moves.begin(), moves.end(), [](const InitializationMove& one) { return one.doing >= Doing::Crash; });
  }

  // Empty, or what is violated afterwards.
  std::string make(InitializationWorld& world, const InitializationMove& move) {
    if (move.voted) world.voted[move.self] = lives_[world.lives[move.self]].cluster.value();
    switch (move.doing) {
      case Doing::Connect: connect(world, move.self, move.other); break;
      case Doing::Deliver: deliver(world, move); break;
      case Doing::Sync: live_on(world, move.self, Durable{}); break;
      case Doing::Crash: restart(world, move.self, disk_after(world, move.self, move.argument)), ++world.crashes; break;
      case Doing::Lose: restart(world, move.self, disk_at_start(world, move.self)), ++world.lost; break;
      case Doing::Wipe: wipe(world, move.self), ++world.wiped; break;
      case Doing::Correct: correct(world, move.self, move.argument); break;
    }
    return violation(world);
  }

  // In a quiet world: every replica belongs to the cluster, unless a disk lied.
  std::string at_rest(const InitializationWorld& world) const {
    if (born(world) || world.lost + world.wiped > 0 || born_of_some(world)) return "";
    return "INV_R04: no step is left, and not every replica belongs to the cluster";
  }

  bool born(const InitializationWorld& world) const {
    const ClusterId cluster = lives_[world.lives[0]].cluster;
    return bool(cluster) &&
           std::all_of(world.lives.begin(), world.lives.end(), [&](Number life) { return lives_[life].cluster == cluster; });
  }
  // A voter keeps its genesis of fewer members, and these all belong: the others are added.
  bool born_of_some(const InitializationWorld& world) const {
    for (size_t voter = 0; voter < kReplicas; ++voter) {
      const Life& life = lives_[world.lives[voter]];
      if (world.voted[voter] == 0 || !life.cluster) continue;
      return std::ranges::all_of(life.voters,
                                 [&](ReplicaId id) { return lives_[world.lives[id.value() - 1]].cluster == life.cluster; });
    }
    return false;
  }
  static bool torn(const InitializationWorld& world) { return world.stored.size() > 1; }

  std::string word_of(const InitializationMove& move) const {
    std::string word = absl::StrCat(kDoing[static_cast<size_t>(move.doing)], move.self + 1);
    if (move.doing == Doing::Connect) absl::StrAppend(&word, "+", move.other + 1);
    if (move.doing == Doing::Deliver)
      absl::StrAppend(&word, "<", move.other + 1, ".", move.argument, ":", text_of(move.content));
    if (move.doing == Doing::Crash || move.doing == Doing::Correct)
      absl::StrAppend(&word, "/", move.argument, move.voted ? "voted" : "");
    return word;
  }
  std::string text_of(const InitializationWorld& world) const {
    std::string text;
    for (const Number number : world.lives) {
      const Life& life = lives_[number];
      absl::StrAppend(&text, "replica ", life.id.value(), " boot ", lives_.start_of(number).boot.value(), ": ",
                      life.cluster ? absl::StrCat("cluster ", life.cluster.value()) : "blank",
                      life.pending.empty() ? "" : ", writing",
                      life.halted.empty() ? "; " : absl::StrCat(" ", life.halted, "; "));
    }
    return text;
  }
  size_t lives() const { return lives_.size(); }

 private:
  static StoreId store_of(size_t self, uint8_t exchanged) { return StoreId((self + 1) * 100 + exchanged); }

  bool arrives(const InitializationWorld& world, const InitializationLetter& one) const {
    const uint8_t seen = world.seen[one.to][one.from];
    const bool greeting = std::holds_alternative<Hello>(contents_[one.content]);
    return greeting ? seen < one.connection : seen == one.connection;
  }

  void connect(InitializationWorld& world, uint8_t low, uint8_t high) {
    world.up[low][high] = true;
    const uint8_t number = ++world.connected[low][high];
    add(world.letters, {low, high, number, content(hello(world, low, high))});
    add(world.letters, {high, low, number, content(hello(world, high, low))});
  }

  Hello hello(const InitializationWorld& world, uint8_t from, uint8_t to) const {
    const InitializationDisk& disk = lives_.start_of(world.lives[from]);
    return {.from = ReplicaId(from + 1),
            .to = ReplicaId(to + 1),
            .store = disk.store,
            .boot = disk.boot,
            .cluster = lives_[world.lives[from]].cluster,
            .feature_level = kFeatureLevel,
            .members = list_for_hello(members_of(disk.list))};
  }

  void deliver(InitializationWorld& world, const InitializationMove& move) {
    const InitializationLetter letter{move.other, move.self, move.argument, move.content};
    std::erase(world.letters, letter);
    InitializationInput input = contents_[move.content];
    if (auto* hello = std::get_if<Hello>(&input)) {
      world.seen[move.self][move.other] = move.argument;
      const ClusterId own = lives_[world.lives[move.self]].cluster;
      if (own && hello->cluster != own) hello->cluster = {};  // as a transport reports it: what was proven to us
      if (scope_.defect == InitializationDefect::GreetsAsBlank) hello->cluster = {};
      std::erase_if(world.letters, [&](const InitializationLetter& one) {
        return one.from == letter.from && one.to == letter.to && one.connection < letter.connection;
      });
    }
    live_on(world, move.self, input);
  }

  void live_on(InitializationWorld& world, uint8_t self, const InitializationInput& input) {
    world.lives[self] = lives_.after(world.lives[self], input);
    finish_move(world, self);
  }

  // Its messages use the connection on which it last received from the receiver, if that is still open.
  void finish_move(InitializationWorld& world, uint8_t self) {
    while (scope_.defect == InitializationDefect::ReportsEarly && !lives_[world.lives[self]].pending.empty()) {
      send_offers(world, self);
      world.lives[self] = lives_.after(world.lives[self], Durable{});
    }
    send_offers(world, self);
    if (differing()) note_votes(world);
    const ClusterId cluster = lives_[world.lives[self]].cluster;
    if (!cluster) return;
    add(world.stored, cluster.value());
    const auto here = [&](Number life) { return lives_[life].cluster == cluster; };
    const bool many = std::count_if(world.lives.begin(), world.lives.end(), here) >= kMajority;
    if (many && !differing()) add(world.chosen, cluster.value());
  }

  // ---- lists that differ

  // As a build wrote it that compared no lists.
  LogWrite founding_write() const {
    raft::Genesis genesis{ClusterId(7), 0, {}, kFeatureLevel};
    for (const Peer& peer : members_of(scope_.lists[0])) {
      genesis.configuration.voters.push_back({peer.id, store_of(peer.id.value() - 1, 0), peer.address});
    }
    return {.hard_state = raft::HardState{Term(1), ReplicaId()}, .entries = {engine::genesis_entry(kOnlyGroup, genesis)}};
  }

  bool differing() const {
    return std::ranges::any_of(scope_.lists, [](List list) { return list != List::Right; });
  }
  List list_of(const InitializationWorld& world, uint8_t self) const { return lives_.start_of(world.lives[self]).list; }

  void correct(InitializationWorld& world, uint8_t self, uint8_t kept) {
    InitializationDisk disk = disk_after(world, self, kept);
    disk.list = List::Right;
    restart(world, self, std::move(disk));
  }

  // A replica that runs by a genesis may vote by it.
  void note_votes(InitializationWorld& world) {
    for (const Number number : world.lives) {
      if (lives_[number].cluster) voters_[lives_[number].cluster.value()] = lives_[number].voters;
    }
    world.chosen.clear();
    for (const auto& [cluster, voters] : voters_) {
      const auto votes = [&](ReplicaId id) {
        const size_t voter = id.value() - 1;
        return world.voted[voter] == cluster || lives_[world.lives[voter]].cluster.value() == cluster;
      };
      if (2 * static_cast<size_t>(std::ranges::count_if(voters, votes)) <= voters.size()) continue;
      add(world.chosen, cluster);
      for (size_t i = 0; i < kReplicas; ++i) {
        world.may_have_voted[i] = world.may_have_voted[i] || lives_[world.lives[i]].cluster.value() == cluster;
      }
    }
  }

  void send_offers(InitializationWorld& world, uint8_t self) {
    for (const auto& [receiver, offer] : lives_[world.lives[self]].offers) {
      const auto to = static_cast<uint8_t>(receiver.value() - 1);
      const auto [low, high] = std::minmax(self, to);
      const uint8_t connection = world.seen[self][to];
      if (!world.up[low][high] || connection != world.connected[low][high]) continue;
      add(world.letters, {self, to, connection, content(std::pair(ReplicaId(self + 1), offer))});
    }
  }

  InitializationDisk disk_at_start(const InitializationWorld& world, uint8_t self) const {
    return lives_.start_of(world.lives[self]);
  }

  // The disk with which it began, and all written since: everything reported durable and the first `kept` of the rest.
  InitializationDisk disk_after(const InitializationWorld& world, uint8_t self, uint8_t kept) {
    InitializationDisk disk = disk_at_start(world, self);
    if (scope_.defect == InitializationDefect::ReportsEarly) return disk;
    const bool in_term_2 = world.voted[self] != 0 && scope_.defect != InitializationDefect::ForgetsVotes;
    const std::vector<LogWrite>& writes = lives_.writes_of(world.lives[self]);
    const size_t durable = writes.size() - lives_[world.lives[self]].pending.size();
    for (size_t i = 0; i < durable + kept; ++i) disk.apply(writes[i]);
    if (in_term_2) disk.hard_state = {Term(2), ReplicaId(self + 1)};
    return disk;
  }

  void wipe(InitializationWorld& world, uint8_t self) {
    restart(world, self, {.store = store_of(self, ++world.exchanged[self]), .boot = BootCounter(0)});
  }

  void restart(InitializationWorld& world, uint8_t self, InitializationDisk disk) {
    std::erase_if(world.letters, [&](const InitializationLetter& one) { return one.to == self; });
    for (uint8_t other = 0; other < kReplicas; ++other) {
      world.seen[self][other] = 0;
      const auto [low, high] = std::minmax(self, other);
      if (low != high) world.up[low][high] = false;
    }
    if (scope_.defect == InitializationDefect::NeverGivesWay && !disk.entries.empty()) disk.hard_state.term = Term(2);
    world.lives[self] = lives_.begin(ReplicaId(self + 1), std::move(disk));
    world.may_have_voted[self] = false;
    finish_move(world, self);
  }

  std::string violation(const InitializationWorld& world) const {
    for (const Number life : world.lives) {
      if (!lives_[life].halted.empty()) return absl::StrCat("a replica ended: ", lives_[life].halted);
    }
    if (!torn(world)) return "";
    if (world.lost + world.wiped == 0 && !differing())
      return "INV_R04: two geneses are stored, though no disk has lost anything";
    return world.chosen.size() > 1 ? "INV_R04: two clusters, and both may have answered a caller" : "";
  }

  Number content(const InitializationInput& input) {
    const auto at = std::find(contents_.begin(), contents_.end(), input);
    if (at != contents_.end()) return static_cast<Number>(at - contents_.begin());
    contents_.push_back(input);
    return static_cast<Number>(contents_.size() - 1);
  }
  std::string text_of(Number number) const {
    const InitializationInput& input = contents_[number];
    if (const auto* hello = std::get_if<Hello>(&input)) {
      return hello->cluster ? absl::StrCat("member-of-", hello->cluster.value()) : "blank";
    }
    return absl::StrCat("genesis-", std::get<1>(input).second.genesis.cluster.value());
  }

  const InitializationScope& scope_;
  Lives lives_;
  std::vector<InitializationInput> contents_;
  std::map<uint64_t, std::vector<ReplicaId>> voters_;  // of each cluster
};

struct Visited {
  InitializationWorld world;
  uint32_t record = 0;
};
struct Step {  // how a world was first reached
  uint32_t before = 0;
  InitializationMove move;
};

class InitializationSearch {
 public:
  InitializationSearch(const InitializationScope& scope, uint64_t states_max)
      : initializations_(scope), states_max_(states_max) {}

  InitializationFindings run() {
    reach(initializations_.first(), {});
    for (; !next_.empty() && found_.violation.empty() && found_.states < states_max_; ++found_.depth) {
      const std::vector<Visited> level = std::exchange(next_, {});
      for (const Visited& one : level) {
        expand(one);
        if (!found_.violation.empty() || found_.states >= states_max_) break;
      }
    }
    found_.complete = found_.violation.empty() && next_.empty();
    found_.lives = initializations_.lives();
    return std::move(found_);
  }

 private:
  void expand(const Visited& from) {
    const std::vector<InitializationMove> moves = initializations_.moves(from.world);
    if (Initializations::quiet(moves)) {
      found_.born += initializations_.born(from.world);
      found_.violation = initializations_.at_rest(from.world);
      if (!found_.violation.empty()) return trace(from.record);
    }
    for (const InitializationMove& move : moves) {
      ++found_.transitions;
      InitializationWorld world = from.world;
      found_.violation = initializations_.make(world, move);
      reach(std::move(world), {from.record, move});
      if (!found_.violation.empty()) return trace(static_cast<uint32_t>(steps_.size() - 1));
    }
  }

  void reach(InitializationWorld world, Step step) {
    if (!met_.insert(hash_bytes(world.print()))) return;
    ++found_.states;
    found_.torn += Initializations::torn(world);
    next_.push_back({std::move(world), static_cast<uint32_t>(steps_.size())});
    steps_.push_back(step);
  }

  void trace(uint32_t record) {
    for (; record != 0; record = steps_[record].before) {
      found_.trace = absl::StrCat(initializations_.word_of(steps_[record].move), found_.trace.empty() ? "" : " ", found_.trace);
    }
  }

  Initializations initializations_;
  uint64_t states_max_;
  InitializationFindings found_;
  StateSet met_;
  std::vector<Visited> next_;
  std::vector<Step> steps_;
};

}  // namespace

std::span<const InitializationScope> initialization_scopes() { return kScopes; }

const InitializationScope* initialization_scope_named(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kScopes), std::end(kScopes), [&](const InitializationScope& one) { return one.name == name; });
  return at == std::end(kScopes) ? nullptr : at;
}

InitializationFindings search_initializations(const InitializationScope& scope, uint64_t states_max) {
  return InitializationSearch(scope, states_max).run();
}

std::string tell_initialization(const InitializationScope& scope, const std::string& trace) {
  Initializations initializations(scope);
  InitializationWorld world = initializations.first();
  std::istringstream words(trace);
  for (std::string word; words >> word;) {
    const std::vector<InitializationMove> moves = initializations.moves(world);
    const auto move = std::find_if(moves.begin(), moves.end(),
                                   [&](const InitializationMove& one) { return initializations.word_of(one) == word; });
    if (move == moves.end()) return word + " is not possible there";
    const std::string violation = initializations.make(world, *move);
    std::fprintf(stderr, "%-36s %s\n", word.c_str(), initializations.text_of(world).c_str());
    if (!violation.empty()) return violation;
  }
  return Initializations::quiet(initializations.moves(world)) ? initializations.at_rest(world) : "";
}

}  // namespace coordkit::explore
