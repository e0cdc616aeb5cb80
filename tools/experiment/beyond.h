// The judge of the history experiment behind a fault that is beyond the fault model. Either most directories were set back to
// older copies of themselves, or a copied directory was started beside the original and the network was cut between them.
//
// Everything seen before the fault is judged as ever. Behind it acknowledged writes may be lost, and two histories may be
// served. The duty is to stop loudly and invent nothing (docs/faults.md, FLT_P27). So this is wrong:
//
//   invented      a read or a watch is given a value that nobody had begun to write to that key.
//   silent        an answer contradicts an acknowledged write, and no party to it has said a word by the end. An answer
//                 contradicts a write if it was called later and its revision is lower; if it shows another change at the
//                 write's revision; if it shows the key as it was before the write, at a revision that is not; or if it shows
//                 a write that was refused as without effect. Parties are the places that had the write and those that gave
//                 the answers. Another replica's word (that its own disk was set back, for instance) excuses nobody.
//   two at rest   the network is whole, every process runs that will, and a while has passed: whatever was said, answers to
//                 calls from then on contradict each other or what was acknowledged from then on.
//   wordless      no call is answered at rest, and no replica has said why.
//   died          a process ended by a signal that nobody sent.
//
// A word is Quarantine, Halted or Diverged as an event of severity Error, a refusal to open the directory, or the alarm that
// two processes act as one replica. Warnings about elections and silent members are none: they do not say that data is wrong.
//
// Nobody can miss a write whose every copy was set back. So the judge demands a word only about writes that a kept directory
// had: the watch of a process was given the change, and its directory stayed as this process left it. Losses that only a judge
// can know are counted, and excused. When a word has to come is left open until the end: a replica cannot know of a
// history that it has not met. Locks are not judged behind the fault; their grants are entries of the same log.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/experiment/seen_life.h"

namespace coordkit::experiment {

// Where a life was lived: a process with a directory.
struct PlacedLife {
  SeenLife life;
  int place = 0;
  bool kept = false;  // its directory was neither set back nor thrown away since
};

struct Word {
  int place = 0;
  std::string sentence;
};

// Whether an event is one (name_of its kind and severity).
bool is_word(std::string_view kind, std::string_view severity, std::string_view sentence);

// A cluster from its foundation to its end, with one such fault.
struct Episode {
  std::vector<PlacedLife> lives;
  std::vector<Word> words;  // since the fault
  std::vector<int> died;    // places
  int64_t rest_ns = 0;      // from then on it was at rest
};

enum class Ending : uint8_t {
  Harmless,  // nothing contradicts anything
  Said,      // acknowledged writes were contradicted, and a party said so
  Stopped,   // nothing is answered any more, and it was said why
  Excused,   // acknowledged writes are missing that no kept directory had
  Wrong,
};
constexpr std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::Harmless: return "harmless";
    case Ending::Said: return "said";
    case Ending::Stopped: return "stopped";
    case Ending::Excused: return "excused";
    case Ending::Wrong: return "wrong";
  }
  return "?";
}

struct Judgement {
  Ending ending = Ending::Harmless;
  uint64_t contradictions = 0;     // of writes that a kept directory had
  std::vector<std::string> wrong;  // sentences; if many are alike, the first ones
};

Judgement judge(const Episode& episode);

}  // namespace coordkit::experiment
