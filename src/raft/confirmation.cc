// "Do I still lead?" (thesis 6.4). A question is answered by a heartbeat round that began after it was asked and that a
// quorum answered in this term; one round releases every question asked before it. Nothing is answered before an entry of
// the own term is committed (regression R59): until then the leader does not know what is.
#include "base/mutant.h"
#include "raft/core_impl.h"

namespace coordkit::raft {
namespace {

constexpr uint64_t kRoundsInFlight = 4;  // of those begun for questions; more questions join the next one

}  // namespace

bool Core::Impl::alone() const {
  return quorum_agrees(configuration(), [this](ReplicaId id) { return is_self(id); });
}

void Core::Impl::on(const Confirm& question) {
  if (!leads()) {
    confirmations_.push_back({.ticket = question.ticket});
    return;
  }
  questions_.push_back({question.ticket, alone() || mutant(Mutant::OlderRoundConfirms) ? round_ : 0, commit_});
}

bool Core::Impl::round_wanted() const {
  return !questions_.empty() && questions_.back().round == 0 && round_ - confirmed_round_ < kRoundsInFlight;
}

void Core::Impl::ask_in_round(uint64_t round) {
  for (auto question = questions_.rbegin(); question != questions_.rend() && question->round == 0; ++question) {
    question->round = round;
  }
}

// A read at the returned index sees everything that was acknowledged before the question: what was committed then, and at
// least the own first entry, before which all earlier terms' commits lie.
void Core::Impl::answer_questions() {
  if (questions_.empty()) return;
  confirmed_round_ = quorum_value(configuration(), [this](ReplicaId id) {
    if (is_self(id)) return round_;
    const Progress* peer = progress_of(id);
    return peer ? peer->answered_round : 0;
  });
  if (commit_ < leader_start_ && !mutant(Mutant::ConfirmsTooSoon)) return;
  while (!questions_.empty() && questions_.front().round != 0 && questions_.front().round <= confirmed_round_) {
    const Question& question = questions_.front();
    confirmations_.push_back({question.ticket, Answer::Yes,
                              mutant(Mutant::ConfirmsTooSoon) ? question.commit : std::max(question.commit, leader_start_)});
    questions_.pop_front();
  }
}

// Whoever answered a round hears this leader for an election timeout and votes for nobody else until then, whatever term it
// has moved to meanwhile; only the leader's own order to campaign is exempt, and that voids the lease first (thesis 6.4.1;
// regression R61).
std::optional<Lease> Core::Impl::lease() const {
  const bool leased = leads() && options_.lease > Duration::zero() &&
                      (lease_void_ != term() || mutant(Mutant::LeaseOutlivesHandover)) && commit_ >= leader_start_;
  if (!leased) return std::nullopt;
  const LaggingTime since = quorum_time(&Progress::vouched);
  if (since == LaggingTime()) return std::nullopt;
  return Lease{since, commit_};
}

// A leader knows of everything that was committed until its quorum last followed it, once an own entry is committed.
std::optional<LaggingTime> Core::Impl::fresh_at() const {
  if (!leads()) return freshness_.at();
  if (commit_ < leader_start_ || applied_ < commit_) return std::nullopt;
  return quorum_contact();
}

void Core::Impl::refuse_questions() {
  for (const Question& question : questions_) confirmations_.push_back({.ticket = question.ticket});
  questions_.clear();
}

}  // namespace coordkit::raft
