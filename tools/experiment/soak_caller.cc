#include "tools/experiment/soak_caller.h"

#include <future>
#include <thread>

#include "coordkit/error.h"
#include "coordkit/keys/id_allocator.h"
#include "coordkit/keys/key_lease.h"
#include "coordkit/keys/mirror.h"
#include "coordkit/keys/stm.h"
#include "coordkit/keys/watch.h"
#include "coordkit/objects/barrier.h"
#include "coordkit/objects/claim_queue.h"
#include "coordkit/objects/counter.h"
#include "coordkit/objects/election.h"
#include "coordkit/objects/group.h"
#include "coordkit/objects/latch.h"
#include "coordkit/objects/registry.h"
#include "coordkit/objects/semaphore.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerMax = 2s;

// Leaves the scene.
struct Refused {};

void must(const absl::Status& status) {
  if (!status.ok()) throw Refused();
}
template <typename T>
T must(absl::StatusOr<T> result) {
  must(result.status());
  return *std::move(result);
}

absl::Status emptied(ClaimQueue queue) {
  while (must(queue.peek()).length > 0) must(queue.acknowledge(must(queue.claim({.timeout = 0s}))));
  return must(queue.peek()).claimed == 0 ? absl::OkStatus() : absl::UnavailableError("an item is claimed");
}

}  // namespace

const std::vector<SoakCaller::Scene>& SoakCaller::scenes() {
  static const std::vector<Scene> all = {{"keys", &SoakCaller::keys},
                                         {"lost answers", &SoakCaller::lost_answers},
                                         {"optimistic", &SoakCaller::optimistic},
                                         {"leased", &SoakCaller::leased},
                                         {"watched", &SoakCaller::watched},
                                         {"held", &SoakCaller::held},
                                         {"shared", &SoakCaller::shared},
                                         {"contended", &SoakCaller::contended},
                                         {"cancelled", &SoakCaller::cancelled},
                                         {"several", &SoakCaller::several},
                                         {"session", &SoakCaller::brief_session},
                                         {"permits", &SoakCaller::permits},
                                         {"led", &SoakCaller::led},
                                         {"closed", &SoakCaller::closed},
                                         {"together", &SoakCaller::together},
                                         {"counted", &SoakCaller::counted},
                                         {"grouped", &SoakCaller::grouped},
                                         {"latched", &SoakCaller::latched},
                                         {"queued", &SoakCaller::queued},
                                         {"registered", &SoakCaller::registered}};
  return all;
}

bool SoakCaller::act() {
  const size_t owed = owed_.size();
  const Scene& scene = scenes()[below(scenes().size())];
  try {
    (this->*scene.play)();
  } catch (const Refused&) {
    return false;
  }
  owed_.resize(owed);
  return true;
}

// Holds that ended with their session are gone, too.
bool SoakCaller::given(const Give& give) {
  try {
    const absl::Status status = give();
    return status.ok() || absl::IsNotFound(status) || reason_of(status) == Reason::Lost;
  } catch (const Refused&) {
    return false;
  }
}

std::string SoakCaller::tidy() {
  const auto end = std::chrono::steady_clock::now() + 60s;
  const auto goes_on = [&] {
    std::this_thread::sleep_for(1ms);
    return std::chrono::steady_clock::now() < end;
  };
  for (const Give& give : owed_) {
    while (!given(give)) {
      if (!goes_on()) return "something made in a scene cannot be removed";
    }
  }
  owed_.clear();
  while (!session().ok()) {
    if (!goes_on()) return "no session";
  }
  return {};
}

absl::StatusOr<Session> SoakCaller::session() {
  if (session_.phase() == SessionPhase::Lost) {
    auto opened = service_.open_session({.ttl = 1s, .timeout = kAnswerMax});
    if (!opened.ok()) return opened.status();
    session_ = *std::move(opened);
  }
  return session_;
}

// ---- keys

void SoakCaller::keys() {
  const std::string key = fresh("key");
  owe([this, key] { return kv_.erase(key, {.timeout = kAnswerMax}).status(); });
  must(kv_.put(key, std::string(below(300), 'v'), {.timeout = kAnswerMax}));
  must(kv_.get(key, {.timeout = kAnswerMax}));
  must(kv_.commit({{Compare::exists(key)}, {PutOperation{.key = key, .value = "w"}, RangeOperation::of(key)}, {}},
                  {.timeout = kAnswerMax}));
  if (careless_ && below(2) == 0) {
    kept_.push_back(key + std::string(200, '.'));
    return;
  }
  must(kv_.erase(key, {.timeout = kAnswerMax}));
}

// Answers that come too late, or to no one. All of this caller's keys are of one origin, so that an erase comes after them.
void SoakCaller::lost_answers() {
  const std::string key = fresh("late");
  owe([this, key] { return kv_.erase(key, {.timeout = kAnswerMax}).status(); });
  const absl::Status late = kv_.put(key, "late", {.timeout = std::chrono::microseconds(below(1500))}).status();
  const AsyncCall call = kv_.put_async({.key = key, .value = "later"}, {.timeout = kAnswerMax}, [](const auto&) {});
  if (below(2) == 0) call.cancel();
  must(kv_.erase(key, {.timeout = kAnswerMax}));
}

void SoakCaller::optimistic() {
  const std::string key = fresh("sum");
  owe([this, key] { return kv_.erase(key, {.timeout = kAnswerMax}).status(); });
  for (int i = 0; i < 2; ++i) {
    must(run_stm(kv_,
                 [&key](Stm& stm) {
                   const auto value = stm.get(key);
                   if (!value.ok()) return value.status();
                   stm.put(key, value->value_or("") + "+");
                   return absl::OkStatus();
                 },
                 {.timeout = kAnswerMax}));
  }
  must(kv_.erase(key, {.timeout = kAnswerMax}));
}

// Whatever is refused, its keys end with the lease.
void SoakCaller::leased() {
  Leases leases(service_);
  const std::string key = fresh("leased");
  if (below(2) == 0) {
    const auto lease = must(leases.grant(500ms, {}, kAnswerMax));
    must(kv_.put({.key = key, .lease = lease.id}, {.timeout = kAnswerMax}));
    if (below(2) == 0) must(leases.revoke(lease.id, kAnswerMax));
    return;
  }
  auto lease = must(leases.keep({.ttl = 500ms, .timeout = kAnswerMax}));
  must(kv_.put({.key = key, .lease = lease.id()}, {.timeout = kAnswerMax}));
  must(leases.time_to_live(lease.id(), true, kAnswerMax));
  if (below(2) == 0) must(lease.revoke());
}

void SoakCaller::watched() {
  const std::string key = fresh("watched");
  owe([this, key] { return kv_.erase(key, {.timeout = kAnswerMax}).status(); });
  Watch watch(service_, WatchOptions::prefix(key));
  const Watch observed(service_, WatchOptions::prefix(key), [](const WatchBatch&) {});
  const Mirror mirror(service_, MirrorOptions::of(key), [](const MirrorSeen&, const MirrorEntries&) {});
  must(watch.next(kAnswerMax));
  must(kv_.put(key, "seen", {.timeout = kAnswerMax}));
  must(watch.next(kAnswerMax));
  if (below(2) == 0) watch.end();
  must(kv_.erase(key, {.timeout = kAnswerMax}));
}

// ---- locks

void SoakCaller::held() {
  Session own = must(session());
  LockOptions options{.timeout = kAnswerMax, .owner = "o", .value = std::string(below(50), 'v')};
  options.sticky = below(4) == 0;
  options.reentrant = !options.sticky && below(2) == 0;
  if (below(4) == 0) options.max_hold = 1ms;
  const std::string lock = fresh("lock");
  auto grant = must(own.acquire(lock, options));
  if (options.reentrant) must(own.acquire(lock, options));
  switch (below(4)) {
    case 0: must(service_.holders(lock)); break;
    case 1: must(grant.update_value("other")); break;
    case 2: grant.release_later(); break;
    default: break;
  }
}

void SoakCaller::shared() {
  Session own = must(session());
  const std::string lock = fresh("shared");
  auto one = must(own.acquire_shared(lock, {.timeout = kAnswerMax, .owner = "one"}));
  auto other = must(own.acquire_shared(lock, {.timeout = kAnswerMax, .owner = "other"}));
  must(other.release());
  must(one.upgrade());
  if (below(2) == 0) must(one.downgrade());
}

// Callers of all members meet here, and some wait in vain.
void SoakCaller::contended() {
  Session own = must(session());
  const std::string lock = "common-" + std::to_string(below(2));
  auto grant = own.acquire(lock, {.timeout = std::chrono::milliseconds(below(20)), .owner = name_, .sticky = below(4) == 0});
  if (grant.ok()) std::this_thread::sleep_for(std::chrono::milliseconds(below(3)));
}

void SoakCaller::cancelled() {
  Session own = must(session());
  auto holder = own.acquire("common-0", {.timeout = 20ms, .owner = name_});
  std::promise<void> answered;
  const AsyncCall call = own.acquire_async("common-0", {.timeout = kAnswerMax, .owner = name_ + "+"},
                                           [&answered](const auto&) { answered.set_value(); });
  if (below(2) == 0) std::this_thread::sleep_for(1ms);
  call.cancel();
  answered.get_future().wait();
}

void SoakCaller::several() {
  Session own = must(session());
  const std::string lock = fresh("several");
  must(own.acquire_all({{lock + "a"}, {lock + "b", LockMode::Shared}, {"common-1"}}, {.timeout = 50ms, .owner = name_}));
}

void SoakCaller::brief_session() {
  auto session = must(service_.open_session({.ttl = 300ms, .timeout = kAnswerMax, .on_phase = [](SessionPhase) {}}));
  const std::string lock = fresh("brief");
  auto grant = must(session.acquire(lock, {.timeout = kAnswerMax, .delay = below(2) == 0 ? 200ms : 0ms}));
  must(kv_.put({.key = fresh("of-session"), .lease = LeaseId(session.id().value())}, {.timeout = kAnswerMax}));
  switch (below(3)) {
    case 0: must(session.close()); break;
    case 1: must(service_.kill_session(session.id(), kAnswerMax)); break;
    default: break;
  }
}

// ---- recipes

void SoakCaller::permits() {
  Session own = must(session());
  const std::string name = fresh("semaphore");
  owe([this, name] { return Semaphore(must(session()), name).remove(); });
  Semaphore semaphore(own, name);
  auto some = must(semaphore.acquire({.permits = 2, .timeout = kAnswerMax, .initial_limit = 3}));
  const auto more = semaphore.acquire({.permits = 2, .timeout = std::chrono::milliseconds(below(2))});
  must(semaphore.info());
  must(some.release());
  must(semaphore.remove());
}

void SoakCaller::led() {
  Session own = must(session());
  Election election(own, fresh("election"));
  const Observation seen = election.observe([](const LeaderSeen&) {});
  auto grant = must(election.campaign("first", kAnswerMax));
  must(election.proclaim(grant, "second"));
  must(election.leader());
  if (below(2) == 0) must(election.resign(std::move(grant)));
}

void SoakCaller::closed() {
  Session own = must(session());
  const std::string name = fresh("barrier");
  owe([this, name] { return Barrier(must(session()), name).open(); });
  Barrier barrier(own, name);
  must(barrier.close());
  const absl::Status waited = barrier.wait(std::chrono::milliseconds(below(3)));
  must(barrier.open());
  must(barrier.wait(kAnswerMax));
}

void SoakCaller::together() {
  Session own = must(session());
  DoubleBarrier barrier(own, fresh("together"), 1 + below(2));
  auto place = barrier.enter(10ms);
  if (place.ok() && below(2) == 0) must(barrier.leave(*place, kAnswerMax));
}

void SoakCaller::counted() {
  const std::string name = fresh("counter");
  owe([this, name] { return coordkit::Counter(service_, name).remove(); });
  coordkit::Counter counter(service_, name);
  const Observation seen = counter.observe([](const CounterSeen&) {});
  must(counter.add(2));
  must(IdAllocator(service_, name, 10).next());
  must(counter.get());
  must(counter.remove());
}

void SoakCaller::grouped() {
  Session own = must(session());
  const std::string name = below(2) == 0 ? fresh("group") : std::string("common-group");
  Group group(own, name, name_);
  owe([group]() mutable { return group.leave(); });
  const Observation seen = group.observe([](const GroupSeen&) {});
  must(group.join("here"));
  must(group.update("still here"));
  must(group.members());
  must(group.leave());
}

void SoakCaller::latched() {
  Session own = must(session());
  const std::string name = fresh("latch");
  owe([this, name] { return Latch(must(session()), name).remove(); });
  Latch latch(own, name);
  const Observation seen = latch.observe([](const LatchSeen&) {});
  must(latch.create(2));
  must(latch.count_down());
  const absl::Status waited = latch.wait(std::chrono::milliseconds(below(3)));
  must(latch.count_down());
  must(latch.wait(kAnswerMax));
  must(latch.remove());
}

void SoakCaller::queued() {
  Session own = must(session());
  const std::string name = fresh("queue");
  owe([this, name] { return emptied(ClaimQueue(must(session()), name)); });
  ClaimQueue queue(own, name);
  must(queue.enqueue("work", -1));
  must(queue.enqueue("more work"));
  for (int i = 0; i < 3; ++i) {
    auto item = must(queue.claim({.timeout = kAnswerMax, .term = below(2) == 0 ? 1s : 0s}));
    must(i == 0 ? item.grant.release() : queue.acknowledge(item));
  }
}

void SoakCaller::registered() {
  Session own = must(session());
  const std::string prefix = fresh("registry") + "/";
  owe([this, prefix] { return kv_.erase({.key = prefix, .end = prefix_end(prefix)}, {.timeout = kAnswerMax}).status(); });
  Registry registry(service_, prefix);
  const Mirror seen = registry.observe();
  const auto entry = must(registry.join(own, "here", {.timeout = kAnswerMax}));
  must(registry.members({.timeout = kAnswerMax}));
  must(registry.leave(entry, {.timeout = kAnswerMax}));
}

}  // namespace coordkit::experiment
