#include "replica/operate/admin_commands.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "base/hold_texts.h"
#include "coordkit/error.h"
#include "coordkit/keys/kv.h"
#include "coordkit/keys/watch.h"
#include "coordkit/operate/backup.h"
#include "coordkit/operate/metrics.h"
#include "coordkit/operate/permissions.h"

namespace coordkit {
namespace {

using Words = AdminCommand::Words;
using std::chrono::milliseconds;

constexpr int64_t kKeysShown = 100;
constexpr uint64_t kSessionsAtOnce = 500;
constexpr Duration kLook = milliseconds(200);  // what may take long checks this often whether its reader is still there

// ---- words and cells

absl::StatusOr<uint64_t> number(const std::string& word, std::string_view what, uint64_t least = 0) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= least) return value;
  return make_error(Reason::InvalidArgument,
                    std::string(what) + " must be a whole number from " + std::to_string(least) + " up, and is '" + word + "'");
}

std::string text(uint64_t value) { return std::to_string(value); }
std::string text(bool value) { return value ? "true" : "false"; }
template <typename Tag>
std::string text(Id<Tag> id) {
  return std::to_string(id.value());
}
std::string in_milliseconds(Duration time) { return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()); }
std::string in_milliseconds(const std::optional<Duration>& time) { return time ? in_milliseconds(*time) : std::string(); }
template <typename Named>
std::string name(Named value) {
  return std::string(name_of(value));
}

// ---- reading

absl::Status status(Service& service, const AdminIdentity& identity, Words, AdminReply& reply) {
  const Health health = service.health();
  const auto field = [&reply](const char* name, std::string value) { reply.field(name, {std::move(value)}); };
  const bool has_replica = identity.id != 0;
  if (has_replica) field("replica:number", text(identity.id));
  field("cluster", identity.cluster);
  field("feature_level:number", text(health.feature_level));
  field("state", name(health.state));
  if (!health.reason.empty()) field("reason", health.reason);
  if (has_replica) field("role", name(health.role));
  field("term:number", text(health.term));
  reply.field("leader:number", health.leader ? std::vector{text(health.leader)} : std::vector<std::string>());
  field("applied:number", text(health.applied));
  if (has_replica) {
    field("commit:number", text(health.commit));
    field("durable:number", text(health.durable));
    field("checkpointed:number", text(health.checkpointed));
    field("digest:number", text(health.digest));
  }
  if (health.contact_age) field("contact_age_ms:number", in_milliseconds(health.contact_age));
  if (health.catch_up) field("entries_behind:number", text(health.catch_up->entries));
  if (!health.change.empty()) field("change", health.change);
  std::vector<std::string> missing;
  for (const MissingMember& member : health.missing) missing.push_back(roll_call({member}));
  reply.field("missing:list", std::move(missing));
  reply.field("warnings:list", health.warnings);
  return absl::OkStatus();
}

absl::Status members(Replica& replica, const AdminIdentity& identity, Words, AdminReply& reply) {
  const Health health = replica.health();
  reply.columns({"id:number", "address", "role", "leads:flag", "here:flag", "lag:number", "silent_ms:number"});
  for (const MemberInfo& member : health.members.members) {
    reply.row({text(member.id), member.address, name(member.role), text(health.leader == ReplicaId(member.id)),
               text(member.id == identity.id), member.lag ? text(*member.lag) : "", in_milliseconds(member.silence)});
  }
  if (health.members.joint) reply.note("a change of members is half done; the leader completes it");
  return absl::OkStatus();
}

// Visits all sessions, page by page, as long as there is a reader.
absl::Status each_session(Service& service, AdminReply& reply, const std::function<absl::Status(const SessionInfo&)>& visit) {
  SessionId after;
  while (true) {
    const absl::StatusOr<SessionList> page = service.sessions(after, kSessionsAtOnce);
    if (!page.ok()) return page.status();
    for (const SessionInfo& session : page->sessions) {
      if (absl::Status status = visit(session); !status.ok()) return status;
      if (reply.gone()) return make_error(Reason::Cancelled, "the reader of the answer has gone");
      after = session.session;
    }
    if (!page->more || page->sessions.empty()) return absl::OkStatus();
  }
}

absl::Status sessions(Service& service, const AdminIdentity&, Words, AdminReply& reply) {
  reply.columns({"session:number", "ttl_ms:number", "replica:number", "start:number", "holds:number", "waits:number",
                 "ending:flag", "metadata"});
  return each_session(service, reply, [&](const SessionInfo& one) {
    reply.row({text(one.session), in_milliseconds(one.ttl), text(one.node), text(one.boot), text(one.holds), text(one.waiters),
               text(one.ending), one.metadata});
    return absl::OkStatus();
  });
}

std::vector<std::string> held_columns() {
  std::vector<std::string> columns = {"lock",         "mode",         "session:number", "owner",
                                      "token:number", "since:number", "count:number"};
  const HoldTexts none;
  each_hold_text([&columns](const HoldText& shown, const std::string&) { columns.emplace_back(shown.name); }, none);
  return columns;
}

std::vector<std::string> held_row(const std::string& lock, const HolderInfo& one) {
  std::vector<std::string> row = {
      lock, name(one.mode), text(one.session), one.owner_tag, text(one.token), text(one.since), text(one.count)};
  each_hold_text([&row](const HoldText&, const std::string& shown) { row.push_back(shown); }, one.texts);
  return row;
}

absl::Status locks_of(Service& service, SessionId session, AdminReply& reply) {
  Token after;
  while (true) {
    const absl::StatusOr<SessionLocks> page = service.locks_of(session, after);
    if (absl::IsNotFound(page.status())) return absl::OkStatus();  // it has ended meanwhile
    if (!page.ok()) return page.status();
    for (const HeldLockInfo& lock : page->locks) {
      reply.row(held_row(lock.name, lock));
      after = lock.token;
    }
    if (!page->more || page->locks.empty() || reply.gone()) return absl::OkStatus();
  }
}

// One lock, or all that are held.
absl::Status locks(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  std::vector<std::string> columns = held_columns();
  if (words.empty()) {
    reply.columns(std::move(columns));
    return each_session(service, reply, [&](const SessionInfo& session) {
      return session.holds == 0 ? absl::OkStatus() : locks_of(service, session.session, reply);
    });
  }
  const absl::StatusOr<LockInfo> lock = service.holders(words[0]);
  if (!lock.ok()) return lock.status();
  reply.columns(std::move(columns));
  for (const HolderInfo& one : lock->holders) {
    reply.row(held_row(words[0], one));
  }
  if (lock->more) reply.note("there are more holders than these");
  if (lock->waiters > 0) reply.note(text(lock->waiters) + " wait for it");
  if (lock->delayed) reply.note("a holder's session expired, and the delay that it asked for runs (clear-delay ends it)");
  return absl::OkStatus();
}

absl::Status queue(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  const absl::StatusOr<QueueInfo> queue = service.queue(words[0]);
  if (!queue.ok()) return queue.status();
  reply.columns({"place:number", "session:number", "owner", "mode"});
  for (const WaiterInfo& one : queue->waiters) {
    reply.row({text(one.position + 1), text(one.session), one.owner_tag, name(one.mode)});
  }
  if (queue->more) reply.note("there are more behind these");
  return absl::OkStatus();
}

absl::Status keys(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  RangeOperation range = RangeOperation::prefix(words.empty() ? "" : words[0]);
  range.limit = kKeysShown;
  if (words.size() > 1) {
    const absl::StatusOr<uint64_t> limit = number(words[1], "LIMIT", 1);
    if (!limit.ok()) return limit.status();
    range.limit = static_cast<int64_t>(std::min<uint64_t>(*limit, std::numeric_limits<int64_t>::max()));
  }
  const absl::StatusOr<RangeResult> found = Kv(service).range(std::move(range));
  if (!found.ok()) return found.status();
  reply.columns({"key", "value", "version:number", "created:number", "modified:number", "lease:number"});
  for (const KeyValue& entry : found->entries) {
    reply.row({entry.key, entry.value, text(entry.version), text(entry.create), text(entry.mod),
               entry.lease ? text(entry.lease) : ""});
  }
  if (found->more) reply.note("of " + text(found->count) + " keys; give a LIMIT to see more");
  return absl::OkStatus();
}

absl::Status watch(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  Watch changes(service, WatchOptions::prefix(words.empty() ? "" : words[0]));
  reply.columns({"revision:number", "change", "key", "value"});
  while (!reply.gone()) {
    const absl::StatusOr<WatchBatch> batch = changes.next(kLook);
    if (reason_of(batch.status()) == Reason::CallTimeout) continue;
    if (!batch.ok()) return batch.status();
    for (const WatchEvent& event : batch->events) {
      reply.row({text(event.entry.mod), event.deleted() ? "delete" : "put", event.entry.key, event.entry.value});
    }
  }
  return absl::OkStatus();
}

absl::Status metrics(Replica& replica, const AdminIdentity& identity, Words, AdminReply& reply) {
  const absl::StatusOr<Metrics> metrics = replica.metrics();
  if (!metrics.ok()) return metrics.status();
  const std::string page = prometheus_text(*metrics, "replica=\"" + text(identity.id) + "\"");
  reply.columns({"line"});
  for (size_t from = 0; from < page.size();) {
    const size_t end = std::min(page.find('\n', from), page.size());
    reply.row({page.substr(from, end - from)});
    from = end + 1;
  }
  return absl::OkStatus();
}

// ---- acting

absl::Status done(AdminReply& reply, const absl::StatusOr<Index>& index) {
  if (!index.ok()) return index.status();
  reply.columns({"index:number"});
  reply.row({text(*index)});
  return absl::OkStatus();
}

// Pursued for as long as somebody waits for it.
absl::Status change_members(Replica& replica, MembershipChange change, AdminReply& reply) {
  std::promise<absl::StatusOr<Index>> answer;
  std::future<absl::StatusOr<Index>> answered = answer.get_future();
  const AsyncCall call = replica.change_membership_async(
      std::move(change), {}, [answer = std::move(answer)](absl::StatusOr<Index> index) mutable { answer.set_value(index); });
  while (answered.wait_for(kLook) != std::future_status::ready) {
    if (reply.gone()) call.cancel();
  }
  return done(reply, answered.get());
}

absl::Status add(Replica& replica, const AdminIdentity&, Words words, AdminReply& reply) {
  const absl::StatusOr<uint64_t> id = number(words[0], "ID", 1);
  if (!id.ok()) return id.status();
  MembershipChange change;
  change.add(*id, words[1]);
  if (words.size() > 2) {
    if (words[2] != "learner") return make_error(Reason::InvalidArgument, "after the address only the word 'learner' may come");
    change.as_learner();
  }
  return change_members(replica, std::move(change), reply);
}

absl::Status replace(Replica& replica, const AdminIdentity&, Words words, AdminReply& reply) {
  const absl::StatusOr<uint64_t> old = number(words[0], "OLD", 1);
  if (!old.ok()) return old.status();
  const absl::StatusOr<uint64_t> id = number(words[1], "ID", 1);
  if (!id.ok()) return id.status();
  MembershipChange change;
  change.replace(*old, *id, words[2]);
  return change_members(replica, std::move(change), reply);
}

template <MembershipChange& (MembershipChange::*Method)(uint64_t)>
absl::Status change_one(Replica& replica, const AdminIdentity&, Words words, AdminReply& reply) {
  const absl::StatusOr<uint64_t> id = number(words[0], "ID", 1);
  if (!id.ok()) return id.status();
  MembershipChange change;
  (change.*Method)(*id);
  return change_members(replica, std::move(change), reply);
}

absl::Status transfer(Replica& replica, const AdminIdentity&, Words words, AdminReply&) {
  if (words.empty()) return replica.transfer_leadership();
  const absl::StatusOr<uint64_t> target = number(words[0], "ID", 1);
  return target.ok() ? replica.transfer_leadership(*target) : target.status();
}

absl::Status kill_session(Service& service, const AdminIdentity&, Words words, AdminReply&) {
  const absl::StatusOr<uint64_t> session = number(words[0], "SESSION", 1);
  return session.ok() ? service.kill_session(SessionId(*session)) : session.status();
}

absl::Status force_release(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  const absl::StatusOr<uint64_t> token = number(words[1], "TOKEN", 1);
  if (!token.ok()) return token.status();
  const absl::StatusOr<SessionId> ended = service.force_release(words[0], Token(*token));
  if (!ended.ok()) return ended.status();
  reply.columns({"ended_session:number"});
  reply.row({text(*ended)});
  return absl::OkStatus();
}

absl::Status clear_delay(Service& service, const AdminIdentity&, Words words, AdminReply&) {
  return service.clear_delay(words[0]);
}

// ---- permissions of remotes

constexpr std::string_view kAllOthers = "*";  // remotes without a list of their own
constexpr std::string_view kNothing = "nothing";

std::string remote_named(const std::string& word) { return word == kAllOthers ? std::string() : word; }

absl::StatusOr<Permission> permission(std::string_view word) {
  const size_t colon = word.find(':');
  const std::string_view right = word.substr(0, colon);
  for (const Right known : {Right::Read, Right::Write, Right::Lock, Right::Admin}) {
    const std::string_view named = name_of(known);
    const bool same = std::ranges::equal(right, named, {}, {}, [](char c) { return static_cast<char>(c | 0x20); });
    if (same && colon != std::string_view::npos) return Permission{std::string(word.substr(colon + 1)), known};
  }
  return make_error(Reason::InvalidArgument, "'" + std::string(word) +
                                                 "' is not RIGHT:PREFIX, where RIGHT is read, write, lock or admin; without a "
                                                 "prefix it is for every name");
}

absl::Status permissions(Service& service, const AdminIdentity&, Words, AdminReply& reply) {
  const auto lists = Permissions(service).list();
  if (!lists.ok()) return lists.status();
  reply.columns({"remote", "right", "prefix"});
  for (const RemotePermissions& one : *lists) {
    const std::string remote = one.remote.empty() ? std::string(kAllOthers) : one.remote;
    if (one.list.empty()) reply.row({remote, std::string(kNothing), ""});
    for (const Permission& each : one.list) reply.row({remote, name(each.right), each.prefix});
  }
  return absl::OkStatus();
}

absl::Status permit(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  std::vector<Permission> list;
  std::string_view rest = words[1];
  while (rest != kNothing && !rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    absl::StatusOr<Permission> one = permission(rest.substr(0, comma));
    if (!one.ok()) return one.status();
    list.push_back(*std::move(one));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (words[1].empty()) return make_error(Reason::InvalidArgument, "the rights are empty; for none at all give 'nothing'");
  const auto set = Permissions(service).set(remote_named(words[0]), std::move(list));
  return done(reply, set.ok() ? absl::StatusOr<Index>(set->index) : set.status());
}

absl::Status unpermit(Service& service, const AdminIdentity&, Words words, AdminReply& reply) {
  const auto removed = Permissions(service).remove(remote_named(words[0]));
  return done(reply, removed.ok() ? absl::StatusOr<Index>(removed->index) : removed.status());
}

absl::Status scrub(Replica& replica, const AdminIdentity&, Words, AdminReply& reply) {
  return replica.scrub_now([&reply] { return !reply.gone(); });
}

// Its process may have a different working directory than the caller.
absl::Status backup(Replica& replica, const AdminIdentity&, Words words, AdminReply& reply) {
  if (!words[0].starts_with('/')) {
    return make_error(Reason::InvalidArgument, "FILE must begin with '/': this replica's process writes it, wherever it runs");
  }
  const absl::StatusOr<BackupInfo> made = replica.backup(words[0], {.awaited = [&reply] { return !reply.gone(); }});
  if (!made.ok()) return made.status();
  reply.columns({"file", "applied:number", "rows:number", "bytes:number", "last_token:number", "revision:number"});
  reply.row(
      {words[0], text(made->applied.index), text(made->rows), text(made->bytes), text(made->last_token), text(made->revision)});
  return absl::OkStatus();
}

const std::vector<AdminCommand>& table() {
  static const std::vector<AdminCommand> commands = {
      {"status", "", "this replica: its state, its leader, its applied index, missing members, warnings", status},
      {"members", "", "the members, and how far behind the leader each one is (asked of the leader)", members},
      {"locks", "[NAME]", "the holders of one lock, or of all locks", locks},
      {"queue", "NAME", "the owners that wait for a lock, in order", queue},
      {"sessions", "", "all sessions", sessions},
      {"keys", "[PREFIX] [LIMIT]", "keys and values, 100 if no limit is given", keys},
      {"watch", "[PREFIX]", "every change of keys from now on, until interrupted", watch},
      {"metrics", "", "the numbers of this replica, as Prometheus reads them", metrics},
      {"transfer", "[ID]", "hands leadership to that member, or to the one that is best prepared", transfer},
      {"add", "ID ADDRESS [learner]", "adds a replica that runs and waits; it votes once it has caught up", add},
      {"remove", "ID", "removes a member", change_one<&MembershipChange::remove>},
      {"replace", "OLD ID ADDRESS", "puts a replica in the place of a member; the same id twice: it lost its disk", replace},
      {"promote", "ID", "gives a learner a vote", change_one<&MembershipChange::promote>},
      {"demote", "ID", "makes a voter a learner", change_one<&MembershipChange::demote>},
      {"kill-session", "SESSION",
       "ends a session; its locks become free when their holder gives them up, at the latest a TTL later", kill_session},
      {"force-release", "NAME TOKEN", "ends the session that holds this lock with this token", force_release},
      {"clear-delay", "NAME", "ends the lock-delay that an expired session left on a name", clear_delay},
      {"permissions", "", "the lists of permissions of remotes; * is that of all without one of their own", permissions},
      {"permit", "REMOTE RIGHTS",
       "gives a remote, or *, this list of permissions: read:PREFIX,lock:PREFIX and so on, or nothing", permit},
      {"unpermit", "REMOTE", "removes the list of permissions of a remote, or of *", unpermit},
      {"backup-to", "FILE", "writes a backup of the state while the cluster keeps running; FILE begins with '/'", backup},
      {"scrub", "", "reads log and checkpoint in full and says what does not verify", scrub},
  };
  return commands;
}

// The command that these words name, if it takes so many.
absl::StatusOr<const AdminCommand*> command_of(Words words) {
  const std::string wanted = words.empty() ? "" : words.front();
  const auto found = std::ranges::find(table(), wanted, &AdminCommand::name);
  if (found == table().end()) {
    return make_error(Reason::InvalidArgument, "this version of coordkit knows no command '" + wanted + "'");
  }
  const size_t given = words.size() - 1;
  if (given >= found->words_least() && given <= found->words_most()) return &*found;
  const std::string usage = found->usage.empty() ? " takes no words" : " takes " + std::string(found->usage);
  return make_error(Reason::InvalidArgument, wanted + usage);
}

}  // namespace

size_t AdminCommand::words_most() const {
  return usage.empty() ? 0 : 1 + static_cast<size_t>(std::count(usage.begin(), usage.end(), ' '));
}
size_t AdminCommand::words_least() const {
  return words_most() - static_cast<size_t>(std::count(usage.begin(), usage.end(), '['));
}

std::span<const AdminCommand> admin_commands() { return table(); }

absl::Status run_admin_command(Replica& replica, const AdminIdentity& identity, Words words, AdminReply& reply) {
  const absl::StatusOr<const AdminCommand*> command = command_of(words);
  if (!command.ok()) return command.status();
  return std::visit([&](auto run) { return run(replica, identity, words.subspan(1), reply); }, (*command)->run);
}

absl::Status run_remote_command(Service& service, const AdminIdentity& identity, Words words, AdminReply& reply) {
  const absl::StatusOr<const AdminCommand*> command = command_of(words);
  if (!command.ok()) return command.status();
  if (const auto* run = std::get_if<AdminCommand::OfService>(&(*command)->run)) {
    return (*run)(service, identity, words.subspan(1), reply);
  }
  return make_error(Reason::InvalidArgument, words.front() + " needs a replica: ask one by its admin socket (--socket)");
}

}  // namespace coordkit
