#include "compare/work.h"

#include <algorithm>

namespace coordkit::sim::compare {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kThinkMax = milliseconds(200);
constexpr Duration kComputeMax = milliseconds(500);
constexpr Duration kLatencyMax = milliseconds(1);  // to the counter and back
constexpr uint64_t kUpdatesMax = 8;                // per hold
// Between the check and the moment the write leaves: a few instructions, or a page fault, a collection, a full queue.
constexpr Duration kGapMax = milliseconds(10);

}  // namespace

SharedCounter::Seen SharedCounter::read(Token token) {
  Seen seen{open_, std::nullopt};
  if (gate_.admit(token).ok()) seen.fenced = fenced_;
  return seen;
}

void SharedCounter::write(const Seen& base, Token token) {
  open_ = base.open + 1;
  ++open_writes_;
  if (!base.fenced || !gate_.admit(token).ok()) return;
  fenced_ = *base.fenced + 1;
  ++fenced_writes_;
}

// Every write was meant to add one: missing ones were overwritten.
void SharedCounter::fill(RecipeFigures& figures) const {
  figures.writes = open_writes_;
  figures.lost = open_writes_ - open_;
  figures.fenced_writes = fenced_writes_;
  figures.fenced_lost = fenced_writes_ - fenced_;
  figures.fence = gate_.state().highest != Token();
}

void Worker::end() {
  ended_ = true;
  lock_.release();
}

void Worker::rest() {
  process_.after(process_.up_to(kThinkMax), [this] {
    if (!ended_) lock_.acquire([this] { enter(); });
  });
}

void Worker::enter() {
  if (ended_) return lock_.release();
  ++grants_;
  updates_left_ = 1 + process_.random(kUpdatesMax);
  read();
}

void Worker::read() {
  process_.elsewhere_after(process_.up_to(kLatencyMax), [this, token = lock_.token()] {
    const SharedCounter::Seen seen = counter_.read(token);
    process_.after(process_.up_to(kLatencyMax + kComputeMax), [this, seen] { check(seen); });
  });
}

void Worker::check(SharedCounter::Seen seen) {
  if (ended_) return;
  if (!lock_.holds()) return leave();
  process_.after(process_.up_to(kGapMax), [this, seen] { write(seen); });
}

// By now the answer of check() is some moments old; the comparison is about exactly that.
void Worker::write(SharedCounter::Seen seen) {
  if (ended_) return;
  process_.elsewhere_after(process_.up_to(kLatencyMax), [this, seen, token = lock_.token()] {
    counter_.write(seen, token);
    process_.after(process_.up_to(kLatencyMax), [this] { written(); });
  });
}

void Worker::written() {
  if (ended_) return;
  if (--updates_left_ == 0 || !lock_.holds()) return leave();
  read();
}

void Worker::leave() {
  lock_.release();
  rest();
}

void OverlapWatch::look(size_t acting) {
  if (acting < 2) {
    present_ = {};
    return;
  }
  if (present_ == Duration()) ++overlaps_;
  present_ += kStep;
  total_ += kStep;
  longest_ = std::max(longest_, present_);
}

void OverlapWatch::fill(RecipeFigures& figures) const {
  figures.overlaps = overlaps_;
  figures.overlapped = total_;
  figures.overlap_longest = longest_;
}

}  // namespace coordkit::sim::compare
