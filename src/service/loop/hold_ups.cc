#include "service/loop/hold_ups.h"

#include <algorithm>
#include <chrono>

namespace coordkit {
namespace {

constexpr Duration kLimitMax = std::chrono::milliseconds(250);
constexpr Duration kOwedMax = std::chrono::seconds(1);  // a round that is late for no known reason
constexpr std::string_view kAdvice = ": move long work to a thread of your own";

std::string milliseconds_text(Duration time) { return std::to_string(time / std::chrono::milliseconds(1)) + " ms"; }

std::string callback_of(const char* call) { return std::string(call) + "'s callback"; }

}  // namespace

// A leader that is silent for a whole election timeout is replaced; at a quarter of it there is still time to see why.
HoldUps::HoldUps(const TurnLoop& loop, const Clock& clock, Duration election_timeout)
    : loop_(loop), clock_(clock), limit_(std::min<Duration>(election_timeout / 4, kLimitMax)) {}

HoldUps::Running HoldUps::running() const {
  const char* const call = running_.load(std::memory_order_acquire);
  if (call == nullptr) return {};
  return {call, std::max(clock_.lagging() - since_.load(std::memory_order_relaxed), Duration::zero())};
}

bool HoldUps::now() const { return running().lasts >= limit_ || loop_.owed() >= kOwedMax; }

std::string HoldUps::words() const {
  if (const Running one = running(); one.lasts >= limit_) {
    return callback_of(one.call) + " has held up the engine's thread for " + milliseconds_text(one.lasts);
  }
  const Duration owed = loop_.owed();
  if (owed < kOwedMax) return {};
  return "the engine's thread has been held up for " + milliseconds_text(owed) +
         ", by code of the host that it runs (a machine, a part, other tasks of its executor) or by a busy processor";
}

std::string HoldUps::blocked(const char* call, Duration took) {
  const std::lock_guard lock(mutex_);
  Blocked& kind = blocked_[call];
  ++kind.times;
  kind.longest = std::max(kind.longest, took);
  return callback_of(call) + " held up the engine's thread for " + milliseconds_text(took) + std::string(kAdvice);
}

std::vector<std::string> HoldUps::warnings() const {
  std::vector<std::string> out;
  if (std::string words_now = HoldUps::words(); !words_now.empty()) {
    out.push_back(std::move(words_now) +
                  "; calls end at their timeouts meanwhile, and health() and metrics() are as old as they say");
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [call, kind] : blocked_) {
    std::string sentence(call);
    sentence += "'s callback held up the engine's thread for " + milliseconds_text(kind.longest);
    if (kind.times > 1) sentence += " (the longest of " + std::to_string(kind.times) + " times)";
    out.push_back(sentence.append(kAdvice));
  }
  return out;
}

}  // namespace coordkit
