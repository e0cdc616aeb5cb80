#include "service/shell/loop_host.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "service/calls/waiting.h"

namespace coordkit {
namespace {

// Then the network gets its share of the thread.
constexpr int kTurnsAtOnce = 16;
constexpr Duration kTurnsLast = std::chrono::milliseconds(2);   // only a long turn takes more
constexpr Duration kHaltAgain = std::chrono::milliseconds(10);  // after a round that threw

// 128 bits from the kernel, as digits that can be kept in any file or variable.
std::string random_secret() {
  uint8_t bits[16];
  COORDKIT_CHECK_MSG(::getentropy(bits, sizeof bits) == 0, "the kernel gives no random bits");
  std::string secret;
  secret.reserve(2 * sizeof bits);
  for (const uint8_t byte : bits) {
    secret += "0123456789abcdef"[byte >> 4];
    secret += "0123456789abcdef"[byte & 15];
  }
  return secret;
}

}  // namespace

LoopHost::LoopHost(LoopOptions options)
    : loop_options_(std::move(options)),
      loop_(
          loop_options_.own_thread ? loop_options_.own_thread : loop_options_.executor, [this] { return run_turns(); },
          [this](const absl::Status& why) { announcements_->host_threw(why); }, loop_options_.clock,
          loop_options_.own_thread ? TurnLoop::Elsewhere::Never : TurnLoop::Elsewhere::Thread),
      arrivals_(loop_),
      callback_calls_(loop_, arrivals_.admission()),
      hold_ups_(loop_, loop_options_.clock, loop_options_.election_timeout),
      closing_(loop_),
      health_(*this, loop_, loop_options_.election_timeout, hold_ups_) {}

void LoopHost::announce_to(const HostCallbacks& callbacks) {
  announcements_.emplace(
      callbacks, loop_options_.clock,
      [this](const absl::Status& why) { arrivals_.post(Call([this, why](Client&) { turns_->threw(why, lagging()); })); },
      [this] { fail(); });
}

ClientOptions LoopHost::client_options() {
  return {.election_timeout = loop_options_.election_timeout,
          .notify = [this](absl::AnyInvocable<void()> task) { announce(std::move(task)); },
          .draw_secret = random_secret,
          .watch = &announcements_->deadlines()};
}

void LoopHost::begin() {
  health_.publish(report());
  announcements_->tell(turns_->engine().leadership());
  if (loop_options_.own_thread) {
    loop_options_.own_thread->on_throw([this] { fail(); });
    loop_options_.own_thread->start();
  }
  loop_.begin();  // close() waits for what has begun, so its thread exists
}

void LoopHost::later(Duration delay, absl::AnyInvocable<void()> act) {
  Executor& executor = loop_options_.own_thread ? *loop_options_.own_thread : *loop_options_.executor;
  executor.post_after(delay, [weak = weak_from_this(), id = turns_->postpone(std::move(act))] {
    const auto host = weak.lock();
    if (host) host->arrivals_.post(Call([&turns = *host->turns_, id](Client&) { turns.run_postponed(id); }));
  });
}

// ---- calls

// A call that comes too late is returned, and run on the stopped client if somebody waits for it: it is answered Closed.
// A release or the like, which a destructor posts, cannot be refused: without memory for it this replica halts.
LoopHost::Call LoopHost::post(Call call) noexcept try {
  if (forked()) return nullptr;
  Client* const client = client_here(Counts::No);
  if (client == nullptr) return arrivals_.add(std::move(call));
  std::move(call)(*client);
  return nullptr;
} catch (...) {
  arrivals_.fail(arrivals_.last_words().caught());
  return nullptr;
}

Client* LoopHost::client_here(Counts counts) { return callback_calls_.may_begin_here(counts) ? &turns_->client() : nullptr; }

// On the engine's thread everything waits for it.
void LoopHost::run_callback(const char* call, absl::FunctionRef<void()> callback) {
  if (!loop_.runs_here() || callback_calls_.here()) return announcements_->run(callback);
  callback_calls_.inside([&] {
    const Duration took = hold_ups_.run(call, [&] { announcements_->run(callback); });
    if (took < hold_ups_.limit()) return;
    try {
      turns_->held_up(hold_ups_.blocked(call, took), loop_options_.clock.lagging());
    } catch (const std::bad_alloc&) {  // without memory for its sentence it is not reported; nothing else suffers
    }
  });
}

void LoopHost::abandon(Ticket call) {
  if (!health_.calls().abandon(call)) turns_->abandon(call);
}

// ---- the engine's thread

// The one place where what a round did not expect ends: whatever was under way in it is not looked at any more, and the next
// round halts this replica. If that finds no memory either, so does a later one.
Duration LoopHost::run_turns() noexcept try {
  LaggingTime looked = lagging();
  const LaggingTime end = looked + kTurnsLast;
  Duration wait{};
  for (int turns = 0; turns < kTurnsAtOnce && wait == Duration::zero(); ++turns) {
    const absl::Status failure = arrivals_.take_failure();
    if (!failure.ok()) turns_->fail(failure);  // the coming turn halts the engine
    callback_calls_.turn_begins();
    turns_->take(arrivals_, looked);
    const Now now = loop_options_.clock.now();  // after everything that has arrived, before anything that leaves
    const LaggingTime due = turns_->turn(now);
    arrivals_.admission().turned(now.lagging, turns_->client().unanswered());
    carry_out(turns_->effects(), now, due <= now.lagging);
    if (!failure.ok()) health_.publish(report());
    if (closing_.drains()) finish_drain();
    looked = lagging();
    turns_->meter().took(looked - now.lagging);
    const bool told = health_.wanted(looked) && health_.tell(report(), looked);
    const LaggingTime next = std::min(due, health_.calls().next_deadline());
    wait = told || next <= looked || arrivals_.any() ? Duration::zero() : next - looked;
    if (looked >= end) break;
    if (take_deferred()) return wait;
  }
  return wait;
} catch (...) {
  fail();
  announcements_->note_halt(turns_->effects());  // of a turn whose effects were not carried out
  return kHaltAgain;
}

}  // namespace coordkit
