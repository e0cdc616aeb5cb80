// A digest of the values of a core: whatever is equal up to the names of its replicas has equal fingerprints.
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

}  // namespace coordkit::raft
