#include "service/loop/turn_loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "base/thrown.h"
#include "coordkit/error.h"
#include "service/calls/waiting.h"

namespace coordkit {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// A delayed task cannot be cancelled: an obsolete one does not stay for long.
constexpr Duration kLongestWait = std::chrono::seconds(1);
// For memory, or for a thread: until what could not be posted is tried again.
constexpr auto kPostAgain = std::chrono::milliseconds(1);
constexpr int kBeginAttempts = 1000;
constexpr auto kEndAgain = std::chrono::milliseconds(50);

thread_local bool in_round = false;

constexpr LaggingTime kNotOwed = LaggingTime::max();

}  // namespace

struct TurnLoop::State : std::enable_shared_from_this<State> {
  enum class Phase : uint8_t {
    Idle,
    Posted,   // one task is queued at the executor
    Running,  // and it is running
    Again,    // the same, and it must be posted again
    Over,
  };

  State(Executor& where, Round what, OnThrow whom, const Clock& time, Elsewhere otherwise)
      : executor(where), round(std::move(what)), on_throw(std::move(whom)), clock(time), elsewhere(otherwise) {}

  // False: there is no memory, or no thread, for it.
  bool post() noexcept {
    owed_since.store(clock.lagging(), std::memory_order_relaxed);
    return give("post()", Duration::zero(), [self = shared_from_this()] { self->run(); });
  }

  // A task at which the executor throws runs on a thread made for it: without its turns a replica could not even be closed.
  template <typename Task>
  bool give(std::string_view where, Duration delay, Task task) noexcept try {
    try {
      delay > Duration::zero() ? executor.post_after(delay, task) : executor.post(task);
      return true;
    } catch (...) {
      if (elsewhere == Elsewhere::Never) return false;
      threw(where, what_was_thrown());
    }
    Thread::detached("coordkit/task", [delay, task = std::move(task)]() mutable {
      std::this_thread::sleep_for(delay);
      task();
    });
    return true;
  } catch (...) {
    return false;
  }
  void threw(std::string_view where, std::string_view why) {
    if (told.exchange(true) || !on_throw) return;
    std::string sentence("the executor threw in ");
    sentence.append(where).append(", and its tasks run on threads made for them: ").append(why);
    on_throw(make_error(Reason::HostThrew, sentence));
  }

  // In one order with run(), and with flags that are sequentially consistent too: a thread that sets one and wakes is seen by
  // the current round, or causes another one.
  void wake() noexcept {
    Phase now = phase.load(std::memory_order_seq_cst);
    for (;;) {
      if (now == Phase::Idle) {
        if (phase.compare_exchange_weak(now, Phase::Posted, std::memory_order_acq_rel)) return post_or_rest();
      } else if (now == Phase::Running) {
        if (phase.compare_exchange_weak(now, Phase::Again, std::memory_order_acq_rel)) return;
      } else {
        return;
      }
    }
  }

  // A task that could not be posted is left to the next wake: one comes from the delayed task that an idle loop has.
  void post_or_rest() noexcept {
    Phase posted = Phase::Posted;
    if (!post()) phase.compare_exchange_strong(posted, Phase::Idle, std::memory_order_acq_rel);
  }

  // One task at a time: the thread that finds Idle posts it, and only the task leaves Running. An executor may have kept a task
  // that it threw at, which then finds another in its place, or nothing to do.
  void run() {
    for (;; std::this_thread::sleep_for(kPostAgain)) {
      Phase posted = Phase::Posted;  // first: later arrivals wake again
      if (!phase.compare_exchange_strong(posted, Phase::Running, std::memory_order_seq_cst)) return;
      runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
      if (ending.load(std::memory_order_seq_cst)) return finish();
      if (fired.load(std::memory_order_acquire) == armed) due = SteadyTime::max();
      owed_since.store(clock.lagging(), std::memory_order_relaxed);
      in_round = true;
      const Duration wait = round();
      in_round = false;
      owed_since.store(kNotOwed, std::memory_order_relaxed);
      runner.store({}, std::memory_order_relaxed);
      if (wait > Duration::zero() && wake_in(std::min(wait, kLongestWait))) {
        Phase expected = Phase::Running;
        if (phase.compare_exchange_strong(expected, Phase::Idle, std::memory_order_acq_rel)) return;
      }
      phase.store(Phase::Posted, std::memory_order_release);
      if (post()) return;
    }
  }

  // A delayed task that fires early is harmless: it wakes for nothing, and the next one is created then. False: there is none.
  bool wake_in(Duration wait) noexcept {
    const SteadyTime wanted = std::chrono::steady_clock::now() + wait;
    if (due <= wanted) return true;
    const uint64_t number = armed + 1;
    if (!give("post_after()", wait, [self = shared_from_this(), number] { self->fire(number); })) return false;
    armed = number;
    due = wanted;
    return true;
  }
  // The executor runs this: a round that it does not take begins here.
  void fire(uint64_t number) {
    uint64_t before = fired.load(std::memory_order_relaxed);
    while (before < number && !fired.compare_exchange_weak(before, number, std::memory_order_release)) {
    }
    Phase idle = Phase::Idle;
    if (!phase.compare_exchange_strong(idle, Phase::Posted, std::memory_order_acq_rel)) return wake();
    if (!post()) run();
  }

  void finish() {
    in_round = true;
    std::move(last)();
    in_round = false;
    owed_since.store(kNotOwed, std::memory_order_relaxed);
    runner.store({}, std::memory_order_relaxed);
    phase.store(Phase::Over, std::memory_order_release);
    const std::lock_guard lock(mutex);
    over = true;
    ended.notify_all();
  }

  // The lock keeps the executor's context from being destroyed meanwhile: no close() returns before it is over.
  bool waits_for_caller() {
    const std::lock_guard lock(mutex);
    if (over || runner.load(std::memory_order_relaxed) == std::this_thread::get_id()) return false;
    try {
      return executor.runs_in_this_thread();
    } catch (...) {
      return false;  // as one that cannot tell
    }
  }

  // Takes the place of the task that is posted or would be next: that one finds nothing to do.
  bool claim() {
    Phase now = phase.load(std::memory_order_seq_cst);
    while (now == Phase::Idle || now == Phase::Posted) {
      if (phase.compare_exchange_weak(now, Phase::Running, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  bool finish_here() {
    if (!claim()) return false;
    runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    finish();
    return true;
  }

  void end(absl::AnyInvocable<void()> task, Duration patience) {
    last = std::move(task);
    ending.store(true, std::memory_order_seq_cst);
    if (waits_for_caller() && finish_here()) return;
    for (Duration waited{};;) {
      wake();  // once more, because one may have found no memory
      const Duration step = std::min<Duration>(patience, kEndAgain);
      {
        std::unique_lock lock(mutex);
        if (ended.wait_for(lock, step, [this] { return over; })) return;
      }
      waited += step;
      if (waited < patience) continue;
      if (finish_here()) return;
      waited = Duration::zero();
    }
  }

  Executor& executor;  // not used once Over
  const Round round;
  const OnThrow on_throw;
  const Clock& clock;
  const Elsewhere elsewhere;
  std::atomic<bool> told{false};
  std::atomic<Phase> phase{Phase::Posted};  // so that nothing is posted before begin()
  std::atomic<std::thread::id> runner{};    // of the current round
  std::atomic<LaggingTime> owed_since{kNotOwed};

  // For the tasks, one after the other: the latest delayed one, and its time.
  uint64_t armed = 0;
  SteadyTime due = SteadyTime::max();
  std::atomic<uint64_t> fired{0};  // the latest that fired

  std::atomic<bool> ending{false};
  absl::AnyInvocable<void()> last;
  std::mutex mutex;
  bool over = false;
  std::condition_variable ended;
};

TurnLoop::TurnLoop(std::shared_ptr<Executor> executor, Round round, OnThrow on_throw, const Clock& clock, Elsewhere elsewhere)
    : executor_(std::move(executor)),
      state_(std::make_shared<State>(*executor_, std::move(round), std::move(on_throw), clock, elsewhere)) {}

// Nothing wakes the loop before this, so a task that is not taken is tried again here. The claim takes the place of a task that
// an executor has kept although it threw.
void TurnLoop::begin() {
  begun_ = true;
  for (int attempts = 1; !state_->post(); ++attempts) {
    if (attempts >= kBeginAttempts && state_->claim()) {
      begun_ = false;
      throw std::bad_alloc();
    }
    std::this_thread::sleep_for(kPostAgain);
  }
}

void TurnLoop::wake() noexcept { state_->wake(); }

bool TurnLoop::runs_here() const { return state_->runner.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

bool TurnLoop::any_runs_here() { return in_round; }

Duration TurnLoop::owed() const {
  const LaggingTime since = state_->owed_since.load(std::memory_order_relaxed);
  return since == kNotOwed ? Duration::zero() : std::max(state_->clock.lagging() - since, Duration::zero());
}

bool TurnLoop::waits_for_caller() const { return state_->waits_for_caller(); }

void TurnLoop::end(absl::AnyInvocable<void()> last, Duration patience) { state_->end(std::move(last), patience); }

}  // namespace coordkit
