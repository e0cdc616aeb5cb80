// Everything that the one replica of a fake service has written. The replica starts from it, and it survives the replica.
#pragma once

#include <cstdint>
#include <memory>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/store_events.h"
#include "coordkit/storage/memory_stores.h"

namespace coordkit::testkit {

class FakeDisk {
 public:
  std::unique_ptr<Engine> start_replica(StoreEvents& events, Now now);
  void carry_out(EngineEffects& effects);
  void close();

 private:
  MemoryLogStore log_{StoreId(1)};
  MemoryStateStore state_;
  uint64_t starts_ = 0;
};

}  // namespace coordkit::testkit
