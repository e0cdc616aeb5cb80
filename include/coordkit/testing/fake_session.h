// Sessions, locks and keys without a cluster, for unit tests of code that uses coordkit. It gives a
// Session and everything made from it (Grant, Mutex, Semaphore, Barrier, ClaimQueue, Counter,
// Group, Election). It also gives a Replica and everything made from it (Kv, Watch, Mirror, Config,
// Registry). They are the same types, with the same client, engine and machine behind them, in one
// thread, in memory and in virtual time.
//
//   FakeService service;
//   Session session = service.open_session();
//   service.at(3s, [&] { service.cut_off(); });       // the script
//   run_the_code_under_test(session);                 // blocks as in production, in virtual time
//
// Time stops while the code under test runs. It passes in advance() and inside blocking calls: up
// to the answer, the call's deadline or the end of a wait, whichever comes first. So everything in
// a test's script happens at its exact moment, every time. A call that waits for something that
// never comes throws CheckFailure after an hour of virtual time.
//
// A second session of the same service can act as another client, for cases that take() does not
// cover; losses affect both sessions. Link coordkit::testing. Guide: docs/testing.md.
//
// Threads: one, for the service and all handles, Session and Grant included. Callbacks (on_phase,
// stop callbacks) run between turns, so they may call and block; *_async callbacks may not block,
// as in production.
// Lifetime: handles may outlive the service, and then act as handles of a closed replica.
// Errors: this fake has only the losses that are scripted.
// Example: tests/unit/testing/fake_session_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coordkit/error.h"
#include "coordkit/replica.h"
#include "coordkit/session.h"
#include "coordkit/sessions/resumed.h"
#include "coordkit/types.h"

namespace coordkit::testkit {

// The service that the code under test takes for a cluster.
class FakeService {
 public:
  FakeService();
  ~FakeService();
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  // For code that takes a Replica: sessions, keys, transactions, watches, mirrors, settings,
  // registries, leases, queries of locks and sessions, health. Here too every call ends in virtual
  // time, and callbacks run between turns. The cluster has one member and no other: changes of
  // members, transfers of leadership, backups, TLS and machines of your own are kUnimplemented
  // (Unsupported). metrics() counts only the calls and their answers. Once closed it stays closed.
  // Lives as long as this object.
  Replica& replica();

  // As Service::open_session, for the process under test.
  absl::StatusOr<Session> try_open_session(SessionOptions options = {});
  Session open_session(SessionOptions options = {});  // throws CheckFailure if that fails
  // As Service::resume_session.
  absl::StatusOr<Resumed> resume_session(SessionId session, std::string secret, ResumeSessionOptions options = {});
  // The process under test dies and starts again, on the same disk. Every earlier handle has lost
  // its session, and closing it has no effect. In the cluster the sessions live on, with all they
  // have, until they are resumed or expire. Takes a moment of virtual time. Not inside an *_async
  // callback (CheckFailure).
  void restart();

  // ---- time
  Duration now() const;  // since the service was made
  // Lets time pass. Everything that is due happens in its order.
  void advance(Duration by);
  // Runs `act` at that time, between turns. A past time: as soon as time passes.
  void at(Duration when, std::function<void()> act);
  // The process was frozen for this long, and the code under test is the first to run again: the
  // library's own threads have noticed nothing yet. They notice it with the next blocking call or
  // advance(). The cluster and the script continued meanwhile.
  void pause(Duration by);

  // ---- losses
  // Nothing is sent or heard from here on. Sessions enter jeopardy at their deadlines, and expire
  // if it lasts.
  void cut_off();
  void mend();  // ends cut_off(): messages pass again
  // From here on every message of the process under test takes this much longer to arrive, renewals
  // as well, and overtakes no earlier message. Zero: no delay any more.
  void slow(Duration by);
  // The leader fails. Nothing is decided until there is another one, half a second later. Then the
  // waiting calls are done, each once.
  void change_leader();
  // No majority: nothing is decided, for anybody, until recover(). Calls whose time runs out are
  // NoLeader, without effect. The sessions enter jeopardy at their own deadlines, but none expires,
  // and no other session gets what they had.
  void outage();
  void recover();  // ends outage(): commands are decided again
  // Ends this session in the log at once. Its holder is notified unless it is cut off.
  void lose(const Session& session);
  // As an administrator's Service::kill_session: the holder is notified, and its holds are free
  // when it releases them, or a TTL later.
  void kill(const Session& session);
  // The next acquire that is sent, of locks, permits, an item or a place, gets this answer,
  // whatever the state.
  void refuse_next_acquire(Reason reason);

  // ---- another process, which no cut affects
  // Gets in line, and takes the lock as soon as it is available; once for each lock. If a session
  // keeps the lock to itself (LockOptions::sticky), it is requested from that session.
  void take(const std::string& lock, LockMode mode = LockMode::Exclusive);
  bool has(const std::string& lock) const;  // does another process hold it?
  void give_back(const std::string& lock);  // or leaves the line

 private:
  class Rep;
  std::shared_ptr<Rep> rep_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace coordkit::testkit
