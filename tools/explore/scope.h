// How much of the world is explored: budgets that every run draws from. Small, and everything within it is visited.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coordkit::explore {

inline constexpr size_t kReplicasMost = 4;
inline constexpr uint64_t kTermsMost = 7;

// Defects for runs that must fail.
enum class Defect : uint8_t {
  None,
  ForgetsVote,        // the disk loses the vote in a crash
  CountsOlderTerms,   // regression R01: any term is committed by counting
  SendsAtOnce,        // messages do not wait for the disk
  ComparesTooLittle,  // the fingerprint leaves out clocks that votes depend on; only twins can find it
};

// Free: pre-votes are granted by themselves and no voter is bound by a leader that it heard; everybody may campaign whenever
// its budget allows. More can happen than with the real rules, and no invariant may depend on these.
enum class Elections : uint8_t { Free, Real };

// Which heartbeats arrive. None: all are lost, and of a commit only appends tell. News: those that tell of a commit arrive;
// their answers, and all others, are lost.
enum class Heartbeats : uint8_t { None, News, All };

struct Scope {
  std::string_view name;
  std::string_view what;
  uint8_t replicas = 3;
  uint8_t term_limit = 3;  // nobody campaigns from here on. The first term, of the genesis entry, is 1
  uint8_t timeouts = 2;    // election timers that run out, in all
  uint8_t proposals = 0;
  uint8_t crashes = 0;     // each with an immediate restart
  uint8_t beats = 0;       // heartbeat rounds besides those that a leader begins by itself
  uint8_t step_downs = 0;  // leaders that miss their quorum
  uint8_t changes = 0;     // of membership: replica 3 by replica 4
  Elections elections = Elections::Free;
  Heartbeats heartbeats = Heartbeats::News;
  uint8_t window = 1;           // appends under way on one stream
  bool single_entries = false;  // appends carry one entry each
  Defect defect = Defect::None;
};

std::span<const Scope> scopes();
const Scope* scope_named(std::string_view name);

}  // namespace coordkit::explore
