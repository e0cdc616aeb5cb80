// Lines from several pipes, one at a time, in the order they can be read: the ear of a parent of processes.
//
// Threads: one owner. A line without an end is given when its pipe ends.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "tools/support/child.h"

namespace coordkit::support {

struct Line {
  int from = 0;  // as given to add()
  std::string text;
  bool ended = false;  // nothing more comes from there; text is empty
};

class LineReader {
 public:
  void add(int from, int fd);  // replaces what `from` was before; the descriptor is non-blocking and stays the caller's
  void remove(int from) { sources_.erase(from); }
  // Nothing: the deadline passed, or there is nobody left to listen to.
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
