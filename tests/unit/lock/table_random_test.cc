// The lock table against its naive twin, under random steps, over checkpoints and restores.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "lock/lock_table.h"
#include "tests/unit/lock/naive_table.h"
#include "tests/unit/lock/restored_twin.h"

namespace coordkit::lock {
namespace {

using namespace std::chrono_literals;

class Twins {
 public:
  Twins(uint64_t seed, bool exempt) : random_(seed), exempt_(exempt) {}

  void step() {
    index_ = index_.next();
    decisions_ = {};
    naive_.asked.clear();
    switch (random_.below(22)) {
      case 0: end(); break;
      case 1: cancel(); break;
      case 2: time_out(); break;
      case 3: end_delay(); break;
      case 4: downgrade(); break;
      case 5:
      case 6: upgrade(); break;
      case 7: update(); break;
      case 20: random_.below(3) == 0 ? renew() : refill(); break;
      case 21: put_forward(); break;
      case 8:
      case 9:
      case 10:
      case 11: release(); break;
      default: acquire(); break;
    }
    table_.decide_waits(index_, counter_, decisions_);
    NaiveTable::Grants grants;
    for (const Decision& decision : decisions_.waits) {
      if (decision.kind == Decision::Kind::Granted) grants.emplace_back(decision.queued, decision.token);
    }
    ASSERT_EQ(grants, naive_.decide_waits()) << "S-48";
    std::vector<std::pair<std::string, Token>> asked;
    for (const Asked& each : decisions_.asked) asked.emplace_back(each.name, each.token);
    std::ranges::sort(asked);
    std::ranges::sort(naive_.asked);
    ASSERT_EQ(asked, naive_.asked) << "S-58";
  }

  void compare() {
    ASSERT_EQ(counter_.last(), naive_.last) << "S-47";
    ASSERT_EQ(table_->digest(), table_->recomputed_digest());
    ASSERT_EQ(table_->view().claims(), naive_.claims.size());
    const std::set<std::string> names = naive_.names();
    ASSERT_EQ(table_->view().names(), names.size()) << "REG_F76";
    for (const std::string& name : names) compare(name);
    std::map<std::string, std::pair<uint64_t, Duration>> delays;
    table_->delays().each([&](const DelayView& delay) { delays[std::string(delay.name)] = {delay.id, delay.duration}; });
    ASSERT_EQ(delays, naive_.delays) << "S-40";
    if (!exempt_) {
      ASSERT_FALSE(naive_.any_cycle()) << "INV_L17";
    }
  }

  // All holders release, until there is neither holder nor waiter.
  void drain() {
    for (size_t left = naive_.claims.size() + naive_.delays.size(); left > 0; --left) {
      index_ = index_.next();
      decisions_ = {};
      const auto hold = std::ranges::find_if(naive_.claims, &NaiveTable::Claim::held);
      if (hold != naive_.claims.end()) {
        ASSERT_TRUE(table_.release(key_of(*hold), hold->releases + hold->count));
        naive_.claims.erase(hold);
      } else {
        ASSERT_FALSE(naive_.delays.empty()) << "INV_L12: nothing blocks them";
        ASSERT_TRUE(table_.clear_delay(naive_.delays.begin()->first, decisions_));
        naive_.delays.erase(naive_.delays.begin());
      }
      table_.decide_waits(index_, counter_, decisions_);
      naive_.decide_waits();
    }
    ASSERT_EQ(table_->view().claims(), 0u);
    ASSERT_EQ(table_->view().names(), 0u) << "REG_F76";
  }

  // Continues from the rows of a checkpoint.
  void checkpoint_and_restore() {
    table_->collect([this](const ClaimView& claim) { rows_.insert_or_assign(id_of(claim), Row(claim)); },
                    [this](const DelayView& delay) {
                      delay_rows_.insert_or_assign(delay.id, std::pair(std::string(delay.name), delay.duration));
                    },
                    [this](RowId id) {
                      const bool delay = id.kind == RowId::Kind::Delay;
                      ASSERT_EQ(delay ? delay_rows_.erase(id.id) : rows_.erase(id), 1u);
                    });
    Table copy;
    TableRestore restore = copy.restore();
    for (const auto& [id, delay] : delay_rows_) ASSERT_TRUE(restore.add(DelayView{id, delay.first, delay.second}).ok());
    for (const auto& [id, row] : rows_) {  // holds before waiters
      const absl::Status status = restore.add(row.view());
      ASSERT_TRUE(status.ok()) << status;
    }
    ASSERT_TRUE(restore.finish().ok());
    ASSERT_EQ(copy.digest(), table_->digest());
    ASSERT_EQ(copy.view().claims(), rows_.size());
    if (chance(2)) table_.restored(std::move(copy));
  }

 private:
  // A claim that owns its texts.
  class Row {
   public:
    explicit Row(const ClaimView& claim) : view_(claim), name_(claim.name), tag_(claim.tag), value_(claim.texts.value) {
      for (const Wanted& other : claim.others) others_.emplace_back(other.name);
    }
    ClaimView view() const {
      ClaimView view = view_;
      view.name = name_;
      view.tag = tag_;
      view.texts.value = value_;
      for (size_t i = 0; i < others_.size(); ++i) view.others[i].name = others_[i];
      return view;
    }

   private:
    ClaimView view_;
    std::string name_, tag_, value_;
    std::vector<std::string> others_;
  };

  static RowId id_of(const ClaimView& claim) {
    return claim.held() ? RowId{RowId::Kind::Hold, claim.token.value()} : RowId{RowId::Kind::Wait, claim.since.value()};
  }
  static RequestId request(Index index) { return {{ReplicaId(1), {}, {}}, Sequence(index.value())}; }

  SessionId some_session() { return SessionId(random_.between(1, 6)); }
  std::string some_name() { return std::string(random_.below(8) == 0 ? 30 : 1, static_cast<char>('a' + random_.below(5))); }
  std::string some_tag() { return random_.below(3) == 0 ? "t" : ""; }
  bool chance(uint64_t in) { return random_.below(in) == 0; }
  // Usually one of the naive twin's, so that most steps have an effect.
  NaiveTable::Claim some_claim() {
    NaiveTable::Claim claim;
    claim.owner = {some_session(), some_tag()};
    claim.names = {{some_name(), Mode::Exclusive}};
    claim.token = Token(~uint64_t{0});
    if (!naive_.claims.empty() && !chance(8)) claim = naive_.claims[random_.below(naive_.claims.size())];
    return claim;
  }
  HoldKey key_of(const NaiveTable::Claim& claim) {
    return {claim.owner.first, std::nullopt, claim.names[random_.below(claim.names.size())].first, claim.token};
  }

  void compare(const std::string& name) {
    std::vector<std::tuple<Token, SessionId, uint32_t, std::string>> holds, expected_holds;
    table_->view().holders(name, [&](const ClaimView& hold) {
      holds.emplace_back(hold.token, hold.session, hold.count, hold.texts.value);
      if (!hold.sticky()) {
        ASSERT_EQ(mode_on(hold, name), table_->view().held(name, hold.token));
        return;
      }
      const NaiveTable::Claim* twin = naive_.delegation(name);
      ASSERT_NE(twin, nullptr);
      const Block expected{twin->block, Token(twin->first), Token(twin->last_of_block), Token(twin->newest), twin->asked};
      ASSERT_EQ(hold.block, expected) << "S-58";
    });
    std::vector<std::pair<Index, Mode>> queue, expected_queue;
    table_->view().queue(name, [&](const ClaimView& wait) {
      queue.emplace_back(wait.since, mode_on(wait, name));
      return true;
    });
    for (const auto& claim : naive_.claims) {
      const Mode* mode = NaiveTable::mode_of(claim, name);
      if (!mode) continue;
      if (claim.held()) {
        expected_holds.emplace_back(claim.token, claim.owner.first, claim.count, claim.value);
      } else {
        expected_queue.emplace_back(claim.queued, *mode);
      }
    }
    std::ranges::sort(expected_holds);
    ASSERT_EQ(holds, expected_holds);
    ASSERT_EQ(queue, expected_queue);
    ASSERT_EQ(table_->view().free(name), expected_holds.empty());
  }

  void acquire() {
    using Kind = AcquireVerdict::Kind;
    NaiveTable::Claim claim{.owner = {some_session(), some_tag()}, .queued = index_, .value = chance(2) ? "v" : ""};
    std::set<std::string> names;
    for (uint64_t n = chance(3) ? random_.between(2, 3) : 1; names.size() < n;) names.insert(some_name());
    for (const std::string& name : names) claim.names.emplace_back(name, chance(2) ? Mode::Shared : Mode::Exclusive);
    claim.timed = chance(2);
    claim.delay = chance(3) ? Duration(1s * random_.between(1, 3)) : Duration(0);
    claim.reentrant = names.size() == 1 && chance(2);
    const bool sticky = names.size() == 1 && chance(3);
    if (sticky) claim.block = random_.between(1, 100);
    if (sticky) claim.reentrant = false;
    if (sticky) claim.names.front().second = Mode::Exclusive;
    const bool waits = claim.timed || !chance(4), exempt = exempt_ && chance(2);
    std::vector<Wanted> wanted;
    for (const auto& [name, mode] : claim.names) wanted.push_back({name, mode});
    const AcquireVerdict verdict = table_.acquire({.index = index_,
                                                   .request = request(index_),
                                                   .session = claim.owner.first,
                                                   .tag = claim.owner.second,
                                                   .names = wanted,
                                                   .texts = {.value = claim.value},
                                                   .waits = waits,
                                                   .timeout = claim.timed ? Duration(1s) : Duration(0),
                                                   .delay = claim.delay,
                                                   .reentrant = claim.reentrant,
                                                   .may_close_cycle = exempt,
                                                   .block = claim.block},
                                                  counter_);
    std::vector<std::pair<Kind, Token>> already;
    for (const auto& [name, mode] : claim.names) {
      NaiveTable::Claim* own = naive_.find(claim.owner, name);
      if (!own && sticky) own = naive_.find(claim.owner, name, true);
      if (!own) continue;
      const bool again = own->held() && own->reentrant && claim.reentrant && own->names.front().second == mode;
      if (again) ++own->count;
      already.emplace_back(again ? Kind::Granted : own->held() ? Kind::AlreadyHeld : Kind::AlreadyWaiting, own->token);
    }
    if (!already.empty()) {  // of several names, which claim is reported is not promised
      ASSERT_TRUE(std::ranges::count(already, std::pair(verdict.kind, verdict.token))) << "S-38";
      return;
    }
    if (naive_.grantable(claim)) {
      claim.token = Token(++naive_.last);
      naive_.fill(claim);
      ASSERT_EQ(verdict.kind, Kind::Granted);
      ASSERT_EQ(verdict.token, claim.token);
    } else if (!waits) {
      const bool refused = verdict.kind == Kind::Held || verdict.kind == Kind::Delayed;
      ASSERT_TRUE(refused) << "S-36";
      if (verdict.kind == Kind::Held) {
        for (const auto& [name, mode] : claim.names) naive_.ask(name);
      }
      return;
    } else if (!exempt && naive_.cycle(claim.owner, naive_.in_the_way(claim))) {
      ASSERT_EQ(verdict.kind, Kind::Deadlock) << "S-49";
      return;
    } else {
      ASSERT_EQ(verdict.kind, Kind::Queued);
      for (const auto& [name, mode] : claim.names) naive_.ask(name);
    }
    naive_.claims.push_back(claim);
  }

  void release() {
    const NaiveTable::Claim claim = some_claim();
    NaiveTable::Claim* hold = claim.token ? naive_.find(claim.token) : nullptr;
    const uint64_t number = chance(2) ? 0 : random_.between(1, claim.releases + 2);
    ASSERT_EQ(table_.release(key_of(claim), number), hold != nullptr);
    if (!hold) return;
    const uint64_t done = number == 0 ? hold->releases + 1 : std::max(number, hold->releases);
    if (done - hold->releases >= hold->count) {
      std::erase_if(naive_.claims, [&](const auto& each) { return each.token == claim.token; });
    } else {
      hold->count -= static_cast<uint32_t>(done - hold->releases);
      hold->releases = done;
    }
  }

  void end() {
    const SessionId session = some_session();
    const bool expired = chance(2);
    std::vector<Index> lost, ended;
    for (const auto& claim : naive_.claims) {
      if (claim.owner.first == session && !claim.held()) lost.push_back(claim.queued);
    }
    naive_.end(session, expired);
    table_.end(session, expired ? Table::Ending::Expired : Table::Ending::Closed, counter_, decisions_);
    for (const Decision& decision : decisions_.waits) ended.push_back(decision.queued);
    ASSERT_EQ(ended, lost);
    ASSERT_EQ(table_->view().counts(session).holds + table_->view().counts(session).waiters, 0u) << "INV_L07";
  }

  void cancel() {
    const NaiveTable::Claim claim = some_claim();
    const auto verdict =
        table_.cancel(claim.owner.first, claim.owner.second, key_of(claim).name, request(claim.queued), decisions_);
    using Kind = CancelVerdict::Kind;
    const bool there = static_cast<bool>(claim.queued);
    ASSERT_EQ(verdict.kind, !there ? Kind::Absent : claim.held() ? Kind::Granted : Kind::Cancelled) << "INV_L08";
    if (there && !claim.held()) std::erase_if(naive_.claims, [&](const auto& each) { return each.queued == claim.queued; });
  }

  void time_out() {
    const Index queued = some_claim().queued;
    const size_t expected = std::erase_if(
        naive_.claims, [queued](const auto& claim) { return !claim.held() && claim.timed && claim.queued == queued; });
    ASSERT_EQ(table_.time_out(queued, decisions_), expected == 1);
  }

  void end_delay() {
    if (naive_.delays.empty() || chance(8)) {
      ASSERT_FALSE(table_.end_delay(random_.between(1, 1 << 20) + naive_.last, decisions_));
      ASSERT_FALSE(table_.clear_delay("no such name", decisions_));
      return;
    }
    const auto delay = std::next(naive_.delays.begin(), static_cast<ptrdiff_t>(random_.below(naive_.delays.size())));
    ASSERT_TRUE(chance(2) ? table_.clear_delay(delay->first, decisions_) : table_.end_delay(delay->second.first, decisions_));
    naive_.delays.erase(delay);
  }

  void downgrade() {
    const NaiveTable::Claim claim = some_claim();
    const ModeVerdict verdict = table_.downgrade(key_of(claim), index_, counter_);
    convert(claim, verdict, Mode::Exclusive, ModeVerdict::Kind::Done);
  }

  void upgrade() {
    using Kind = ModeVerdict::Kind;
    const NaiveTable::Claim claim = some_claim();
    const std::string& name = claim.names.front().first;
    Kind expected = Kind::Done;
    if (naive_.delays.contains(name)) expected = Kind::Delayed;
    for (const auto& other : naive_.claims) {
      if (other.held() && other.token != claim.token && NaiveTable::mode_of(other, name)) expected = Kind::Conflict;
    }
    NaiveTable::Claim* hold = naive_.find(claim.token);
    if (expected == Kind::Done && hold && hold->names.front().second == Mode::Shared) {
      hold->names.front().second = Mode::Exclusive;
      if (naive_.cycle(hold->owner, naive_.all_in_the_way(hold->owner))) expected = Kind::Deadlock;
      hold->names.front().second = Mode::Shared;
    }
    convert(claim, table_.upgrade(key_of(claim), index_, counter_), Mode::Shared, expected);
  }

  void convert(const NaiveTable::Claim& claim, const ModeVerdict& verdict, Mode from, ModeVerdict::Kind expected) {
    using Kind = ModeVerdict::Kind;
    NaiveTable::Claim* hold = claim.token ? naive_.find(claim.token) : nullptr;
    if (!hold) {
      ASSERT_EQ(verdict.kind, Kind::NotOwner);
      return;
    }
    const bool simple = hold->count == 1 && hold->names.size() == 1 && hold->names.front().second == from && hold->block == 0;
    ASSERT_EQ(verdict.kind, simple ? expected : Kind::Impossible) << "S-46";
    if (verdict.kind != Kind::Done) return;
    hold->names.front().second = from == Mode::Shared ? Mode::Exclusive : Mode::Shared;
    hold->token = Token(++naive_.last);
    hold->releases = 0;  // they are numbered by token
    ASSERT_EQ(verdict.token, hold->token);
  }

  void update() {
    const NaiveTable::Claim claim = some_claim();
    NaiveTable::Claim* hold = claim.token ? naive_.find(claim.token) : nullptr;
    HoldKey key = key_of(claim);
    if (hold && hold->block != 0) {
      key.token = some_token(*hold);
      if (NaiveTable::may_be_current(*hold, key.token.value())) {
        hold->newest = key.token.value();
      } else {
        hold = nullptr;
      }
    }
    ASSERT_EQ(table_.update_value(key, "another value, longer"), hold != nullptr);
    if (hold) hold->value = "another value, longer";
  }

  Token some_token(const NaiveTable::Claim& hold) { return Token(random_.between(hold.first - 1, hold.last_of_block + 1)); }
  void refill() {
    const NaiveTable::Claim claim = some_claim();
    NaiveTable::Claim* hold = claim.token ? naive_.find(claim.token) : nullptr;
    const std::optional<Token> first = table_.refill(key_of(claim), counter_);
    ASSERT_EQ(first.has_value(), hold != nullptr && hold->block != 0);
    if (!first) return;
    ++naive_.last;
    naive_.fill(*hold);
    ASSERT_EQ(first->value(), hold->first);
  }
  void renew() {
    const SessionId session = some_session();
    table_.regrant_all(session, index_, counter_);
    naive_.renew(session);
  }
  void put_forward() {
    const NaiveTable::Claim claim = some_claim();
    const std::string name = claim.names.front().first;
    NaiveTable::Claim* hold = naive_.delegation(name);
    const Token token = hold ? some_token(*hold) : claim.token;
    if (hold) {
      const bool met = NaiveTable::may_be_current(*hold, token.value());
      ASSERT_EQ(table_.put_forward(name, token).has_value(), met);
      if (met) hold->newest = token.value();
    } else {
      ASSERT_EQ(table_.put_forward(name, token).has_value(), token && naive_.find(token) != nullptr);
    }
  }

  Random random_;
  const bool exempt_;  // some acquires may close a cycle
  RestoredTwin table_;
  NaiveTable naive_;
  TokenCounter counter_;
  Index index_;
  Decisions decisions_;
  std::map<RowId, Row> rows_;
  std::map<uint64_t, std::pair<std::string, Duration>> delay_rows_;
};

// Covers: S-48 INV_L17 REG_F53 REG_F66
TEST(LockTableTest, RandomStepsMatchTheNaiveTwinOverCheckpointsAndRestores) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Twins twins(seed, seed % 3 == 0);
    for (int step = 0; step < 400; ++step) {
      ASSERT_NO_FATAL_FAILURE(twins.step()) << step;
      ASSERT_NO_FATAL_FAILURE(twins.compare()) << step;
      if (step % 7 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(twins.checkpoint_and_restore()) << step;
    }
    ASSERT_NO_FATAL_FAILURE(twins.drain());
  }
}

}  // namespace
}  // namespace coordkit::lock
