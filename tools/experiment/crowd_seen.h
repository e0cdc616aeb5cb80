// The judge of the remotes experiment. It knows only what remotes saw: the lines of crowd_trace.h, a record a line.
//
//   put R N OUTCOME CALL RETURN   remote R put its number N to its key: done, refused (no effect) or unknown, and when
//   seen R V N AT                 the watch of R's key was given version V of it, with number N
//   link R AT KIND GATEWAY        R's link: Dialing, Waiting or Serving, at gateway 1, 2 or 3
//   session R AT PHASE            a session of R: Valid, Jeopardy or Lost
//   hold R AT                     R could not trust its lock any more; it may again, when its session recovers
//   ended R SENTENCE              the watch of R's key ended
//   final R V N                   what a reader finds at the end: version V of R's key, with number N
//
// Times are those of one machine, in nanoseconds. Pure, but for the stream that it reads.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coordkit::experiment {

// The outcomes of the numbered puts. All but the first three have to be zero.
struct CrowdPuts {
  uint64_t done = 0;
  uint64_t unknown = 0;
  uint64_t refused = 0;
  uint64_t lost = 0;      // done, and not there
  uint64_t twice = 0;     // there more than once
  uint64_t invented = 0;  // there, although refused or never made
  uint64_t gaps = 0;      // versions that a watch was not given
  uint64_t repeats = 0;   // versions that a watch was given again, or too late
};

// How the remotes came to a gateway again after a moment.
struct CrowdMoves {
  uint64_t remotes = 0;                                          // that had to
  uint64_t moved = 0;                                            // of them, before the end
  std::vector<int64_t> took_ms;                                  // ascending
  std::optional<int64_t> percentile_ms(unsigned percent) const;  // absent: fewer have moved
  // In the second in which most came.
  uint64_t most_in_a_second() const;
};

class CrowdSeen {
 public:
  // Throws std::runtime_error at a line that is none of these.
  void read(std::istream& lines);

  CrowdPuts puts() const;
  uint64_t sessions_lost() const { return sessions_lost_; }
  uint64_t sessions_in_jeopardy() const { return jeopardies_; }      // so often
  uint64_t holds_in_jeopardy() const { return holds_in_jeopardy_; }  // locks; each counts once
  // All that is wrong, in sentences.
  std::vector<std::string> sentences() const;

  // Those that `gateway` served at that moment; zero: all remotes. Up to `until`.
  CrowdMoves moves(int64_t at_ns, int gateway, int64_t until_ns) const;
  // By how much of its mean of the two seconds before the rate of puts of all other remotes falls, in the worst half a second
  // of the four seconds that follow: 0 to 1.
  double dip(int64_t at_ns, int gateway) const;

 private:
  struct Put {
    char outcome = 'u';  // its first letter
    int64_t returned_ns = 0;
  };
  struct Version {
    uint64_t version = 0, number = 0;
  };
  struct Link {
    int64_t at_ns = 0;
    bool serves = false;
    int gateway = 0;
  };
  struct Remote {
    std::map<uint64_t, Put> puts;  // by number
    std::vector<Version> seen;     // in the order of the watch
    std::optional<Version> end;
    std::vector<Link> links;
  };

  static int gateway_at(const Remote& remote, int64_t at_ns);
  void judge(uint64_t number, const Remote& remote, CrowdPuts& puts, std::vector<std::string>& sentences) const;

  std::map<uint64_t, Remote> remotes_;
  uint64_t sessions_lost_ = 0, jeopardies_ = 0, holds_in_jeopardy_ = 0;
  std::vector<std::string> ended_;
};

}  // namespace coordkit::experiment
