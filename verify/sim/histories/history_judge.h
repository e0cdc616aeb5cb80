// The judge behind a fault beyond the fault model, INV_R25: most disks were set back, or a copied directory was started beside
// the original. Acknowledged writes may then be lost, and two histories may be served for a while. The duty is to stop loudly
// and to invent nothing (docs/faults.md, FLT_P27). So this is wrong, as tools/experiment/beyond.h has it for real processes:
//
//   invented      a read or a watch shows a value that nobody wrote to that key.
//   silent        an answer contradicts an acknowledged write that a place holds, and neither the places that have ever shown it
//                 nor those that contradict it have said a word. A later answer at a lower revision contradicts it. So does
//                 another change at its revision, its key as it was before at a later revision, and any sight of a refused
//                 write. If both answers were given within ten elections after the network was whole, so was the word.
//   two at rest   the network is whole, all that can run does so, and a while has passed: whatever was said, answers to calls
//                 from then on contradict each other.
//   wordless      no call is answered at rest, and no place has said why.
//
// It knows outcomes alone: calls and their answers, what watches were given, and words. A write whose every copy was set back
// is excused, for no replica can miss it. Nor can a replica know what it does not remember. One that starts again knows its
// checkpoint, and not which later entries of its log were committed. The state that a peer sends replaces what was there.
// So a place holds what its watch was given since then, and it gave the answers that it gave since then.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace coordkit::sim {

// A revision gave a key this value. Every value is written once, and every revision changes one key.
struct KeyChange {
  uint64_t revision = 0;
  std::string key;
  std::string value;
  friend auto operator<=>(const KeyChange&, const KeyChange&) = default;
};

// A put or a read, and its answer.
struct KeyCall {
  enum class End : uint8_t { Open, Answered, Refused, Unknown };  // Refused: without effect
  uint32_t place = 0;
  bool put = false;
  End end = End::Open;
  std::string key;
  std::string value;      // written or read; empty: the key is absent
  uint64_t revision = 0;  // of the store, by the answer
  uint64_t changed = 0;   // the revision that wrote the value
  TrueTime called{};
  TrueTime answered{};

  bool answers_since(TrueTime at) const { return end == End::Answered && called >= at; }
  KeyChange change() const { return {changed, key, value}; }
};

// A place is a process with a disk.
struct Evidence {
  std::vector<KeyCall> calls;
  std::vector<std::set<KeyChange>> shown;  // for each place: what its watches were given, ever
  std::vector<std::set<KeyChange>> held;   // the part of it that the place remembers
  std::vector<TrueTime> remembers;         // for each place: since when
  std::set<uint32_t> said;                 // the places with a word since the fault
  std::set<uint32_t> said_soon;            // those with one by the next time
  TrueTime soon{};                         // ten elections after the network is whole; zero: not judged
  TrueTime struck{};                       // the fault
  TrueTime rest{};                         // everything is at rest from then on
};

// Sentences that begin with the kind, the first ones of each. Empty: all is right.
std::vector<std::string> judge(const Evidence& evidence);

}  // namespace coordkit::sim
