// Lines from several pipes, one at a time, in the order they can be read: the input side of a parent of processes.
//
// Threads: one owner. A line without an end is returned when its pipe ends.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "tools/support/child.h"

namespace coordkit::support {

struct Line {
  int from = 0;  // as passed to add()
  std::string text;
  bool ended = false;  // nothing more comes from there; text is empty
};

class LineReader {
 public:
  void add(int from, int fd);  // replaces the previous `from`; the descriptor is non-blocking and stays the caller's
  void remove(int from) { sources_.erase(from); }
  // nullopt: the deadline passed, or no pipe is left.
  std::optional<Line> next(Deadline deadline);

 private:
  struct Source {
    int fd = -1;
    std::string rest;
  };
  void read_from(int from, Source& source);

  std::map<int, Source> sources_;
  std::deque<Line> lines_;
};

}  // namespace coordkit::support
