#include "coordkit/objects/observation.h"

#include <utility>

#include "service/calls/subscription.h"

namespace coordkit {

Observation::Observation() = default;
Observation::Observation(std::unique_ptr<Subscription> subscription) : subscription_(std::move(subscription)) {}
Observation::Observation(Observation&&) noexcept = default;
Observation& Observation::operator=(Observation&&) noexcept = default;
Observation::~Observation() = default;

void Observation::end() {
  if (subscription_) subscription_->end();
}

}  // namespace coordkit
