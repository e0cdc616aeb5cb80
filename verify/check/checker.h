// The black-box linearizability checker: lines of a history in, a verdict out. The witness check of the simulator knows the
// log, and asks whether the answers agree with it. This checker knows only what callers saw, and asks whether anything at all
// could have given these answers.
//
// Single threaded. The operations in progress at one moment, the configurations that they allow (Limits) and the number of
// keys bound its memory. The length of the history does not, except with `Reading::Whole`.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "check/check_model.h"
#include "check/partition.h"
#include "check/verdict.h"

namespace coordkit::check {

enum class Reading : uint8_t {
  Streaming,  // lines come in the order of their calls and are forgotten as soon as possible
  Whole,      // in any order; nothing is decided before finish()
};

struct Options {
  Reading reading = Reading::Streaming;
  Settings settings;
  Limits limits;
};

class Checker {
 public:
  virtual ~Checker() = default;
  // Adds the next line, without its end. Empty lines count, but are ignored. kInvalidArgument names the line and its fault.
  // The checker then stays where it was, and may continue with the next line.
  virtual absl::Status add(std::string_view line) = 0;
  // True once no further line can change the verdict: a violation.
  virtual bool decided() const = 0;
  virtual Report finish() = 0;
};

// Names for make_checker.
std::vector<std::string_view> models();
// Null if no model has this name.
std::unique_ptr<Checker> make_checker(std::string_view model, const Options& options);

}  // namespace coordkit::check
