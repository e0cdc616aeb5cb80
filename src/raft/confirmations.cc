#include "raft/confirmations.h"

#include <algorithm>

namespace coordkit::raft {
namespace {

constexpr uint64_t kRoundsInFlight = 4;  // rounds begun for questions; more questions join the next round

}  // namespace

// A leader that has become its own quorum needs no round for earlier questions either.
void Confirmations::ask(Ticket ticket, Index commit, bool alone) {
  questions_.push_back({ticket, 0, commit});
  if (alone) belong_to_round();
}

bool Confirmations::round_wanted() const {
  return !questions_.empty() && questions_.back().round == 0 && round_ - confirmed_ < kRoundsInFlight;
}

void Confirmations::begin_round(LaggingTime now) {
  ++round_;
  belong_to_round();
  note_begun(now);
}

void Confirmations::belong_to_round() {
  for (auto question = questions_.rbegin(); question != questions_.rend() && question->round == 0; ++question) {
    question->round = round_;
  }
}

void Confirmations::note_begun(LaggingTime now) {
  while (!rounds_.empty() && now - rounds_.front().begun > options_.election_timeout) rounds_.pop_front();
  if (!rounds_.empty() && now - rounds_.back().begun < options_.heartbeat_interval / 2) return;
  rounds_.push_back({round_, now});
}

std::optional<LaggingTime> Confirmations::begun(uint64_t round) const {
  const auto later = std::find_if(rounds_.begin(), rounds_.end(), [round](const Round& one) { return one.number > round; });
  return later == rounds_.begin() ? std::nullopt : std::optional((later - 1)->begun);
}

// A read at the returned index sees everything that was acknowledged before the question. The index covers the entries that
// were committed then. It also covers our first entry of the term, and all commits of earlier terms are before that entry.
void Confirmations::answer(Index commit, Index start, absl::FunctionRef<uint64_t()> agreed, Outbox& out) {
  if (questions_.empty()) return;
  confirmed_ = agreed();
  if (commit < start) return;
  while (!questions_.empty() && questions_.front().round != 0 && questions_.front().round <= confirmed_) {
    const Question& question = questions_.front();
    out.confirmations.push_back({question.ticket, Answer::Yes, std::max(question.commit, start)});
    questions_.pop_front();
  }
}

void Confirmations::refuse(Outbox& out) {
  for (const Question& question : questions_) out.confirmations.push_back({.ticket = question.ticket});
  questions_.clear();
}

}  // namespace coordkit::raft
