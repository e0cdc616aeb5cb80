#include "client/keys/compactor.h"

#include <algorithm>

namespace coordkit::client {

Duration Compactor::interval() const {
  constexpr Duration kOften = std::chrono::seconds(1);
  if (policy_.age == Duration::zero()) return kOften;
  return std::clamp(policy_.age / 10, Duration(std::chrono::milliseconds(10)), policy_.revisions != 0 ? kOften : policy_.age);
}

Revision Compactor::old_enough(LaggingTime now) const {
  Revision at;
  for (const auto& [when, newest] : seen_) {
    if (now - when >= policy_.age) at = newest;
  }
  return at;
}

Revision Compactor::due(LaggingTime now, Revision newest, Revision compacted) {
  Revision at = newest;
  if (policy_.revisions != 0)
    at = newest.value() > policy_.revisions ? Revision(newest.value() - policy_.revisions) : Revision();
  if (policy_.age != Duration::zero()) {
    const Revision old = old_enough(now);
    at = std::min(at, old);
    while (seen_.size() > 1 && now - seen_[1].first >= policy_.age) seen_.pop_front();
    if (seen_.empty() || seen_.back().second < newest) seen_.emplace_back(now, newest);
  }
  return at > compacted ? at : Revision();
}

}  // namespace coordkit::client
