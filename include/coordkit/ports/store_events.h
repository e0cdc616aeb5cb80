// The reports of stores, as inputs of an engine: a shell around an engine passes this sink to its
// stores.
//
//   class Shell final : private StoreEvents {
//     void post_event(EngineInput input) override { engine_->post(std::move(input)); }
//     ...
//   };
//
// Threads: a store calls from any thread of its own. post_event() must bring the input to the
// engine's thread.
#pragma once

#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/export.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"

namespace COORDKIT_EXPORT coordkit {

class StoreEvents : public LogSink, public StateSink {
 public:
  void written(WriteNumber number) override { post_event(LogWritten{number}); }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    post_event(LogWasRead{first, std::move(entries)});
  }
  void log_failed(absl::Status why) override { post_event(StoreFailed{std::move(why)}); }
  void log_space(LogSpace space) override { post_event(LogSpaceChanged{space}); }
  void log_waits(absl::Status why) override { post_event(LogWaits{std::move(why)}); }
  void log_spare_fails(absl::Status why) override { post_event(LogSpareFails{std::move(why)}); }
  void checkpointed(Position applied) override { post_event(StateCheckpointed{applied}); }
  void staged(Ticket ticket) override { post_event(RangeStaged{ticket}); }
  void installed(Position applied) override { post_event(StateInstalled{applied}); }
  void install_refused(Position applied, absl::Status why) override { post_event(InstallRefused{applied, std::move(why)}); }
  void checkpoint_failed(absl::Status why) override { post_event(StoreFailed{std::move(why)}); }
  void checkpoint_damaged(absl::Status why) override { post_event(StateDamaged{std::move(why)}); }
  void checkpoint_waits(absl::Status why) override { post_event(StateWaits{std::move(why)}); }

 private:
  virtual void post_event(EngineInput input) = 0;
};

}  // namespace coordkit
