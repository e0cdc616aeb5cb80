#include "testing/other_client.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace coordkit::testkit {
namespace {

// A TTL class of its own, so that the renewals of the process under test never name it.
constexpr Duration kTtl = std::chrono::hours(24 * 365) + Duration(1);
constexpr char kSecret[] = "somebody else's secret";

}  // namespace

void OtherClient::open_session(const Engine& replica) {
  command({machine::OpenSession{.ttl = kTtl,
                                .node = replica.self(),
                                .boot = replica.boot(),
                                .incarnation = replica.store().value(),
                                .secret = lease::hash_of_secret(kSecret)},
           {}},
          [this](const machine::Result& result) { session_ = result.session; });
}

void OtherClient::resume_session() {
  machine::ResumeSession resume{.id = session_, .secret = kSecret, .previous_is_gone = true};
  command({std::move(resume), {}}, [this](const machine::Result&) {
    for (const auto& [lock, wanted] : wanted_) {
      if (!wanted.token) acquire(lock, wanted.mode);
    }
  });
}

// ---- commands

void OtherClient::command(const machine::Request& request, Done done) {
  const Ticket ticket(++last_ticket_);
  commands_[ticket] = std::move(done);
  submit_({.ticket = ticket, .command = SharedBytes(machine::encode(request)), .deadline = LaggingTime::max()});
}

void OtherClient::completed(const Completion& completion) {
  const auto command = commands_.find(completion.ticket);
  if (command == commands_.end()) return;
  const absl::StatusOr<machine::Result> result = machine::decode_result(completion.bytes.view());
  COORDKIT_CHECK_MSG(completion.status.ok() && result.ok(), "a command of the fake fails: " + completion.status.ToString());
  if (completion.stage != ApplyOutput::Stage::Final) return;
  const Done done = std::move(command->second);
  commands_.erase(command);
  if (done) done(*result);
}

// ---- locks

void OtherClient::take(const std::string& lock, LockMode mode) {
  if (wanted_.emplace(lock, Wanted{.mode = mode, .token = {}}).second) acquire(lock, mode);
}

void OtherClient::acquire(const std::string& lock, LockMode mode) {
  machine::Acquire acquire{.session = session_, .name = lock, .wait = machine::Wait::forever(), .mode = mode};
  command({std::move(acquire), {}}, [this, lock](const machine::Result& result) {
    if (result.code != machine::ResultCode::Granted) return;
    const auto wanted = wanted_.find(lock);
    if (wanted == wanted_.end()) return release(lock, result.token);  // the lock is no longer wanted
    wanted->second.token = result.token;
  });
}

void OtherClient::release(const std::string& lock, Token token) {
  command({machine::Release{.session = session_, .name = lock, .token = token}, {}});
}

bool OtherClient::has(const std::string& lock) const {
  const auto held = wanted_.find(lock);
  return held != wanted_.end() && held->second.token;
}

void OtherClient::give_back(const std::string& lock) {
  const auto held = wanted_.extract(lock);
  if (!held.empty() && held.mapped().token) release(lock, held.mapped().token);
}

}  // namespace coordkit::testkit
