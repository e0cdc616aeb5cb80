// A broken invariant ends the run at once: the first one found is the interesting one.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "coordkit/types.h"

namespace coordkit::sim {

// The subject of a violation, as far as known; the timeline opens there.
struct Culprit {
  std::optional<uint64_t> operation = {};  // number of the call
  Index index = {};                        // of the entry
  std::string lock = {};                   // with the grant
  Token token = {};
};

class Violation : public std::runtime_error {
 public:
  Violation(std::string id, const std::string& what, Culprit culprit = {})
      : std::runtime_error(what), id_(std::move(id)), culprit_(std::move(culprit)) {}
  const std::string& id() const { return id_; }
  const Culprit& culprit() const { return culprit_; }

 private:
  std::string id_;
  Culprit culprit_;
};

}  // namespace coordkit::sim
