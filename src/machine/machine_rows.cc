// The machine as a checkpoint: rows out, rows in, and the digest over both.
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/sums.h"
#include "machine/checkpoint_rows.h"
#include "machine/machine.h"
#include "machine/objects/coordination_rows.h"

namespace coordkit::machine {
namespace {

using rows::TableByte;

TableByte table_of(lock::RowId::Kind kind) {
  switch (kind) {
    case lock::RowId::Kind::Delay: return TableByte::Delays;
    case lock::RowId::Kind::Hold: return TableByte::Holds;
    case lock::RowId::Kind::Wait: break;
  }
  return TableByte::Waiters;
}

// The tables rarely change together, so only changed rows are encoded; the tables yield them in ascending order.
void collect_locks(lock::Table& locks, std::string_view prefix, CheckpointBatch& batch) {
  locks.collect(
      [&](const lock::ClaimView& claim) {
        const uint64_t id = claim.held() ? claim.token.value() : claim.since.value();
        const auto table = claim.held() ? TableByte::Holds : TableByte::Waiters;
        batch.put(rows::key(prefix, table, id), rows::encode(claim));
      },
      [&](const lock::DelayView& delay) { batch.put(rows::key(prefix, TableByte::Delays, delay.id), rows::encode(delay)); },
      [&](lock::RowId row) { batch.erase(rows::key(prefix, table_of(row.kind), row.id)); });
}

void collect_lives(lease::Table& lives, TableByte table, std::string_view prefix, CheckpointBatch& batch) {
  lives.collect(
      [&](SessionId id, const lease::Session& life) { batch.put(rows::key(prefix, table, id.value()), rows::encode(life)); },
      [&](SessionId id) { batch.erase(rows::key(prefix, table, id.value())); });
}

}  // namespace

rows::Counters Machine::counters() const {
  return {rows::kFormat, state_.cluster, state_.counter.last(), state_.keys.counters(), state_.key_quota};
}

void Machine::checkpoint(CheckpointBatch& batch) {
  const rows::Counters counters = this->counters();
  if (stored_counters_ != counters) {
    batch.put(rows::key(prefix_, TableByte::Counters, 0), rows::encode(counters));
    stored_counters_ = counters;
  }
  collect_locks(state_.locks, prefix_, batch);
  batch.rows.reserve(batch.rows.size() + state_.keys.to_collect());  // by far the most
  state_.keys.collect([&](const mvcc::Version& change) { batch.put(rows::key(prefix_, change.id()), rows::encode(change)); },
                      [&](mvcc::ChangeId row) { batch.erase(rows::key(prefix_, row)); });
  collect_lives(state_.leases, TableByte::Leases, prefix_, batch);
  state_.permissions.collect(
      [&](Index row, const RemotePermissions& list) {
        batch.put(rows::key(prefix_, TableByte::Permissions, row.value()), rows::encode(list));
      },
      [&](Index row) { batch.erase(rows::key(prefix_, TableByte::Permissions, row.value())); });
  collect_lives(state_.sessions, TableByte::Sessions, prefix_, batch);
  state_.cancels.collect(
      [&](ReplicaId replica, const CancelMarks::Marks& marks) {
        batch.put(rows::key(prefix_, TableByte::CancelMarks, replica.value()), rows::encode(marks));
      },
      [&](ReplicaId replica) { batch.erase(rows::key(prefix_, TableByte::CancelMarks, replica.value())); });
  rows::collect(state_.coordination, prefix_, batch);
}

bool Machine::forget_stored() {
  stored_counters_.reset();
  state_.locks.forget_stored();
  state_.keys.forget_stored();
  state_.leases.forget_stored();
  state_.permissions.forget_stored();
  state_.sessions.forget_stored();
  state_.cancels.forget_stored();
  rows::forget_stored(state_.coordination);
  return true;
}

namespace {

// Fills an empty state row by row, in the order of the table bytes: coordination, counters, delays, holds, keys, leases,
// permissions, sessions, waiters, marks.
class Restorer {
 public:
  explicit Restorer(State& state) : state_(state), locks_(state.locks.restore()) {}

  absl::Status add(const rows::ParsedKey& key, std::string_view value) {
    switch (key.table) {
      case TableByte::Counters: return add_counters(key, value);
      case TableByte::Delays: return add_delay(key, value);
      case TableByte::Holds: return add_claim(key, value, Token(key.id));
      case TableByte::Waiters: return add_claim(key, value, Token());
      case TableByte::Keys: return add_key(key, value);
      case TableByte::Leases: return add_life(state_.leases, key, value);
      case TableByte::Permissions: return add_permissions(key, value);
      case TableByte::Sessions: return add_life(state_.sessions, key, value);
      case TableByte::CancelMarks: return add_marks(key, value);
      default: break;
    }
    any_ = true;
    return rows::restore(state_.coordination, key, value).value_or(absl::DataLossError("a row of an unknown table"));
  }

  absl::Status finish() {
    if (!founded_) return any_ ? absl::DataLossError("a checkpoint without counters") : absl::OkStatus();
    highest_id_ = std::max(highest_id_, state_.coordination.highest_token());
    if (highest_id_ > state_.counter.last()) return absl::DataLossError("a token or session above the counter");
    if (absl::Status status = state_.keys.restored(); !status.ok()) return status;
    if (absl::Status status = locks_.finish(); !status.ok()) return status;
    if (absl::Status status = state_.coordination.restored(); !status.ok()) return status;
    absl::Status orphans;
    const auto look = [&](SessionId session) {
      if (!state_.sessions.contains(session)) orphans = absl::DataLossError("a claim of a session that does not exist");
    };
    state_.keys.every_lease([&](LeaseId lease) {
      const bool there = state_.sessions.contains(SessionId(lease.value())) || state_.leases.named(lease);
      if (!there) orphans = absl::DataLossError("a key attached to a session or lease that does not exist");
    });
    state_.leases.each_after({}, [&](SessionId number, const lease::Session& lease) {
      const bool taken = state_.sessions.contains(number) || state_.sessions.contains(SessionId(lease.name.value()));
      if (taken) orphans = absl::DataLossError("a lease and a session of one id");
      return orphans.ok();
    });
    state_.locks.view().every_session(look);
    state_.coordination.every_session(look);
    state_.locks.delays().each([&](const lock::DelayView& delay) {
      const bool taken = state_.sessions.contains(SessionId(delay.id)) || state_.leases.contains(SessionId(delay.id));
      if (taken) orphans = absl::DataLossError("a lock-delay and a session of one id");
    });
    return orphans.ok() ? check_timers() : orphans;
  }

  bool founded() const { return founded_; }

 private:
  // One entry has one command, so no two waits or claims are named by the same entry.
  absl::Status check_timers() const {
    absl::btree_set<Index> named;
    bool twice = false;
    state_.locks.view().timed_waits([&](const lock::ClaimView& wait) { twice |= !named.insert(wait.since).second; });
    state_.coordination.timers([&](Index wait, Duration) { twice |= !named.insert(wait).second; },
                               [&](const coordination::ClaimTimer& claim) { twice |= !named.insert(claim.queued).second; });
    return twice ? absl::DataLossError("two timers of one entry") : absl::OkStatus();
  }

  absl::Status add_counters(const rows::ParsedKey& key, std::string_view value) {
    const absl::StatusOr<rows::Counters> counters = rows::decode_counters(value);
    if (!counters.ok()) return counters.status();
    if (key.id != 0) return absl::DataLossError("counters under an unknown id");
    state_.cluster = counters->cluster;
    state_.counter = lock::TokenCounter(counters->counter);
    state_.key_quota = counters->key_quota;
    any_ = founded_ = true;
    return state_.keys.restore_counters(counters->keys);
  }

  absl::Status add_claim(const rows::ParsedKey& key, std::string_view value, Token token) {
    absl::StatusOr<lock::ClaimView> claim = rows::decode_claim(value);
    if (!claim.ok()) return claim.status();
    if (!token && claim->since.value() != key.id) return absl::DataLossError("a waiter under a foreign index");
    claim->token = token;
    highest_id_ = std::max({highest_id_, token.value(), claim->block.last.value()});
    any_ = true;
    return locks_.add(*claim);
  }

  absl::Status add_delay(const rows::ParsedKey& key, std::string_view value) {
    absl::StatusOr<lock::DelayView> delay = rows::decode_delay(value);
    if (!delay.ok()) return delay.status();
    delay->id = key.id;
    highest_id_ = std::max(highest_id_, key.id);
    any_ = true;
    return delay->id == 0 ? absl::DataLossError("a lock-delay without an id") : locks_.add(*delay);
  }

  absl::Status add_key(const rows::ParsedKey& key, std::string_view value) {
    absl::StatusOr<mvcc::Store::Row> row = rows::decode_change(value);
    if (!row.ok()) return row.status();
    row->id = {Revision(key.id), key.sub};
    any_ = true;
    return state_.keys.restore(*row);
  }

  absl::Status add_life(lease::Table& lives, const rows::ParsedKey& key, std::string_view value) {
    absl::StatusOr<lease::Session> session = rows::decode_session(value);
    if (!session.ok()) return session.status();
    const bool lease = bool{session->name};
    if (lease != (&lives == &state_.leases)) return absl::DataLossError("a lease among the sessions, or the other way round");
    highest_id_ = std::max(highest_id_, key.id);
    any_ = true;
    return lives.restore(SessionId(key.id), std::move(*session));
  }

  absl::Status add_marks(const rows::ParsedKey& key, std::string_view value) {
    absl::StatusOr<CancelMarks::Marks> marks = rows::decode_cancel_marks(value);
    if (!marks.ok()) return marks.status();
    marks->origin.replica = ReplicaId(key.id);
    any_ = true;
    return state_.cancels.restore(ReplicaId(key.id), std::move(*marks));
  }

  absl::Status add_permissions(const rows::ParsedKey& key, std::string_view value) {
    absl::StatusOr<RemotePermissions> list = rows::decode_permissions(value);
    if (!list.ok()) return list.status();
    any_ = true;
    return state_.permissions.restore(Index(key.id), *std::move(list));
  }

  State& state_;
  lock::TableRestore locks_;
  uint64_t highest_id_ = 0;
  bool any_ = false;
  bool founded_ = false;
};

}  // namespace

// An error leaves the old state as it was.
absl::Status Machine::restore(const CheckpointView& view) {
  State fresh;
  Restorer restorer(fresh);
  absl::Status status = view.scan(prefix_, [&](std::string_view key, std::string_view value) -> absl::Status {
    const absl::StatusOr<rows::ParsedKey> parsed = rows::parse_key(key.substr(prefix_.size()));
    return parsed.ok() ? restorer.add(*parsed, value) : parsed.status();
  });
  if (status.ok()) status = restorer.finish();
  if (!status.ok()) return status;
  state_ = std::move(fresh);
  coordination_.note_leaders();
  stored_counters_.reset();
  if (restorer.founded()) stored_counters_ = counters();
  return absl::OkStatus();
}

namespace {

uint64_t counters_hash(const rows::Counters& counters) {
  const uint64_t hash = hash_mix(hash_mix(0x636f756e, counters.cluster.value()), counters.counter);
  return hash_mix(hash_mix(hash, counters.keys.revision.value()), counters.key_quota);
}

}  // namespace

uint64_t Machine::digest() const {
  return counters_hash(counters()) + state_.sessions.digest() + state_.leases.digest() + state_.locks.digest() +
         state_.keys.digest() + state_.cancels.digest() + state_.permissions.digest() + state_.coordination.digest();
}

uint64_t Machine::recomputed_digest() const {
  return counters_hash(counters()) + state_.sessions.recomputed_digest() + state_.leases.recomputed_digest() +
         state_.locks.recomputed_digest() + state_.keys.recomputed_digest() + state_.cancels.recomputed_digest() +
         state_.permissions.recomputed_digest() + state_.coordination.recomputed_digest();
}

void Machine::verify() const {
  const auto look = [&](SessionId id) { COORDKIT_CHECK_MSG(state_.sessions.contains(id), "INV_L07"); };
  state_.locks.view().every_session(look);
  state_.coordination.every_session(look);
  state_.keys.every_lease([&](LeaseId lease) { COORDKIT_CHECK_MSG(state_.lease_exists(lease), "INV_K05"); });
  COORDKIT_CHECK_MSG(digest() == recomputed_digest(), "INV_R14");
}

}  // namespace coordkit::machine
