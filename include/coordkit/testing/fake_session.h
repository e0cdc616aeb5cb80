// Sessions, locks and keys without a cluster, for unit tests of code that uses coordkit: a Session and all that is made from it
// (Grant, Mutex, Semaphore, Barrier, ClaimQueue, Counter, Group, Election), a Replica and all that is made from it (Kv, Watch,
// Mirror, Config, Registry). They are the same types, with the same client, engine and machine behind them, in one thread, in
// memory and in virtual time.
//
//   FakeService service;
//   Session session = service.open_session();
//   service.at(3s, [&] { service.cut_off(); });       // the script
//   run_the_code_under_test(session);                 // blocks as in production; virtual time passes meanwhile
//
// Time stands still while the code under test runs, and passes in advance() and inside blocking calls: up to the answer, the
// call's deadline or the end of a wait, whichever comes first. So whatever a test says happens, happens at that moment, every
// time. A call that waits for something that nothing brings about throws CheckFailure after an hour of virtual time.
//
// A second session of the same service can play another client of it, for what take() has no words for; losses concern both.
//
// Threads: one, for the service and all handles, Session and Grant included. Callbacks (on_phase, stop callbacks) run between
// turns, so they may call and block; *_async callbacks may not block, as in production. Lifetime: handles may outlive the
// service, and are then what handles of a closed replica are. Failure: losses of this fake are those that are scripted. Link
// coordkit::testing. Example: tests/testing/fake_session_test.cc. Guide: docs/testing.md.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coordkit/error.h"
#include "coordkit/replica.h"
#include "coordkit/resumed.h"
#include "coordkit/session.h"
#include "coordkit/types.h"

namespace coordkit::testkit {

class FakeService {
 public:
  FakeService();
  ~FakeService();
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  // For code that takes a Replica: sessions, keys, transactions, watches, mirrors, settings, registries, leases, looks at locks
  // and sessions, health. Here as well every call ends in virtual time, and callbacks run between turns. It has one member, and
  // no other: changes of members, transfers of leadership, backups, TLS and machines of your own are kUnimplemented
  // (Unsupported). metrics() counts no more than the calls and their answers. Once closed it stays so. Lives as long as this.
  Replica& replica();

  // As Replica::open_session, for the process under test.
  absl::StatusOr<Session> try_open_session(SessionOptions options = {});
  Session open_session(SessionOptions options = {});  // throws CheckFailure if that fails
  // As Replica::resume_session.
  absl::StatusOr<Resumed> resume_session(SessionId session, std::string secret, ResumeSessionOptions options = {});
  // The process under test dies and starts again, on the same disk: every handle of before has lost its session, and is closed
  // to no effect; in the cluster the sessions live on, with all they have, until they are resumed or expire. Takes a moment of
  // virtual time. Not inside an *_async callback (CheckFailure).
  void restart();

  // ---- time
  Duration now() const;  // since the service was made
  // Lets time pass; everything that is due happens in its order.
  void advance(Duration by);
  // Runs `act` at that time, between turns; a past one: as soon as time passes.
  void at(Duration when, std::function<void()> act);
  // The process stood still for so long, and the code under test is the first to run again: the library's own threads have
  // noticed nothing yet. They do with the next blocking call or advance(). The cluster went on meanwhile, and so did the
  // script.
  void pause(Duration by);

  // ---- losses
  // Nothing is sent or heard from here on: sessions come into jeopardy at their deadlines, and expire if it lasts.
  void cut_off();
  void mend();
  // From here on whatever the process under test says takes so much longer to arrive, renewals as well, and overtakes nothing
  // that is under way. Zero: no more.
  void slow(Duration by);
  // The leader fails. Nothing is decided until there is another, half a second later; then what waits is done, each once.
  void change_leader();
  // No majority: nothing is decided, for anybody, until recover(). Calls whose time runs out are NoLeader, without effect. The
  // sessions come into jeopardy at their own deadlines, but none expires, and no other session gets what they had.
  void outage();
  void recover();
  // Ends this session in the log at once; its holder hears of it unless it is cut off.
  void lose(const Session& session);
  // An administrator's Replica::kill_session: the holder is notified, and what it holds is free when it lets go, or a TTL
  // later.
  void kill(const Session& session);
  // Whatever its state: the next acquire that is sent, of locks, permits, an item or a place, is answered like this.
  void refuse_next_acquire(Reason reason);

  // ---- another process, which no cut concerns
  // Gets in line, and takes it as soon as it can be had; once for each lock. A lock that a session keeps to itself
  // (LockOptions::sticky) is asked for.
  void take(const std::string& lock, LockMode mode = LockMode::Exclusive);
  bool has(const std::string& lock) const;  // does another process hold it?
  void give_back(const std::string& lock);  // or leaves the line

 private:
  class Rep;
  std::shared_ptr<Rep> rep_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace coordkit::testkit
