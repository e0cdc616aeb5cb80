// For exhaustive tests above all: cores that can be copied and compared.
//
// A fingerprint covers everything that can influence what a core answers from now on, and nothing else:
//
//   time      relative to the core's own clock; ages are capped where only "an election timeout or more" matters
//   writes    relative to the last one reported durable
//   jitter    not covered: the test chooses it afresh with reseed() before each step
//   ids       renamed if asked, so that states are equal if they differ only in the ids of their replicas
//
// Everything else (terms, indexes, streams, rounds) counts as it is. A new field of the core must be added in core_twin.cc.
// `./dev explore --twins` and its tests run pairs with equal fingerprints side by side and detect omissions.
#pragma once

#include <cstdint>
#include <span>

#include "coordkit/raft/core.h"
#include "twin/fingerprint.h"

namespace coordkit::raft {

// The parts that a test never exercises, so that states need not be told apart by them.
struct Ignored {
  bool followers_clocks = false;  // no vote request is refused because of a live leader, no deadline is awaited
  bool compaction = false;        // there are no checkpoints
};

class CoreTwin {
 public:
  // The core has been drained.
  static Core copy(const Core& core);
  static void digest(const Core& core, Digest& into, const Ignored& ignored = {});
  static void reseed(Core& core, uint64_t seed);

  static std::span<const Entry> log(const Core& core);  // the part in memory
  static LaggingTime now(const Core& core);
  // The next deadline, except the deadlines at which a campaign only repeats its requests.
  static LaggingTime deadline_without_repeats(const Core& core);
  static bool hears_leader(const Core& core);
  // An answer to an append that later answers of its stream have made meaningless.
  static bool overtaken(const Core& core, ReplicaId from, const AppendReply& reply);
  static bool vote_durable(const Core& core);
  static bool admissible(const Core& core, ReplicaId from, const Message& message);

  // The defect of regression R01, for tests that must fail: it commits the entries that a majority has, whatever their term.
  static void commit_by_counting(Core& core);
};

}  // namespace coordkit::raft
