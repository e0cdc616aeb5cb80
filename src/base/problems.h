// All that is wrong with a set of options, as one status: whoever corrects them sees everything at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/error.h"

namespace coordkit {

class Problems {
 public:
  // A sentence without a full stop, which names the option.
  void add(std::string_view sentence) { all_.append(all_.empty() ? "" : "; ").append(sentence); }
  // Those of a part's own options. OK: none.
  void add(const absl::Status& part) {
    if (!part.ok()) add(sentence_of(part));
  }
  absl::Status status() const { return all_.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, all_); }

 private:
  std::string all_;
};

}  // namespace coordkit
