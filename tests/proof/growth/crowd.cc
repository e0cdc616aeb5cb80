#include "tests/proof/growth/crowd.h"

#include <stdexcept>
#include <utility>

#include "tests/proof/growth/steps.h"

namespace coordkit::growth {
namespace {

using namespace std::chrono_literals;

const Origin kOrigin{ReplicaId(1), StoreId(77), BootCounter(1)};

std::string key_of(uint64_t number) { return "keys/" + std::to_string(1'000'000'000 + number); }
std::string lock_of(uint64_t number) { return "locks/" + std::to_string(1'000'000'000 + number); }

void require(bool fact, const char* otherwise) {
  if (!fact) throw std::runtime_error(otherwise);
}

template <typename Operation>
uint64_t steps_of(Operation operation) {
  const uint64_t before = steps();
  operation();
  return steps() - before;
}

}  // namespace

Crowd::Crowd() {
  machine_.bootstrap(ClusterId(5), uint64_t{150'000'000} << 31);
  owner_ = open();
}

machine::Result Crowd::submit(machine::Request::Body body) {
  index_ = index_.next();
  machine::encode({.body = std::move(body)}, written_);
  ApplyOutput output;
  const Command command{index_, {kOrigin, Sequence(index_.value())}, written_};
  machine_.apply({&command, 1}, output);
  for (const ApplyOutput::Result& result : output.results) {
    if (result.request == command.request) return machine::decode_result(result.bytes.view()).value();
  }
  throw std::runtime_error("a command without an answer");
}

SessionId Crowd::open() {
  const machine::Result opened = submit(
      machine::OpenSession{.ttl = 5s, .node = kOrigin.replica, .boot = kOrigin.boot, .incarnation = kOrigin.store.value()});
  require(static_cast<bool>(opened.session), "a session was not opened");
  return opened.session;
}

Token Crowd::acquire(SessionId session, std::string name, machine::Wait wait, LockMode mode) {
  return submit(machine::Acquire{.session = session, .name = std::move(name), .wait = wait, .mode = mode}).token;
}

void Crowd::release(SessionId session, std::string name, Token token) {
  const machine::Result released = submit(machine::Release{.session = session, .name = std::move(name), .token = token});
  require(released.code == machine::ResultCode::Ok, "a lock was not released");
}

// ---- the crowd that stays

void Crowd::hold_locks(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const Token token = acquire(owner_, lock_of(i));
    require(static_cast<bool>(token), "a lock was not free");
    if (i + 11 == count) before_newest_ = token;
  }
}

void Crowd::lose_locks(uint64_t count) {
  const SessionId session = open();
  for (uint64_t i = 0; i < count; ++i) require(static_cast<bool>(acquire(session, lock_of(count + i))), "a lock was not free");
  submit(machine::CloseSession{session});
}

void Crowd::wait_for_lock(uint64_t count, Holding holding) {
  for (uint64_t i = 0; i < count; ++i) {
    line_.push_back(open());
    if (holding == Holding::Shared) acquire(line_.back(), "shared", machine::Wait::none(), LockMode::Shared);
    const Token token = acquire(line_.back(), "line", machine::Wait::forever());
    if (i == 0) held_ = token;
  }
  require(static_cast<bool>(held_), "nobody holds the lock of the line");
}

void Crowd::open_sessions(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) open();
}

void Crowd::put_keys(uint64_t count) {
  for (; keys_ < count; ++keys_) submit(PutOperation{.key = key_of(keys_), .value = "value"});
}

void Crowd::erase_keys() {
  const DeleteOperation all{.key = key_of(0), .end = key_of(keys_)};
  require(submit(all).deleted == keys_, "a key was not deleted");
}

void Crowd::checkpoint() {
  CheckpointBatch batch;
  machine_.checkpoint(batch);
  rows_ = batch.rows.size();
}

// ---- operations

uint64_t Crowd::acquire_and_release() {
  return steps_of([this] { release(owner_, "mine", acquire(owner_, "mine")); });
}

uint64_t Crowd::pass_on() {
  return steps_of([this] {
    const SessionId previous = line_[holder_];
    release(previous, "line", held_);
    require(!acquire(previous, "line", machine::Wait::forever()), "the lock was not passed on");
    holder_ = (holder_ + 1) % line_.size();
    held_ = machine_.reads()->holders_of("line").holders.at(0).token;
  });
}

uint64_t Crowd::open_and_close() {
  return steps_of([this] { submit(machine::CloseSession{open()}); });
}

uint64_t Crowd::expire() {
  const SessionId session = open();
  acquire(session, "its own");
  return steps_of([&] {
    index_ = index_.next();
    ApplyOutput output;
    const FiredTimer fired{machine::session_timer(session), Generation(0)};
    machine_.fire(index_, {&fired, 1}, output);
    require(!machine_.reads()->session(session), "a session did not expire");
  });
}

// Now here, now there.
uint64_t Crowd::some_key() {
  constexpr uint64_t kStride = 7'919;
  return ++round_ * kStride % keys_;
}

uint64_t Crowd::put_again() {
  PutOperation put{.key = key_of(some_key()), .value = "another"};
  return steps_of([&] { submit(std::move(put)); });
}

uint64_t Crowd::put_and_erase() {
  const std::string key = key_of(some_key()) + "/below";
  return steps_of([&] {
    submit(PutOperation{.key = key, .value = "value"});
    submit(DeleteOperation{.key = key});
  });
}

uint64_t Crowd::look() {
  const uint64_t number = some_key();
  const std::string key = key_of(number);
  submit(PutOperation{.key = key, .value = "another"});
  return steps_of([&] {
    require(machine_.reads()->entry(key).entry.has_value(), "a key is missing");
    const auto neighbours = machine_.reads()->range({.key = key, .end = key_of(number + 10)});
    require(neighbours.code == machine::ResultCode::Ok, "a range was refused");
    const Revision newest = machine_.reads()->key_space().revision;
    require(machine_.reads()->changes({.from = newest}).changes.size() == 1, "a change is missing");
  });
}

uint64_t Crowd::look_at_newest() {
  return steps_of([this] {
    const machine::HeldLocks newest = machine_.reads()->locks_of(owner_, before_newest_);
    require(newest.locks.size() == 10 && !newest.more, "the newest locks are not what was acquired last");
  });
}

// As a watch resumes that has read all of a revision but ten changes.
uint64_t Crowd::watch_the_end() {
  const Revision newest = machine_.reads()->key_space().revision;
  return steps_of([&] {
    const auto rest = machine_.reads()->changes({.from = newest, .sub = static_cast<uint32_t>(keys_ - 10)});
    require(rest.changes.size() == 10, "a change is missing");
  });
}

uint64_t Crowd::store_what_is_new() {
  const Token token = acquire(owner_, "mine");
  const uint64_t cost = steps_of([this] { checkpoint(); });
  release(owner_, "mine", token);
  return cost;
}

}  // namespace coordkit::growth
