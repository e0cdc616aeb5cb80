// All problems of a set of options, as one status: a person who corrects them sees everything at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/error.h"

namespace coordkit {

class Problems {
 public:
  // `sentence` has no full stop and names the option.
  void add(std::string_view sentence) { all_.append(all_.empty() ? "" : "; ").append(sentence); }
  // Adds the problems of a part's own options. OK: it has none.
  void add(const absl::Status& part) {
    if (!part.ok()) add(sentence_of(part));
  }
  absl::Status status() const { return all_.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, all_); }

 private:
  std::string all_;
};

}  // namespace coordkit
