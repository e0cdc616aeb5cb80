#include "birth.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sums.h"
#include "birth_lives.h"
#include "state_set.h"

namespace coordkit::explore {
namespace {

constexpr size_t kReplicas = Lives::kReplicas;
constexpr int kMajority = kReplicas / 2 + 1;

constexpr BirthScope kScopes[] = {
    {.name = "birth", .what = "a cluster is born, one crash", .crashes = 1},
    {.name = "birth-lost", .what = "a cluster is born, a disk loses what it reported durable", .lost = 1},
    {.name = "birth-wiped", .what = "a cluster is born, a disk is exchanged for a blank one", .wiped = 1},
    {.name = "birth-twice", .what = "a cluster is born, two crashes", .crashes = 2},
};

struct BirthLetter {
  uint8_t from = 0;
  uint8_t to = 0;
  uint8_t connection = 0;
  Number content = 0;  // in Births::contents_
  auto operator<=>(const BirthLetter&) const = default;
};

struct BirthWorld {
  std::array<Number, kReplicas> lives{};
  std::array<std::array<uint8_t, kReplicas>, kReplicas> heard{};      // [who][from]: the newest connection
  std::array<std::array<uint8_t, kReplicas>, kReplicas> connected{};  // [low][high]: their newest connection
  std::array<std::array<bool, kReplicas>, kReplicas> up{};            // [low][high]: it is open
  std::array<uint8_t, kReplicas> exchanged{};                         // replaced disks so far
  std::vector<BirthLetter> letters;                                   // sorted, all different
  std::vector<uint64_t> stored;  // clusters whose genesis any replica ever had durable, according to its engine
  std::vector<uint64_t> chosen;  // those whose genesis a majority had at one moment: from then on it may have answered
  uint8_t crashes = 0, lost = 0, wiped = 0;

  std::string print() const;
};

enum class Doing : uint8_t { Connect, Deliver, Sync, Crash, Lose, Wipe };
constexpr std::array<const char*, 6> kDoing = {"connect", "deliver", "sync", "crash", "lose", "wipe"};

struct BirthMove {
  Doing doing = Doing::Connect;
  uint8_t self = 0;
  uint8_t other = 0;     // Connect: the other end; Deliver: the sender
  uint8_t argument = 0;  // Deliver: the connection; Crash, Lose: how many of the pending writes are on the disk
  Number content = 0;    // Deliver
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

std::string BirthWorld::print() const {
  std::string text;
  for (size_t i = 0; i < kReplicas; ++i) {
    put(text, lives[i], exchanged[i]);
    for (size_t k = 0; k < kReplicas; ++k) put(text, heard[i][k], connected[i][k], up[i][k]);
  }
  put(text, crashes, lost, wiped, letters.size());
  for (const BirthLetter& one : letters) put(text, one.from, one.to, one.connection, one.content);
  for (const uint64_t cluster : stored) put(text, cluster);
  put(text, chosen.size());
  for (const uint64_t cluster : chosen) put(text, cluster);
  return text;
}

class Births {
 public:
  explicit Births(const BirthScope& scope) : scope_(scope) {}

  BirthWorld first() {
    BirthWorld world;
    for (size_t i = 0; i < kReplicas; ++i) {
      world.lives[i] = lives_.begin(ReplicaId(i + 1), {.store = store_of(i, 0), .boot = BootCounter(0)});
    }
    return world;
  }

  std::vector<BirthMove> moves(const BirthWorld& world) const {
    std::vector<BirthMove> moves;
    for (uint8_t low = 0; low < kReplicas; ++low) {
      for (uint8_t high = low + 1; high < kReplicas; ++high) {
        if (!world.up[low][high]) moves.push_back({Doing::Connect, low, high});
      }
    }
    for (const BirthLetter& one : world.letters) {
      if (arrives(world, one)) moves.push_back({Doing::Deliver, one.to, one.from, one.connection, one.content});
    }
    for (uint8_t self = 0; self < kReplicas; ++self) {
      const size_t pending = lives_[world.lives[self]].pending.size();
      if (pending > 0) moves.push_back({Doing::Sync, self});
      for (uint8_t kept = 0; kept <= pending && world.crashes < scope_.crashes; ++kept) {
        moves.push_back({Doing::Crash, self, 0, kept});
      }
      if (world.lost < scope_.lost) moves.push_back({Doing::Lose, self});
      if (world.wiped < scope_.wiped) moves.push_back({Doing::Wipe, self});
    }
    return moves;
  }

  // From here on only accidents can happen.
  static bool quiet(const std::vector<BirthMove>& moves) {
    return std::all_of(moves.begin(), moves.end(), [](const BirthMove& one) { return one.doing >= Doing::Crash; });
  }

  // Empty, or what is violated afterwards.
  std::string make(BirthWorld& world, const BirthMove& move) {
    switch (move.doing) {
      case Doing::Connect: connect(world, move.self, move.other); break;
      case Doing::Deliver: deliver(world, move); break;
      case Doing::Sync: live_on(world, move.self, Durable{}); break;
      case Doing::Crash: restart(world, move.self, disk_after(world, move.self, move.argument)), ++world.crashes; break;
      case Doing::Lose: restart(world, move.self, disk_at_start(world, move.self)), ++world.lost; break;
      case Doing::Wipe: wipe(world, move.self), ++world.wiped; break;
    }
    return violation(world);
  }

  // In a quiet world: every replica belongs to the cluster, unless a disk lied.
  std::string at_rest(const BirthWorld& world) const {
    if (born(world) || world.lost + world.wiped > 0) return "";
    return "INV_R04: nothing is left to happen, and not everybody belongs to the cluster";
  }

  bool born(const BirthWorld& world) const {
    const ClusterId cluster = lives_[world.lives[0]].cluster;
    return bool(cluster) &&
           std::all_of(world.lives.begin(), world.lives.end(), [&](Number life) { return lives_[life].cluster == cluster; });
  }
  static bool torn(const BirthWorld& world) { return world.stored.size() > 1; }

  std::string word_of(const BirthMove& move) const {
    std::string word = absl::StrCat(kDoing[static_cast<size_t>(move.doing)], move.self + 1);
    if (move.doing == Doing::Connect) absl::StrAppend(&word, "+", move.other + 1);
    if (move.doing == Doing::Deliver) absl::StrAppend(&word, "<", move.other + 1, ".", move.argument, ":", told(move.content));
    if (move.doing == Doing::Crash) absl::StrAppend(&word, "/", move.argument);
    return word;
  }
  std::string told(const BirthWorld& world) const {
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

  bool arrives(const BirthWorld& world, const BirthLetter& one) const {
    const uint8_t heard = world.heard[one.to][one.from];
    const bool greeting = std::holds_alternative<Hello>(contents_[one.content]);
    return greeting ? heard < one.connection : heard == one.connection;
  }

  void connect(BirthWorld& world, uint8_t low, uint8_t high) {
    world.up[low][high] = true;
    const uint8_t number = ++world.connected[low][high];
    add(world.letters, {low, high, number, content(hello(world, low, high))});
    add(world.letters, {high, low, number, content(hello(world, high, low))});
  }

  Hello hello(const BirthWorld& world, uint8_t from, uint8_t to) const {
    const BirthDisk& disk = lives_.start_of(world.lives[from]);
    return {.from = ReplicaId(from + 1),
            .to = ReplicaId(to + 1),
            .store = disk.store,
            .boot = disk.boot,
            .cluster = lives_[world.lives[from]].cluster};
  }

  void deliver(BirthWorld& world, const BirthMove& move) {
    const BirthLetter letter{move.other, move.self, move.argument, move.content};
    std::erase(world.letters, letter);
    BirthInput input = contents_[move.content];
    if (auto* hello = std::get_if<Hello>(&input)) {
      world.heard[move.self][move.other] = move.argument;
      const ClusterId own = lives_[world.lives[move.self]].cluster;
      if (own && hello->cluster != own) hello->cluster = {};  // as a transport reports it: what was proven to us
      if (scope_.defect == BirthDefect::GreetsAsBlank) hello->cluster = {};
      std::erase_if(world.letters, [&](const BirthLetter& one) {
        return one.from == letter.from && one.to == letter.to && one.connection < letter.connection;
      });
    }
    live_on(world, move.self, input);
  }

  void live_on(BirthWorld& world, uint8_t self, const BirthInput& input) {
    world.lives[self] = lives_.after(world.lives[self], input);
    finish_move(world, self);
  }

  // What it sent uses the connection on which it last heard the receiver, if that is still open.
  void finish_move(BirthWorld& world, uint8_t self) {
    while (scope_.defect == BirthDefect::ReportsEarly && !lives_[world.lives[self]].pending.empty()) {
      send_offers(world, self);
      world.lives[self] = lives_.after(world.lives[self], Durable{});
    }
    send_offers(world, self);
    const ClusterId cluster = lives_[world.lives[self]].cluster;
    if (!cluster) return;
    add(world.stored, cluster.value());
    const auto here = [&](Number life) { return lives_[life].cluster == cluster; };
    if (std::count_if(world.lives.begin(), world.lives.end(), here) >= kMajority) add(world.chosen, cluster.value());
  }

  void send_offers(BirthWorld& world, uint8_t self) {
    for (const auto& [receiver, offer] : lives_[world.lives[self]].offers) {
      const auto to = static_cast<uint8_t>(receiver.value() - 1);
      const auto [low, high] = std::minmax(self, to);
      const uint8_t connection = world.heard[self][to];
      if (!world.up[low][high] || connection != world.connected[low][high]) continue;
      add(world.letters, {self, to, connection, content(std::pair(ReplicaId(self + 1), offer))});
    }
  }

  BirthDisk disk_at_start(const BirthWorld& world, uint8_t self) const { return lives_.start_of(world.lives[self]); }

  // What it began with, and what was written since: everything reported durable and the first `kept` of the rest.
  BirthDisk disk_after(const BirthWorld& world, uint8_t self, uint8_t kept) {
    BirthDisk disk = disk_at_start(world, self);
    if (scope_.defect == BirthDefect::ReportsEarly) return disk;
    const std::vector<LogWrite>& writes = lives_.writes_of(world.lives[self]);
    const size_t durable = writes.size() - lives_[world.lives[self]].pending.size();
    for (size_t i = 0; i < durable + kept; ++i) disk.apply(writes[i]);
    return disk;
  }

  void wipe(BirthWorld& world, uint8_t self) {
    restart(world, self, {.store = store_of(self, ++world.exchanged[self]), .boot = BootCounter(0)});
  }

  void restart(BirthWorld& world, uint8_t self, BirthDisk disk) {
    std::erase_if(world.letters, [&](const BirthLetter& one) { return one.to == self; });
    for (uint8_t other = 0; other < kReplicas; ++other) {
      world.heard[self][other] = 0;
      const auto [low, high] = std::minmax(self, other);
      if (low != high) world.up[low][high] = false;
    }
    world.lives[self] = lives_.begin(ReplicaId(self + 1), std::move(disk));
    finish_move(world, self);
  }

  std::string violation(const BirthWorld& world) const {
    for (const Number life : world.lives) {
      if (!lives_[life].halted.empty()) return absl::StrCat("a replica ended: ", lives_[life].halted);
    }
    if (!torn(world)) return "";
    if (world.lost + world.wiped == 0) return "INV_R04: two geneses are stored, though no disk has lost anything";
    return world.chosen.size() > 1 ? "INV_R04: two clusters, and either may have answered somebody" : "";
  }

  Number content(const BirthInput& input) {
    const auto at = std::find(contents_.begin(), contents_.end(), input);
    if (at != contents_.end()) return static_cast<Number>(at - contents_.begin());
    contents_.push_back(input);
    return static_cast<Number>(contents_.size() - 1);
  }
  std::string told(Number number) const {
    const BirthInput& input = contents_[number];
    if (const auto* hello = std::get_if<Hello>(&input)) {
      return hello->cluster ? absl::StrCat("member-of-", hello->cluster.value()) : "blank";
    }
    return absl::StrCat("genesis-", std::get<1>(input).second.genesis.cluster.value());
  }

  const BirthScope& scope_;
  Lives lives_;
  std::vector<BirthInput> contents_;
};

struct Visited {
  BirthWorld world;
  uint32_t record = 0;
};
struct Step {  // how a world was first reached
  uint32_t before = 0;
  BirthMove move;
};

class BirthSearch {
 public:
  BirthSearch(const BirthScope& scope, uint64_t states_max) : births_(scope), states_max_(states_max) {}

  BirthFindings run() {
    reach(births_.first(), {});
    for (; !next_.empty() && found_.violation.empty() && found_.states < states_max_; ++found_.depth) {
      const std::vector<Visited> level = std::exchange(next_, {});
      for (const Visited& one : level) {
        expand(one);
        if (!found_.violation.empty() || found_.states >= states_max_) break;
      }
    }
    found_.complete = found_.violation.empty() && next_.empty();
    found_.lives = births_.lives();
    return std::move(found_);
  }

 private:
  void expand(const Visited& from) {
    const std::vector<BirthMove> moves = births_.moves(from.world);
    if (Births::quiet(moves)) {
      found_.born += births_.born(from.world);
      found_.violation = births_.at_rest(from.world);
      if (!found_.violation.empty()) return trace(from.record);
    }
    for (const BirthMove& move : moves) {
      ++found_.transitions;
      BirthWorld world = from.world;
      found_.violation = births_.make(world, move);
      reach(std::move(world), {from.record, move});
      if (!found_.violation.empty()) return trace(static_cast<uint32_t>(steps_.size() - 1));
    }
  }

  void reach(BirthWorld world, Step step) {
    if (!met_.insert(hash_bytes(world.print()))) return;
    ++found_.states;
    found_.torn += Births::torn(world);
    next_.push_back({std::move(world), static_cast<uint32_t>(steps_.size())});
    steps_.push_back(step);
  }

  void trace(uint32_t record) {
    for (; record != 0; record = steps_[record].before) {
      found_.trace = absl::StrCat(births_.word_of(steps_[record].move), found_.trace.empty() ? "" : " ", found_.trace);
    }
  }

  Births births_;
  uint64_t states_max_;
  BirthFindings found_;
  StateSet met_;
  std::vector<Visited> next_;
  std::vector<Step> steps_;
};

}  // namespace

std::span<const BirthScope> birth_scopes() { return kScopes; }

const BirthScope* birth_scope_named(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kScopes), std::end(kScopes), [&](const BirthScope& one) { return one.name == name; });
  return at == std::end(kScopes) ? nullptr : at;
}

BirthFindings search_births(const BirthScope& scope, uint64_t states_max) { return BirthSearch(scope, states_max).run(); }

std::string tell_birth(const BirthScope& scope, const std::string& trace) {
  Births births(scope);
  BirthWorld world = births.first();
  std::istringstream words(trace);
  for (std::string word; words >> word;) {
    const std::vector<BirthMove> moves = births.moves(world);
    const auto move =
        std::find_if(moves.begin(), moves.end(), [&](const BirthMove& one) { return births.word_of(one) == word; });
    if (move == moves.end()) return word + " is not possible there";
    const std::string violation = births.make(world, *move);
    std::fprintf(stderr, "%-36s %s\n", word.c_str(), births.told(world).c_str());
    if (!violation.empty()) return violation;
  }
  return Births::quiet(births.moves(world)) ? births.at_rest(world) : "";
}

}  // namespace coordkit::explore
