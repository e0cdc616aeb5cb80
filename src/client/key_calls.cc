// Calls that need no session: looking at locks and sessions, and the keys.
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

absl::Status unreadable() {
  return make_error(Reason::Corrupt, Outcome::None, "the machine's answer cannot be read; is this replica too old?");
}

SessionInfo info_of(machine::SessionInfo session) {
  return {.session = session.session,
          .ttl = session.ttl,
          .node = session.node,
          .boot = session.boot,
          .holds = session.holds,
          .waiters = session.waiters,
          .metadata = std::move(session.metadata)};
}

absl::StatusOr<LockInfo> read_holders(const Completion& completion) {
  auto reply = machine::decode_holders(completion.bytes);
  if (!reply.ok()) return unreadable();
  LockInfo out{.waiters = reply->waiters, .as_of = completion.index};
  for (machine::HolderInfo& holder : reply->holders) {
    out.holders.push_back({.session = holder.session,
                           .owner_tag = std::move(holder.owner_tag),
                           .token = holder.token,
                           .since = holder.since,
                           .request = holder.request,
                           .value = std::move(holder.value)});
  }
  return out;
}

absl::StatusOr<QueueInfo> read_queue(const Completion& completion) {
  auto reply = machine::decode_queue(completion.bytes);
  if (!reply.ok()) return unreadable();
  return QueueInfo{.waiters = std::move(reply->waiters), .more = reply->more, .as_of = completion.index};
}

absl::StatusOr<SessionInfo> read_session(const Completion& completion) {
  auto reply = machine::decode_session(completion.bytes);
  if (!reply.ok()) return unreadable();
  if (!reply->session) return make_error(Reason::SessionNotFound, "the session has ended or never existed");
  return info_of(*std::move(reply->session));
}

absl::StatusOr<SessionList> read_sessions(const Completion& completion) {
  auto reply = machine::decode_sessions(completion.bytes);
  if (!reply.ok()) return unreadable();
  SessionList out{.more = reply->more, .as_of = completion.index};
  for (machine::SessionInfo& session : reply->sessions) out.sessions.push_back(info_of(std::move(session)));
  return out;
}

absl::StatusOr<GetResult> read_key(const Completion& completion) {
  auto reply = machine::decode_keys(completion.bytes);
  if (!reply.ok() || reply->keys.size() > 1) return unreadable();
  GetResult out{.revision = reply->revision, .as_of = completion.index, .age = completion.age};
  if (!reply->keys.empty()) out.entry = std::move(reply->keys.front());
  return out;
}

}  // namespace

template <typename T>
CallId Client::Impl::ask(Question question, Callback<T> done, absl::AnyInvocable<absl::StatusOr<T>(const Completion&)> read) {
  if (!question.door.ok()) return refuse(std::move(done), question.door);
  const CallDeadline deadline = question.deadline;
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, question = std::move(question), read = std::move(read)](CallId id, Now) mutable {
                 Call& call = *find(id);
                 call.ticket = ask_engine(
                     question.query, question.options, call.deadline,
                     [this, id, read = std::move(read)](const Completion& completion, Now) mutable {
                       answer<T>(id, completion.status.ok() ? read(completion) : absl::StatusOr<T>(completion.status));
                     });
               });
}

template <typename T>
CallId Client::Impl::write(machine::Request request, CallDeadline deadline, Callback<T> done,
                           absl::AnyInvocable<T(const machine::Result&, Index)> read) {
  if (absl::Status door = client::check_request(request); !door.ok()) return refuse(std::move(done), door);
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, request = std::move(request), read = std::move(read)](CallId id, Now) mutable {
                 Call& call = *find(id);
                 call.submitted = true;
                 call.ticket = submit(request, call.deadline, Urgency::Normal,
                                      [this, id, read = std::move(read)](const Completion& completion, Now) mutable {
                                        const auto result = client::result_of(completion);
                                        if (!result.ok()) {
                                          fail(id, result.status());
                                        } else if (result->code != machine::ResultCode::Ok) {
                                          fail(id, client::status_of(*result, "key"));
                                        } else {
                                          answer<T>(id, read(*result, completion.index));
                                        }
                                      });
               });
}

void Client::Impl::token_refuted(const HoldRef& hold) {
  if (Session* session = sessions_.find(hold->session()->id())) sessions_.lose(*session, hold->token());
}

CallId Client::check(const HoldRef& hold, Callback<bool> done, CallDeadline deadline) {
  Impl::Question question{.deadline = deadline};
  if (hold == nullptr) {
    question.door = make_error(Reason::InvalidArgument, "no grant was given");
  } else {
    question.query = machine::TokenStillHeldQuery{.name = hold->name(), .token = hold->token()};
  }
  return impl_->ask<bool>(std::move(question), std::move(done),
                          [impl = impl_.get(), hold](const Completion& completion) -> absl::StatusOr<bool> {
                            const auto reply = machine::decode_token_still_held(completion.bytes);
                            if (!reply.ok()) return unreadable();
                            if (!reply->held) impl->token_refuted(hold);
                            return reply->held;
                          });
}

CallId Client::holders(std::string name, Callback<LockInfo> done, CallDeadline deadline) {
  absl::Status door = client::check_lock_name(name);
  return impl_->ask<LockInfo>({.query = machine::HoldersQuery{.name = std::move(name)}, .deadline = deadline, .door = door},
                              std::move(done), read_holders);
}

CallId Client::queue(std::string name, Callback<QueueInfo> done, CallDeadline deadline) {
  absl::Status door = client::check_lock_name(name);
  return impl_->ask<QueueInfo>({.query = machine::QueueQuery{.name = std::move(name)}, .deadline = deadline, .door = door},
                               std::move(done), read_queue);
}

CallId Client::session_info(SessionId session, Callback<SessionInfo> done, CallDeadline deadline) {
  return impl_->ask<SessionInfo>({.query = machine::SessionQuery{.session = session}, .deadline = deadline}, std::move(done),
                                 read_session);
}

CallId Client::sessions(SessionId after, uint64_t limit, Callback<SessionList> done, CallDeadline deadline) {
  const uint64_t rows = limit == 0 ? machine::kQueryRowsMax : limit;
  return impl_->ask<SessionList>({.query = machine::SessionsQuery{.after = after, .limit = rows}, .deadline = deadline},
                                 std::move(done), read_sessions);
}

CallId Client::put(std::string key, std::string value, Callback<PutResult> done, CallDeadline deadline) {
  return impl_->write<PutResult>(
      {.body = machine::Put{.key = std::move(key), .value = std::move(value)}}, deadline, std::move(done),
      [](const machine::Result& result, Index index) { return PutResult{.revision = result.revision, .index = index}; });
}

CallId Client::get(std::string key, Callback<GetResult> done, CallDeadline deadline, ReadOptions options) {
  absl::Status door = client::check_key(key);
  return impl_->ask<GetResult>(
      {.query = machine::GetQuery{.key = std::move(key)}, .options = options, .deadline = deadline, .door = door},
      std::move(done), read_key);
}

CallId Client::erase(std::string key, Callback<EraseResult> done, CallDeadline deadline) {
  return impl_->write<EraseResult>({.body = machine::Delete{.key = std::move(key)}}, deadline, std::move(done),
                                   [](const machine::Result& result, Index index) {
                                     return EraseResult{.deleted = result.deleted, .revision = result.revision, .index = index};
                                   });
}

}  // namespace coordkit
