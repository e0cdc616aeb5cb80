// The right to see an object, by its kind. A caller that may use a lock, or an object like one, may see how it is used.
#pragma once

#include "coordination/step.h"
#include "machine/permissions/needs.h"

namespace coordkit::machine {

constexpr AnyOf right_to_see(coordination::Kind kind) {
  switch (kind) {
    case coordination::Kind::Lock:
    case coordination::Kind::Semaphore:
    case coordination::Kind::Latch:
    case coordination::Kind::Barrier:
    case coordination::Kind::DoubleBarrier: return {Right::Read, Right::Lock};
    case coordination::Kind::Queue:
    case coordination::Kind::Counter:
    case coordination::Kind::Group: return Right::Read;
  }
  return Right::Admin;  // of no known kind
}

}  // namespace coordkit::machine
