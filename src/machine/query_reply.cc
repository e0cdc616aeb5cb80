#include <utility>

#include "machine/fields.h"
#include "machine/kv_codec.h"
#include "machine/query.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

// Exclusive is the usual mode, and written as nothing.
void put_mode(pbf_writer& out, LockMode mode) {
  put_number(out, 20, mode == LockMode::Exclusive ? 0 : static_cast<uint64_t>(mode));
}
LockMode get_mode(pbf_reader& in) {
  return in.get_uint64() == static_cast<uint64_t>(LockMode::Shared) ? LockMode::Shared : LockMode::Exclusive;
}

void write(pbf_writer& out, const HolderInfo& holder) {
  put_number(out, 1, holder.session);
  put_bytes(out, 2, holder.owner_tag);
  put_number(out, 3, holder.token);
  put_number(out, 4, holder.count);
  put_number(out, 5, holder.since);
  put_request_id(out, 6, holder.request);
  put_bytes(out, 7, holder.value);
  put_mode(out, holder.mode);
}
HolderInfo read_holder(pbf_reader in) {
  HolderInfo holder;
  holder.count = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, holder.session); break;
      case bytes(2): get(in, holder.owner_tag); break;
      case number(3): get(in, holder.token); break;
      case number(4): get(in, holder.count); break;
      case number(5): get(in, holder.since); break;
      case bytes(6): get(in, holder.request); break;
      case bytes(7): get(in, holder.value); break;
      case number(20): holder.mode = get_mode(in); break;
      default: in.skip();
    }
  }
  return holder;
}

void write(pbf_writer& out, const WaiterInfo& waiter) {
  put_number(out, 1, waiter.position);
  put_number(out, 2, waiter.session);
  put_bytes(out, 3, waiter.owner_tag);
  put_number(out, 4, waiter.since);
  put_request_id(out, 5, waiter.request);
  put_mode(out, waiter.mode);
}
WaiterInfo read_waiter(pbf_reader in) {
  WaiterInfo waiter;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, waiter.position); break;
      case number(2): get(in, waiter.session); break;
      case bytes(3): get(in, waiter.owner_tag); break;
      case number(4): get(in, waiter.since); break;
      case bytes(5): get(in, waiter.request); break;
      case number(20): waiter.mode = get_mode(in); break;
      default: in.skip();
    }
  }
  return waiter;
}

void write(pbf_writer& out, const SessionInfo& session) {
  put_number(out, 1, session.session);
  put_duration(out, 2, session.ttl);
  put_number(out, 3, session.node);
  put_number(out, 4, session.boot);
  put_number(out, 5, session.incarnation);
  put_number(out, 6, session.generation);
  put_number(out, 7, session.holds);
  put_number(out, 8, session.waiters);
  put_bytes(out, 9, session.metadata);
  put_number(out, 30, uint64_t{session.ending});
}
SessionInfo read_session_info(pbf_reader in) {
  SessionInfo session;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, session.session); break;
      case number(2): get(in, session.ttl); break;
      case number(3): get(in, session.node); break;
      case number(4): get(in, session.boot); break;
      case number(5): get(in, session.incarnation); break;
      case number(6): get(in, session.generation); break;
      case number(7): get(in, session.holds); break;
      case number(8): get(in, session.waiters); break;
      case bytes(9): get(in, session.metadata); break;
      case number(30): get(in, session.ending); break;
      default: in.skip();
    }
  }
  return session;
}

void write(pbf_writer& out, const HeldLock& lock) {
  put_bytes(out, 1, lock.name);
  put_bytes(out, 2, lock.owner_tag);
  put_number(out, 3, lock.token);
  put_request_id(out, 4, lock.request);
  put_mode(out, lock.mode);
  put_number(out, 21, lock.count == 1 ? 0 : lock.count);
  put_number(out, 22, lock.releases);
  put_number(out, 30, lock.since);
}
HeldLock read_held_lock(pbf_reader in) {
  HeldLock lock;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, lock.name); break;
      case bytes(2): get(in, lock.owner_tag); break;
      case number(3): get(in, lock.token); break;
      case bytes(4): get(in, lock.request); break;
      case number(20): lock.mode = get_mode(in); break;
      case number(21): get(in, lock.count); break;
      case number(22): get(in, lock.releases); break;
      case number(30): get(in, lock.since); break;
      default: in.skip();
    }
  }
  return lock;
}

void write(pbf_writer& out, const KeyValue& entry) { write_record(out, entry); }
KeyValue read_key_value(pbf_reader in) {
  KeyValue entry;
  read_record(in, entry);
  return entry;
}

// All replies are a list in field 1 and two numbers in 2 and 3.
struct Tail {
  uint64_t second = 0;
  uint64_t third = 0;
};

template <typename Row>
std::string encode_reply(const Row* rows, size_t count, Tail tail) {
  std::string bytes;
  pbf_writer out(bytes);
  for (size_t i = 0; i < count; ++i) {
    pbf_writer body(out, 1);
    write(body, rows[i]);
  }
  put_number(out, 2, tail.second);
  put_number(out, 3, tail.third);
  return bytes;
}

template <typename Row, typename ReadRow>
absl::StatusOr<Tail> decode_reply(std::string_view encoded, std::vector<Row>& rows, ReadRow read_row) {
  Tail tail;
  const auto read = [&](pbf_reader in) -> absl::Status {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case bytes(1):
          if (rows.size() == kQueryRowsMax) return absl::DataLossError("malformed reply: too many rows");
          rows.push_back(read_row(in.get_message()));
          break;
        case number(2): get(in, tail.second); break;
        case number(3): get(in, tail.third); break;
        default: in.skip();
      }
    }
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, "reply", read); !status.ok()) return status;
  return tail;
}

template <typename Row>
std::string encode_reply(const std::vector<Row>& rows, Tail tail) {
  return encode_reply(rows.data(), rows.size(), tail);
}

}  // namespace

std::string encode(const HoldersReply& reply) { return encode_reply(reply.holders, {reply.waiters, reply.delayed}); }
std::string encode(const QueueReply& reply) { return encode_reply(reply.waiters, {reply.more, 0}); }
std::string encode(const SessionReply& reply) {
  return encode_reply(reply.session ? &*reply.session : nullptr, reply.session ? 1 : 0, {});
}
std::string encode(const SessionsReply& reply) { return encode_reply(reply.sessions, {reply.more, 0}); }
std::string encode(const LocksOfReply& reply) { return encode_reply(reply.locks, {reply.more, 0}); }
std::string encode(const TokenStillHeldReply& reply) { return encode_reply<HeldLock>(nullptr, 0, {reply.held, 0}); }
std::string encode(const KeysReply& reply) { return encode_reply(reply.keys, {reply.more, reply.revision.value()}); }

absl::StatusOr<HoldersReply> decode_holders(std::string_view bytes) {
  HoldersReply reply;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, reply.holders, read_holder);
  if (!tail.ok()) return tail.status();
  reply.waiters = tail->second;
  reply.delayed = tail->third != 0;
  return reply;
}

absl::StatusOr<QueueReply> decode_queue(std::string_view bytes) {
  QueueReply reply;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, reply.waiters, read_waiter);
  if (!tail.ok()) return tail.status();
  reply.more = tail->second != 0;
  return reply;
}

absl::StatusOr<SessionReply> decode_session(std::string_view bytes) {
  std::vector<SessionInfo> rows;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, rows, read_session_info);
  if (!tail.ok()) return tail.status();
  if (rows.size() > 1) return absl::DataLossError("malformed reply: more than one session");
  SessionReply reply;
  if (!rows.empty()) reply.session = std::move(rows.front());
  return reply;
}

absl::StatusOr<SessionsReply> decode_sessions(std::string_view bytes) {
  SessionsReply reply;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, reply.sessions, read_session_info);
  if (!tail.ok()) return tail.status();
  reply.more = tail->second != 0;
  return reply;
}

absl::StatusOr<LocksOfReply> decode_locks_of(std::string_view bytes) {
  LocksOfReply reply;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, reply.locks, read_held_lock);
  if (!tail.ok()) return tail.status();
  reply.more = tail->second != 0;
  return reply;
}

absl::StatusOr<TokenStillHeldReply> decode_token_still_held(std::string_view bytes) {
  std::vector<HeldLock> rows;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, rows, read_held_lock);
  if (!tail.ok()) return tail.status();
  return TokenStillHeldReply{tail->second != 0};
}

absl::StatusOr<KeysReply> decode_keys(std::string_view bytes) {
  KeysReply reply;
  const absl::StatusOr<Tail> tail = decode_reply(bytes, reply.keys, read_key_value);
  if (!tail.ok()) return tail.status();
  reply.more = tail->second != 0;
  reply.revision = Revision(tail->third);
  return reply;
}

}  // namespace coordkit::machine
