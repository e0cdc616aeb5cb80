// What calls of etcd, Consul, ZooKeeper with Curator and Redlock become, and how a running service is moved while it holds both
// locks: the code of docs/migration.
//
//   20_migration    three replicas in this process, in memory
#include <coordkit/coordkit.h>
#include <coordkit/ports/parts.h>
#include <coordkit/transport/loopback_transport.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;

int failures = 0;

void expect(bool fact, const std::string& sentence) {
  std::cout << (fact ? "ok      " : "FAILED  ") << sentence << "\n";
  failures += fact ? 0 : 1;
}

// ---- etcd

// Lock, a transaction that holds only while IsOwner() does, Unlock.
absl::Status store_report(Session session, Kv kv, std::string report) {
  absl::StatusOr<Grant> turn = session.acquire("nightly-report", {.timeout = 30s});
  if (!turn.ok()) return turn.status();
  const auto stored = Txn(std::move(kv))
                          .when(Compare::lock_held("nightly-report", turn->token()))
                          .then(PutOperation{.key = "reports/last", .value = std::move(report)})
                          .commit();
  if (!stored.ok()) return stored.status();
  return stored->succeeded ? turn->release() : absl::AbortedError("the lock was lost before the report was stored");
}

// Get of a prefix, then Watch from the revision after it.
Watch follow(const Replica& replica, const RangeResult& seen) {
  WatchOptions options = WatchOptions::prefix("config/");
  options.from = Revision(seen.revision.value() + 1);
  return {replica, options};
}

void from_etcd(Replica& replica, const Session& session) {
  Kv kv(replica);
  expect(store_report(session, kv, "all is well").ok(), "etcd: a transaction depends on the lock");

  const absl::StatusOr<RangeResult> seen = kv.range(RangeOperation::prefix("config/"));
  const bool written = seen.ok() && kv.put("config/size", "3").ok();
  Watch watch = follow(replica, seen.value_or(RangeResult()));
  absl::StatusOr<WatchBatch> batch = watch.next(30s);  // Created
  if (batch.ok()) batch = watch.next(30s);
  expect(written && batch.ok() && !batch->events.empty() && batch->events.front().entry.value == "3",
         "etcd: a watch misses nothing after the range");
}

// ---- Consul

// PUT /kv/KEY?cas=INDEX: the index that was read, or 0 for a key that must not exist.
absl::StatusOr<bool> check_and_set(Kv kv, const std::string& key, std::string value) {
  const absl::StatusOr<GetResult> read = kv.get(key);
  if (!read.ok()) return read.status();
  const Revision seen = read->entry ? read->entry->mod : Revision();
  const auto done = Txn(std::move(kv))
                        .when(Compare::modified(key, Compare::Relation::Equal, seen))
                        .then(PutOperation{.key = key, .value = std::move(value)})
                        .commit();
  if (!done.ok()) return done.status();
  return done->succeeded;
}

// PUT /kv/KEY?acquire=SESSION, of a session with LockDelay 15s.
absl::StatusOr<Grant> own_shard(Session session, std::string address) {
  return session.acquire("shards/7", {.timeout = 30s, .value = std::move(address), .delay = 15s});
}

void from_consul(Replica& replica, const Session& session) {
  Kv kv(replica);
  expect(check_and_set(kv, "limits", "10").value_or(false), "Consul: check and set, of a key that is not there");
  expect(check_and_set(kv, "limits", "20").value_or(false), "Consul: check and set, of one that is");

  const absl::StatusOr<Grant> shard = own_shard(session, "10.0.0.1:80");
  const absl::StatusOr<LockInfo> who = replica.holders("shards/7");
  expect(shard.ok() && who.ok() && who->holders.size() == 1 && who->holders[0].texts.value == "10.0.0.1:80",
         "Consul: everybody sees the holder's value");
}

// ---- ZooKeeper and Curator

// create(path, data, EPHEMERAL_SEQUENTIAL)
absl::StatusOr<std::string> join(Kv kv, const Session& session, std::string data) {
  const LeaseId ephemeral(session.id().value());
  const auto made = kv.put({.key = "workers/w-", .value = std::move(data), .lease = ephemeral, .sequential = true});
  if (!made.ok()) return made.status();
  return made->key;
}

// LeaderSelector: valid() is false wherever SUSPENDED or LOST would have been heeded.
absl::StatusOr<int> lead(Session session, int jobs) {
  Election scheduler(std::move(session), "scheduler");
  absl::StatusOr<Grant> leadership = scheduler.campaign("10.0.0.1:80", 30s);
  if (!leadership.ok()) return leadership.status();
  int done = 0;
  while (done < jobs && leadership->valid()) ++done;
  if (absl::Status resigned = scheduler.resign(*std::move(leadership)); !resigned.ok()) return resigned;
  return done;
}

void from_zookeeper(Replica& replica, const Session& session) {
  Kv kv(replica);
  Session mortal = replica.open_session().value_or(Session());
  const absl::StatusOr<std::string> first = join(kv, session, "a"), second = join(kv, mortal, "b");
  expect(first.ok() && second.ok() && *first < *second, "ZooKeeper: sequential keys are in the order of their creation");
  const bool ended = mortal.close().ok();
  const absl::StatusOr<GetResult> gone = kv.get(second.value_or(""));
  expect(ended && gone.ok() && !gone->entry, "ZooKeeper: an ephemeral key goes with its session");
  expect(lead(session, 3).value_or(0) == 3, "Curator: a leader works while it leads");
}

// ---- Redlock

// What the lock protects: it accepts no write older than one it has seen.
class Ledger {
 public:
  absl::Status charge(Token token, int cents) {
    const std::lock_guard one_step(mutex_);
    if (absl::Status admitted = gate_.admit(token); !admitted.ok()) return admitted;
    balance_ += cents;
    return absl::OkStatus();
  }
  int balance() const { return balance_; }

 private:
  std::mutex mutex_;
  FenceGate gate_;
  int balance_ = 0;
};

// lock(resource, ttl), work while validity is left, unlock.
absl::Status charge(Session session, Ledger& ledger, int cents) {
  absl::StatusOr<Grant> lock = session.acquire("invoices/17", {.timeout = 2s, .max_hold = 10s});
  if (!lock.ok()) return lock.status();
  if (!lock->valid()) return absl::AbortedError("lost before anything was charged");
  if (absl::Status charged = ledger.charge(lock->token(), cents); !charged.ok()) return charged;
  return lock->release();
}

void from_redlock(const Session& session) {
  Ledger ledger;
  Session copy = session;
  const Token late = copy.acquire("invoices/17", {.timeout = 30s}).value_or(Grant()).token();  // released at once
  expect(charge(session, ledger, 500).ok(), "Redlock: a lock, a check, a write with its token");
  expect(!ledger.charge(late, 500).ok() && ledger.balance() == 500, "Redlock: a late write is refused at the resource");
}

// ---- moving a running service

// The lock that is being replaced, in the shape of std::timed_mutex. Here it is this process's own; yours asks the old service.
class OldLock {
 public:
  bool try_lock_for(std::chrono::milliseconds timeout) { return mutex_.try_lock_for(timeout); }
  bool try_lock() { return mutex_.try_lock(); }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool held() const { return true; }  // as far as the old client knows; the owner's to ask

 private:
  std::timed_mutex mutex_;
};

struct BothLocks {
  std::unique_lock<OldLock> old;  // declared first, so released last
  Grant grant;
  bool valid() const { return old.owns_lock() && old.mutex()->held() && grant.valid(); }
};

// Every process takes the old one first: two orders would be a deadlock across two services that neither of them sees.
absl::StatusOr<BothLocks> take_both(OldLock& old, Session session, std::string name, std::chrono::milliseconds timeout) {
  std::unique_lock first(old, timeout);
  if (!first.owns_lock()) return absl::DeadlineExceededError("somebody else has the old lock");
  absl::StatusOr<Grant> second = session.acquire(std::move(name), {.timeout = timeout});
  if (!second.ok()) return second.status();  // the old one is released with its scope
  return BothLocks{std::move(first), *std::move(second)};
}

// Counts how many are inside at once.
class Room {
 public:
  void visit() {
    if (inside_.fetch_add(1) != 0) crowded_ = true;
    std::this_thread::yield();
    inside_.fetch_sub(1);
    ++visits_;
  }
  bool crowded() const { return crowded_; }
  int visits() const { return visits_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<int> visits_ = 0;
  std::atomic<bool> crowded_ = false;
};

constexpr int kVisits = 20;

void by_old_lock(OldLock& old, Room& room) {
  for (int i = 0; i < kVisits; ++i) {
    const std::lock_guard lock(old);
    room.visit();
  }
}

void by_both_locks(OldLock& old, const Session& session, Room& room) {
  for (int i = 0; i < kVisits; ++i) {
    const absl::StatusOr<BothLocks> both = take_both(old, session, "room", 30s);
    if (both.ok() && both->valid()) room.visit();
  }
}

void by_new_lock(const Session& session, Room& room) {
  Session me = session;
  for (int i = 0; i < kVisits; ++i) {
    const absl::StatusOr<Grant> grant = me.acquire("room", {.timeout = 30s});
    if (grant.ok() && grant->valid()) room.visit();
  }
}

// The two roll-outs, each with processes of two versions at once.
void move_a_service(const Session& session, const Session& another) {
  OldLock old;
  Room first, second;
  std::thread not_yet([&] { by_old_lock(old, first); });
  by_both_locks(old, session, first);
  not_yet.join();
  expect(!first.crowded() && first.visits() == 2 * kVisits, "first roll-out: old lock alone, and both");

  std::thread already([&] { by_new_lock(another, second); });
  by_both_locks(old, session, second);
  already.join();
  expect(!second.crowded() && second.visits() == 2 * kVisits, "second roll-out: both, and coordkit's alone");
}

int report(const absl::Status& status) {
  std::cerr << "20_migration: " << status << "\n";
  return 1;
}

int run() {
  LoopbackHub hub;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    auto replica =
        Replica::open({.id = id, .cluster = "shop", .members = {{1, ""}, {2, ""}, {3, ""}}, .parts = in_memory(hub)});
    if (!replica.ok()) return report(replica.status());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) {
    if (const absl::Status ready = replica->wait_ready(60s); !ready.ok()) return report(ready);
  }
  const absl::StatusOr<Session> session = replicas[0]->open_session({.ttl = 30s});
  const absl::StatusOr<Session> another = replicas[1]->open_session({.ttl = 30s});
  if (!session.ok()) return report(session.status());
  if (!another.ok()) return report(another.status());

  from_etcd(*replicas[0], *session);
  from_consul(*replicas[0], *session);
  from_zookeeper(*replicas[0], *session);
  from_redlock(*session);
  move_a_service(*session, *another);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main() { return run(); }
