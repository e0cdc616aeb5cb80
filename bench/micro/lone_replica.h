// A replica that is its own cluster, at door 2: a client on an engine, over stores in memory, in virtual time.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/store_events.h"
#include "coordkit/storage/memory_stores.h"

namespace coordkit::bench {

class LoneReplica final : private StoreEvents {
 public:
  LoneReplica();
  ~LoneReplica();

  Client& client() { return *client_; }
  SessionRef open_session();
  void turn();
  void until(const std::function<bool()>& condition);

 private:
  void post_event(EngineInput input) override { engine_->post(std::move(input)); }

  MemoryLogStore log_{StoreId(1)};
  MemoryStateStore state_;
  Now now_;
  std::unique_ptr<Engine> engine_;
  std::optional<Client> client_;
  EngineEffects effects_;
};

}  // namespace coordkit::bench
