// For tests only, exhaustive ones above all: cores that can be copied and compared. Nothing in the library calls this.
//
// A fingerprint covers everything that can influence what a core answers from now on, and nothing else:
//
//   time      relative to the core's own clock; ages are capped where only "an election timeout or more" matters
//   writes    relative to the last one reported durable
//   jitter    not covered: the test chooses it afresh with reseed() before each step
//   ids       renamed if asked, so that states are equal if they differ only in the ids of their replicas
//
// Everything else (terms, indexes, streams, rounds) counts as it is. A new field of the core must be added here. `./dev
// explore --twins` and its tests run pairs with equal fingerprints side by side and detect omissions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "coordkit/raft/core.h"

namespace coordkit::raft {

struct Fingerprint {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// names[id] is what replica `id` is called; ids beyond the table keep theirs.
using Names = std::array<uint8_t, 8>;
inline constexpr Names kOwnNames = {0, 1, 2, 3, 4, 5, 6, 7};

// Collects words; the order matters.
class Digest {
 public:
  explicit Digest(const Names& names = kOwnNames) : names_(names) {}

  void add(uint64_t word) { words_.push_back(word); }
  template <typename Tag>
  void add(Id<Tag> id) {
    add(id.value());
  }
  void add(ReplicaId id) { add(name_of(id)); }
  void add(Position position) { add(position.index), add(position.term); }
  void add(const HardState& state) { add(state.term), add(state.vote); }
  void add(const Entry& entry);
  void add(const std::vector<Entry>& entries);
  void add(const Configuration& configuration);
  void add(const Message& message);

  uint64_t name_of(ReplicaId id) const { return id.value() < names_.size() ? names_[id.value()] : id.value(); }
  Fingerprint result() const;

 private:
  const Names& names_;
  std::vector<uint64_t> words_;
};

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
  static bool hands_over(const Core& core);  // it leads, and refuses proposals because of a transfer
  // An answer to an append that later answers of its stream have made meaningless.
  static bool overtaken(const Core& core, ReplicaId from, const AppendReply& reply);
  static bool vote_durable(const Core& core);
  static bool admissible(const Core& core, ReplicaId from, const Message& message);

  // The defect of regression R01, for tests that must fail: it commits the entries that a majority has, whatever their term.
  static void commit_by_counting(Core& core);

 private:
  class Reader;
};

}  // namespace coordkit::raft
