#include "tools/differential/machine_side.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "machine/keys/kv_codec.h"
#include "mvcc/interval.h"

namespace coordkit::differential {
namespace {

using machine::Result;
using machine::ResultCode;
using nlohmann::json;

// An unreadable answer of ours is as wrong as one that differs.
template <typename T>
T read(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error("coordkit's answer cannot be read: " + std::string(value.status().message()));
  return *std::move(value);
}

template <typename Came, typename Form>
Answer answer(const Came& result, Form form) {
  if (result.code != ResultCode::Ok) return {{"error", std::string(machine::reason_of(result.code))}};
  Answer out = form();
  out["revision"] = result.revision.value();
  return out;
}

// The answer to an operation; one with nothing to report sends nothing.
template <typename Reply>
Reply reply_of(const Result& result) {
  if (result.reply.empty()) return Reply();
  return std::get<Reply>(read(machine::decode_operation_reply(result.reply)).body);
}

const auto kNothing = [] { return json::object(); };

}  // namespace

MachineSide::MachineSide() { machine_.bootstrap(ClusterId(1), uint64_t{1} << 31); }

Result MachineSide::apply(machine::Request::Body body) {
  index_ = index_.next();
  const std::string bytes = encode(machine::Request{.body = std::move(body), .prior_releases = {}});
  const Command command{index_, {{ReplicaId(1), StoreId(1), BootCounter(1)}, Sequence(index_.value())}, bytes};
  ApplyOutput output;
  machine_.apply({&command, 1}, output);
  Result result = read(machine::decode_result(output.results.at(0).bytes));
  revision_ = result.revision;
  return result;
}

Answer MachineSide::take(const Step& step) {
  return std::visit([this](const auto& one) { return take_one(one); }, step);
}

Answer MachineSide::take_one(const RangeOperation& range) {
  const auto now = machine_.reads()->range(range);
  return answer(now, [&] { return form_of(now.reply); });
}

Answer MachineSide::take_one(const PutOperation& put) {
  const Result result = apply(put);
  return answer(result, [&] { return form_of(reply_of<PutReply>(result)); });
}

Answer MachineSide::take_one(const DeleteOperation& erase) {
  const Result result = apply(erase);
  return answer(result, [&] {
    DeleteReply reply = reply_of<DeleteReply>(result);
    reply.deleted = result.deleted;
    return form_of(reply);
  });
}

// A read-only one is read, as the client does.
Answer MachineSide::take_one(const Transaction& transaction) {
  if (machine::check(transaction).none() && !machine::writes(transaction)) {
    const auto now = machine_.reads()->read(transaction);
    return answer(now, [&] { return form_of(now.reply); });
  }
  const Result result = apply(transaction);
  return answer(result, [&] { return form_of(reply_of<std::vector<TransactionReply>>(result).at(0)); });
}

Answer MachineSide::take_one(const Compact& compact) {
  const Result result = apply(machine::Compact{compact.at});
  if (result.code == ResultCode::Ok) compacted_ = compact.at;
  return answer(result, kNothing);
}

Answer MachineSide::take_one(const GrantLease& grant) {
  const Result result = apply(machine::GrantLease{.id = grant.lease, .ttl = grant.ttl});
  return answer(result, [&] {
    return json{{"lease", result.lease.value()}, {"ttl", std::chrono::duration_cast<std::chrono::seconds>(result.ttl).count()}};
  });
}

Answer MachineSide::take_one(const RenewLease& renew) {
  const Result result = apply(machine::RenewLease{renew.lease});
  return answer(result, [&] { return json{{"ttl", std::chrono::duration_cast<std::chrono::seconds>(result.ttl).count()}}; });
}

Answer MachineSide::take_one(const RevokeLease& revoke) {
  return answer(apply(machine::RevokeLease{.id = revoke.lease}), kNothing);
}

Answer MachineSide::take_one(const ListKeysOfLease& list) {
  const machine::Leases reply = machine_.reads()->lease(list.lease, true, "");
  if (reply.leases.empty()) return {{"error", "LeaseNotFound"}};
  json keys = json::array();
  for (const std::string& key : reply.keys) keys.push_back(escaped(key));
  std::sort(keys.begin(), keys.end());  // like the other side's, by their printed form
  const auto granted = std::chrono::duration_cast<std::chrono::seconds>(reply.leases.front().ttl).count();
  return {{"keys", std::move(keys)}, {"granted", granted}, {"revision", reply.revision.value()}};
}

Answer MachineSide::take_one(const ListLeases&) {
  const machine::Leases reply = machine_.reads()->leases_after({}, 0);
  json ids = json::array();
  for (const machine::LeaseRow& row : reply.leases) ids.push_back(row.id.value());
  return {{"leases", std::move(ids)}, {"revision", reply.revision.value()}};
}

Answer MachineSide::take_one(const WatchFrom& watch) {
  if (mvcc::Interval::of(watch.key.empty() ? std::string_view("\0", 1) : watch.key, watch.end).empty()) {
    return {{"error", "EmptyRange"}};
  }
  json events = json::array();
  machine::ChangesAfter place{.from = watch.from, .key = watch.key, .end = watch.end, .previous = watch.previous};
  if (place.key.empty()) place.key = std::string(1, '\0');
  while (true) {
    const machine::Changes reply = machine_.reads()->changes(place);
    if (reply.gone || watch.from < reply.compacted) return {{"error", "Compacted"}};
    for (const machine::ChangeRow& row : reply.changes) {
      const bool deleted = row.entry.version == 0;
      if (!(deleted ? watch.deletes : watch.puts)) continue;
      const auto entry_of = [](const machine::EntryRow& entry, const std::string& key) {
        return KeyValue{key, entry.value, entry.create, entry.mod, entry.version, entry.lease};
      };
      Event event{deleted, entry_of(row.entry, row.entry.key), std::nullopt};
      if (!row.previous.empty()) event.previous = entry_of(row.previous.front(), row.entry.key);
      events.push_back(form_of(event));
    }
    place.from = reply.next;
    place.sub = reply.next_sub;
    if (reply.next > reply.revision) return {{"events", std::move(events)}};
  }
}

}  // namespace coordkit::differential
