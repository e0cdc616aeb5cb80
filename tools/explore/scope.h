// How much of the world is explored: budgets that every run draws from. Small, and explored exhaustively.
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

// Free: pre-votes are granted automatically and no voter is bound by a leader it heard from; any replica may campaign whenever
// its budget allows. More can happen than with the real rules, and no invariant may depend on these.
enum class Elections : uint8_t { Free, Real };

// Which heartbeats arrive. None: all are lost, and a commit is announced only by appends. News: those that announce a commit
// arrive; their answers, and all others, are lost.
enum class Heartbeats : uint8_t { None, News, All };

struct Scope {
  std::string_view name;
  std::string_view what;
  uint8_t replicas = 3;
  uint8_t term_limit = 3;  // no campaigns from here on. The first term, of the genesis entry, is 1
  uint8_t timeouts = 2;    // election timers that expire, in total
  uint8_t proposals = 0;
  uint8_t crashes = 0;     // each with an immediate restart
  uint8_t beats = 0;       // heartbeat rounds besides those a leader begins by itself
  uint8_t step_downs = 0;  // leaders that lose their quorum
  uint8_t changes = 0;     // of membership: replica 3 by replica 4
  Elections elections = Elections::Free;
  Heartbeats heartbeats = Heartbeats::News;
  uint8_t window = 1;           // appends in flight on one stream
  bool single_entries = false;  // appends carry one entry each
  Defect defect = Defect::None;
};

std::span<const Scope> scopes();
const Scope* scope_named(std::string_view name);

}  // namespace coordkit::explore
