// A broken invariant ends the run at once: the first one found is the interesting one.
#pragma once

#include <stdexcept>
#include <string>

namespace coordkit::sim {

class Violation : public std::runtime_error {
 public:
  Violation(std::string id, const std::string& what) : std::runtime_error(what), id_(std::move(id)) {}
  const std::string& id() const { return id_; }

 private:
  std::string id_;
};

}  // namespace coordkit::sim
