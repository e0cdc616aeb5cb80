#include "service/loop/arrivals.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace coordkit {
namespace {

// Moves up to `most` calls; returns how many.
size_t move_calls(std::deque<CallRunner::Call>& from, std::vector<CallRunner::Call>& to, size_t most) {
  const size_t share = std::min(from.size(), most);
  if (share == 0) return 0;
  const auto end = from.begin() + static_cast<ptrdiff_t>(share);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
  return share;
}

}  // namespace

// Takes the room as well.
bool Arrivals::has_room(const Arrival& arrival) {
  const auto take = [](size_t& taken, size_t most, size_t bytes) {
    if (taken + bytes > most) return false;
    taken += bytes;
    return true;
  };
  if (const auto* mail = std::get_if<Mail>(&arrival)) return take(room_.mail_bytes, mail_bytes_max_, mail->body.size());
  const auto* news = std::get_if<LinkNews>(&arrival);
  return news == nullptr || news->kind != LinkNews::Kind::Frame || take(room_.link_bytes, kLinkBytesMax, news->text.size());
}

void Arrivals::post(Arrival arrival) noexcept try {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (!has_room(arrival)) {
      ++room_.lost;
      return;
    }
    inputs_.push_back(std::move(arrival));
  }
  wake();
} catch (...) {
  if (std::holds_alternative<Mail>(arrival)) {
    const std::lock_guard lock(mutex_);
    ++room_.lost;
  } else {
    fail(last_words_.caught());
  }
}

void Arrivals::fail(absl::Status why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (!failed_) failure_ = std::move(why);
    failed_ = true;
    failure_due_ = true;
  }
  wake();
}

absl::Status Arrivals::take_failure() {
  if (!failure_due_) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  failure_due_ = false;
  return failure_;
}

// A round looks by itself whether something has arrived before it ends.
void Arrivals::wake() noexcept {
  if (!loop_.runs_here()) loop_.wake();
}

Arrivals::Call Arrivals::add_to(std::deque<Call>& where, Call call) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return call;
    where.push_back(std::move(call));
  }
  wake();
  return nullptr;
}

Arrivals::Call Arrivals::add_in_line(Call call) {
  admission_.lined_up();
  try {
    call = add_to(line_, std::move(call));
  } catch (...) {
    admission_.begun(1);
    throw;
  }
  if (call) admission_.begun(1);
  return call;
}

void Arrivals::written(WriteNumber number) {
  durable_ = number;  // first: the turn that learns of it may come at once
  post(EngineInput(LogWritten{number}));
}

void Arrivals::peer_up(const Hello& hello) { post(EngineInput(PeerConnected{hello})); }
void Arrivals::peer_down(ReplicaId peer) { post(EngineInput(PeerLost{peer})); }
void Arrivals::received(ReplicaId from, std::string body) { post(Mail{from, std::move(body)}); }
void Arrivals::peer_refused(ReplicaId peer, std::string why) { post(EngineInput(PeerRefused{peer, std::move(why)})); }

void Arrivals::peer_unreachable(ReplicaId peer, std::string why) { post(EngineInput(PeerUnreachable{peer, std::move(why)})); }

void Arrivals::take(std::vector<Arrival>& inputs) {
  const std::lock_guard lock(mutex_);
  inputs.swap(inputs_);
  room_.mail_bytes = room_.link_bytes = 0;
}

// However many wait, a turn begins no more than its share, so that no remote caller waits for them. Calls that release
// something do not wait for those that want something.
void Arrivals::take_calls(std::vector<Call>& calls) {
  const std::lock_guard lock(mutex_);
  move_calls(calls_, calls, kCallsOfATurn);
  admission_.begun(move_calls(line_, calls, kCallsOfATurn));
}

void Arrivals::close(std::vector<Arrival>& inputs, std::vector<Call>& calls) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  inputs.swap(inputs_);
  move_calls(calls_, calls, calls_.size());
  admission_.begun(move_calls(line_, calls, line_.size()));
}

bool Arrivals::any() const {
  const std::lock_guard lock(mutex_);
  return failure_due_ || !inputs_.empty() || !calls_.empty() || !line_.empty();
}

Arrivals::Waiting Arrivals::waiting() const {
  const std::lock_guard lock(mutex_);
  return {.arrivals = inputs_.size() + calls_.size() + line_.size(), .mail_bytes = room_.mail_bytes, .mails_lost = room_.lost};
}

}  // namespace coordkit
