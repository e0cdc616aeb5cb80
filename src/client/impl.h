// The parts of a client and how they meet. Implemented by concern: client.cc (the loop and the life of a call),
// session_calls.cc, resume_calls.cc, lock_calls.cc, sticky_calls.cc, hold_calls.cc, release_calls.cc, max_hold.cc,
// key_calls.cc, kv_calls.cc, lease_calls.cc, admin_calls.cc, coordination_calls.cc and what uses it, watch_calls.cc.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "client/answers.h"
#include "client/call.h"
#include "client/compactor.h"
#include "client/deliveries.h"
#include "client/executed.h"
#include "client/observers.h"
#include "client/readings.h"
#include "client/renewals.h"
#include "client/session_table.h"
#include "client/statistics.h"
#include "client/under_way.h"
#include "client/watches.h"
#include "coordkit/client.h"
#include "machine/reads.h"

namespace coordkit {

class Client::Impl {
 public:
  Impl(Engine& engine, ClientOptions options);

  void before_turn(Now now);
  void after_turn(Now now, const EngineEffects& effects);
  Duration next_turn(Now now) const;
  void stop();
  bool stopped() const { return stopped_; }
  ClientStatus status() const;

  CallId open_session(OpenOptions options, Callback<SessionRef> done);
  CallId resume_session(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done);
  CallId kill_session(SessionId session, DoneCallback done, CallDeadline deadline);
  CallId force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline);
  CallId close(const SessionRef& session, DoneCallback done, CallDeadline deadline);
  CallId acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done);
  CallId acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options, Callback<HoldRef> done);
  CallId convert(const HoldRef& hold, LockMode to, Callback<HoldRef> done, CallDeadline deadline);
  CallId update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline);
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);
  LockStatistics lock_statistics() const;
  void cancel(CallId id);
  void abandon(CallId id);
  CallId release(const HoldRef& hold, DoneCallback done, CallDeadline deadline);
  void release_later(const HoldRef& hold);

  struct Reading {
    ReadOptions options;
    CallDeadline deadline;
    absl::Status door;  // why it is refused
  };
  // One read of coordkit's own machine; `read` makes what the caller gets.
  template <typename T>
  using ReadAs = absl::AnyInvocable<absl::StatusOr<T>(const machine::Reads&, const Completion&)>;
  template <typename T>
  CallId read(Reading reading, Callback<T> done, ReadAs<T> read);
  CallId query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline, ReadOptions options);
  // One command without a session.
  struct Write {
    MachineId machine = kCoordination;
    std::string bytes;
    WriteOptions options;
    absl::Status door;  // why it is refused
  };
  template <typename T>
  CallId write(Write write, Callback<T> done, absl::AnyInvocable<absl::StatusOr<T>(const Completion&)> read);
  void token_refuted(const HoldRef& hold);
  void released_locally(const HoldRef& hold);

  // ---- keys (kv_calls.cc)
  CallId range(RangeOperation range, CallDeadline deadline, ReadOptions options, Callback<RangeResult> done);

  // OK, or NoSpace by this replica's state: a put that adds so much would be refused.
  absl::Status room_for(uint64_t growth);

  // ---- leases of keys (lease_calls.cc)
  CallId keep_lease(KeepLeaseOptions options, Callback<KeyLeaseRef> done);
  CallId revoke_lease(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline);
  CallId write_lease(const machine::Request& request, Callback<GrantedLease> done, CallDeadline deadline);
  CallId time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline);
  CallId list_leases(Callback<LeaseList> done, CallDeadline deadline);
  bool short_lived(Duration ttl) const { return ttl < 3 * options_.election_timeout; }

  // ---- semaphores, barriers and the like (coordination_calls.cc)
  using Executed = client::Executed;
  using Looked = client::Looked;
  // A command that waits for nothing. `session` null: it needs none.
  CallId command(const SessionRef* session, machine::Request::Body body, std::string subject, CallDeadline deadline,
                 Callback<Executed> done);
  // One that may wait, and holds something afterwards or not.
  CallId await(const SessionRef& session, machine::CoordinationCommand body, std::string name, LockWait wait,
               CallDeadline deadline, client::Foresight foresight, Callback<Executed> done);
  CallId leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline);
  CallId acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline);
  CallId look(coordination::Kind kind, std::string name, uint64_t limit, CallDeadline deadline, Callback<Looked> done);
  CallId leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline);
  ObserverId observe(client::Observers::Target target);
  void end_observation(ObserverId id) { observers_.remove(id); }

  // ---- watches of keys (watch_calls.cc)
  WatchId watch(WatchOptions options, WatchObserver observer);
  void ask_mark(WatchId id) { watches_.ask_mark(id); }
  void end_watch(WatchId id, DoneCallback done);

 private:
  using Session = client::Session;
  using SessionEvent = client::SessionEvent;
  using Flight = client::Flight;
  using Open = client::Open;
  using OnPhase = client::OnPhase;
  using Wish = client::Wish;
  using Paging = client::Paging;
  using ReadingRef = client::ReadingRef;
  using OnCompletion = absl::AnyInvocable<void(const Completion&, Now)>;
  using Done = client::Done;
  using Fate = client::Fate;
  using Call = client::Call;

  // ---- the life of a call (client.cc)
  CallId enter(Done done, Fate fate, CallDeadline deadline, Duration patience, absl::AnyInvocable<void(CallId, Now)> start);
  CallId refuse(Done done, absl::Status why);
  static void deliver(Done& done, const absl::Status& status);
  Call* find(CallId id);
  void take_up(CallId id, Now now);
  // Ends a call; false: it has ended before.
  template <typename T>
  bool answer(CallId id, absl::StatusOr<T> value);
  bool answer_done(CallId id, absl::Status status);
  bool fail(CallId id, absl::Status status);
  std::optional<Done> remove(CallId id);
  void expire(Now now);
  absl::Status late(const Call& call) const;
  void give_up(CallId id, absl::Status status);

  void post(EngineInput input);
  Ticket submit(const machine::Request& request, LaggingTime deadline, Urgency urgency, OnCompletion on_completion);
  Ticket submit_for(Session& session, machine::Request request, LaggingTime deadline, Urgency urgency,
                    OnCompletion on_completion);
  Session* same_life(const SessionRef& state);
  Ticket post_submit(Submit submit, OnCompletion on_completion);
  Ticket ask_engine(Ask ask, OnCompletion on_completion);
  void complete(const Completion& completion, Now now);
  // This replica's own state, as it is now. Null: the engine hosts no machine of coordkit's.
  const machine::Reads* reads() const;
  absl::StatusOr<const machine::Reads*> readable(const Completion& completion) const;
  void run_later(LaggingTime at, absl::AnyInvocable<void(Now)> run);
  LaggingTime retry_time(Now now) const { return now.lagging + options_.election_timeout; }
  void notice_gap(Now now);

  // ---- sessions (session_calls.cc)
  void start_open(CallId id, Now now, machine::Request request, Duration ttl, Wish wish);
  void opened(CallId id, uint64_t open, const Completion& completion, Now now, Wish wish);
  TimerGroup own_group(Duration ttl) const;
  void bury_lost();  // what follows from the loss of sessions: no renewals, no calls, a close
  void post_close(SessionId id);
  void ended(SessionId id);
  void told_lost(Session& session);
  void machine_event(const MachineEvent& event);
  void machine_event(const MachineEvent& event, const machine::SessionEnded& ended);
  void machine_event(const MachineEvent& event, const machine::SessionResumed& resumed);
  void machine_event(const MachineEvent& event, const machine::SessionEnding& ending);
  void machine_event(const MachineEvent& event, const coordination::Change& change);
  void machine_event(const MachineEvent& event, const machine::DelegationAsked& asked);
  void question(SessionId id, Now now);
  void look_at(Session& session, const machine::Reads& reads);
  void question_all(Now now);
  void lose_all(SessionEvent why);
  static bool cut_off(const EngineEffects& effects);

  // ---- resumes (resume_calls.cc)
  void start_resume(CallId id, Now now, machine::ResumeSession body, Wish wish);
  void resumed(CallId id, uint64_t open, const machine::ResumeSession& body, const Completion& completion, Now now, Wish wish);
  std::vector<HoldRef> adopt_holds(Session& session);
  void adopt_objects(Session& session, ResumedSession& resumed);
  void settle(SessionId id, Index at, Now now);
  CallId mark_ending(machine::Request request, std::string subject, Callback<SessionId> done, CallDeadline deadline);

  // ---- longest holds (max_hold.cc)
  void limit_hold(const HoldRef& hold);
  void unlimit_hold(const HoldRef& hold);
  void end_long_holds(LeadingTime now);

  // ---- locks (lock_calls.cc)
  template <typename Body>
  CallId enter_acquire(const SessionRef& session, Body body, const AcquireOptions& options, Callback<HoldRef> done);
  template <typename Body>
  void start_acquire(CallId id, const SessionRef& of, Body body, Now now);
  template <typename Body>
  void go_to_log(CallId id, Body body);
  void begin_acquire(CallId id, machine::Acquire body);
  template <typename Body>
  bool seems_held(const Session& session, const Body& body) const;
  template <typename Body>
  void confirm_held(CallId id, Body body);
  template <typename Body>
  void submit_acquire(CallId id, Body body);
  void acquired(const std::shared_ptr<Flight>& flight, const Completion& completion, Now now);
  void acquire_failed(const std::shared_ptr<Flight>& flight, absl::Status status);
  void submit_flight(Flight of, machine::Request::Body body);
  void granted(const Flight& flight, const machine::Result& result, Now now);
  void count_grant(CallId id, Now now);
  void not_granted(CallId id, const machine::Result& result, const std::string& name);
  void proclaim_instead(CallId id, const SessionRef& of, const std::string& name, Token token, std::string value);
  void post_cancel(const std::shared_ptr<Flight>& flight);
  void cancel_answered(const std::shared_ptr<Flight>& flight, const Completion& completion, Now now);

  // ---- sticky locks (sticky_calls.cc)
  bool join(CallId id, Session& session, machine::Acquire& body, Now now);
  bool join(CallId id, Session& session, machine::AcquireAll& body, Now now);
  static absl::Status own_claim(const Session& session, const client::Line& line, const std::string& tag,
                                const std::string& name);
  bool stand_aside(Session& session, const std::string& name, Now now);
  static bool may_try(const Session& session, const client::Line& line, Now now);
  void leave_line(CallId id, const Call& call);
  void end_line_waits(LaggingTime now);
  void serve_lines(Now now);
  void serve(Session& session, const std::string& name, Now now);
  static bool prefers_line(const client::Line& line, Now now);
  void ask(client::Line& line, Now now);
  void grant_locally(Session& session, client::Line& line, Now now);
  void hand_over(Session& session, client::Line& line, CallId id, const std::string& owner_tag, Now now);
  void fetch(client::Line& line, Now now);
  void delegated(Session& session, const Flight& flight, const machine::Result& result, Now now);
  void fetch_over(const Flight& flight);
  void give_back_delegation(Session& session, const std::string& name);
  void refill(Session& session, const std::string& name);
  bool asked_in_log(const Session& session, const std::string& name, Token token) const;
  void look_for_asked(Now now);
  HoldRef adopt_delegation(Session& session, const machine::HeldLock& lock);
  bool release_locally(Session& session, const HoldRef& hold);
  void lose_locally(Session& session, const HoldRef& hold);

  // ---- keys (kv_calls.cc)
  void ask_page(CallId id, std::shared_ptr<Paging> paging);
  void compact_keys(Now now);
  void page_answered(CallId id, const std::shared_ptr<Paging>& paging, const Completion& completion);

  // ---- semaphores, barriers and the like (coordination_calls.cc)
  static bool holds_back(const Session& session, const machine::Request::Body& body);
  void start_command(CallId id, const SessionRef& of, machine::Request request, std::string subject, Now now);
  void command_answered(CallId id, const SessionRef& of, const machine::Request& request, const std::string& subject,
                        const Completion& completion);
  void start_await(CallId id, const SessionRef& of, machine::CoordinationCommand body, std::string name,
                   client::Foresight foresight, Now now);
  void start_acknowledge(CallId id, const HoldRef& claim, machine::Request request, Now now);
  std::optional<machine::ResultCode> foreseen(const Session& session, const std::string& name,
                                              const client::Foresight& foresight) const;
  void confirm(CallId id, Flight flight, machine::CoordinationCommand body, client::Foresight foresight);
  void forget_hold(Session& session, const HoldRef& hold);
  void end_hold(const HoldRef& hold);
  void ask_for_observers(Now now);

  // ---- watches of keys (watch_calls.cc)
  void make_watches(Now now);
  void tell_watches(Now now);
  void retry_watches(Now now);

  // ---- leases of keys (lease_calls.cc)
  CallId read_leases(ReadingRef reading, Done done, CallDeadline deadline);
  void granted_lease(CallId id, const SessionRef& life, LeaseId lease);
  void ask_leases(CallId id, const ReadingRef& reading);
  void leases_answered(CallId id, const ReadingRef& reading, const Completion& completion, Now now);
  void look_at_timers(CallId id, const ReadingRef& reading, Now now);
  void post_look(uint64_t attempt, Now now);
  void looked(const RenewReply& reply, Now now);
  void leases_read(CallId id, const client::LeaseReading& reading);

  // ---- changes of a hold (hold_calls.cc)
  void start_convert(CallId id, const HoldRef& hold, LockMode to, Now now);
  void converted(CallId id, const HoldRef& hold, LockMode to, const Completion& completion, Now now);
  void conversion_lost(CallId id, const HoldRef& hold, absl::Status why, Now now);
  void reclaim(const HoldRef& hold, Now now);
  absl::Status refuse_change(const HoldRef& hold);

  // ---- releases (release_calls.cc)
  void give_back(Session& session, const HoldRef& hold);
  void give_back(Session& session, std::string name, Token token, bool counted);
  static client::PendingRelease* pending(Session& session, const client::ReleaseId& id);
  static client::PendingRelease* pending(Session& session, const HoldRef& hold);
  void post_releases();
  void release_batch(Session& session, std::vector<client::ReleaseId> batch);
  void release_answered(const SessionRef& state, const std::vector<client::ReleaseId>& batch, const Completion& completion,
                        Now now);
  void release_done(Session& session, const client::ReleaseId& id, const absl::Status& status);

  Engine& engine_;
  ClientOptions options_;
  client::Deliveries deliveries_;
  client::SessionTable sessions_;
  client::Renewals renewals_;
  client::Observers observers_;
  client::Compactor compactor_;
  LaggingTime next_compaction_ = LaggingTime::min();
  std::optional<std::pair<Index, machine::KeySpace>> key_space_;  // as it was after that entry
  client::Watches watches_;
  client::Statistics statistics_;

  absl::btree_map<CallId, Call> calls_;
  std::vector<CallId> fresh_;                                  // not taken up yet
  absl::btree_set<std::pair<LaggingTime, CallId>> deadlines_;  // of calls taken up
  absl::btree_map<Ticket, OnCompletion> tickets_;
  absl::btree_map<std::pair<LaggingTime, uint64_t>, absl::AnyInvocable<void(Now)>> later_;
  absl::btree_map<uint64_t, Open> opens_;                         // fate not known; resumes too
  absl::btree_set<SessionId> resuming_;                           // by resumes whose fate is not known
  absl::btree_multimap<LeadingTime, HoldRef> long_holds_;         // by the end of their longest time
  absl::btree_set<SessionId> releasing_;                          // have releases that were never posted
  absl::btree_set<std::pair<LaggingTime, CallId>> line_ends_;     // of timed waits in lines
  absl::btree_set<std::pair<SessionId, std::string>> due_lines_;  // have something to do
  absl::btree_set<SessionId> stalled_;                            // have lines that wait for them to be valid
  uint64_t last_call_ = 0;
  uint64_t last_ticket_ = uint64_t{1} << 63;
  uint64_t last_later_ = 0;
  uint64_t last_open_ = 0;
  uint64_t last_look_ = 0;
  absl::btree_map<uint64_t, client::Look> looks_;  // at timers; by attempt

  LeadingTime last_leading_ = LeadingTime::min();
  LaggingTime last_lagging_ = LaggingTime::min();
  LeadingTime promised_ = LeadingTime::max();  // when the next turn was wanted
  bool posted_ = false;                        // inputs wait in the engine
  bool retrying_observers_ = false;            // a retry is scheduled
  bool retrying_watches_ = false;
  Index told_watches_;              // they have seen the state after this entry
  bool watches_have_more_ = false;  // to read, of what is there already
  bool halted_ = false;
  bool stopped_ = false;
};

template <typename T>
bool Client::Impl::answer(CallId id, absl::StatusOr<T> value) {
  std::optional<Done> done = remove(id);
  if (!done) return false;
  deliveries_.answer(
      [call = std::move(std::get<Callback<T>>(*done)), value = std::move(value)]() mutable { call(std::move(value)); });
  return true;
}

template <typename T>
CallId Client::Impl::read(Reading reading, Callback<T> done, ReadAs<T> read) {
  if (!reading.door.ok()) return refuse(std::move(done), reading.door);
  return enter(std::move(done), Fate::Forget, reading.deadline, options_.call_timeout,
               [this, options = reading.options, read = std::move(read)](CallId id, Now) mutable {
                 Call& call = *find(id);
                 call.ticket =
                     ask_engine({.consistency = options.consistency, .at_least = options.at_least, .deadline = call.deadline},
                                [this, id, read = std::move(read)](const Completion& completion, Now) mutable {
                                  const auto state = readable(completion);
                                  answer<T>(id, state.ok() ? read(**state, completion) : absl::StatusOr<T>(state.status()));
                                });
               });
}

}  // namespace coordkit
