// A replica with its threads: the engine in its loop (loop_host.h) with stores (stores.h), a transport to the members
// (peer_transport.h), and listeners for operators and for remotes. Door 1's handles share it.
//
// A member refers to earlier ones only.
#pragma once

#include <memory>
#include <string>

#include "coordkit/engine/engine.h"
#include "coordkit/replica.h"
#include "replica/operate/admin_socket.h"
#include "replica/shell/parts.h"
#include "replica/shell/peer_transport.h"
#include "replica/shell/remote_listener.h"
#include "replica/shell/replica_calls.h"
#include "replica/shell/stores.h"
#include "service/shell/loop_host.h"

namespace coordkit {

class DataDirectory;

class RunningHost final : public LoopHost, public ReplicaCalls {
 public:
  // `own_thread`, none: the options name an executor. `parts` use its loop, and the directory, if they need one.
  RunningHost(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread, std::shared_ptr<DataDirectory> directory,
              MadeParts parts);
  ~RunningHost() override;

  absl::StatusOr<std::shared_ptr<RunningHost>> open();  // opening.cc
  absl::Status open_admin();

  Ticket change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) override;
  Ticket transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) override;
  absl::Status scrub_now(absl::FunctionRef<bool()> awaited) override;
  absl::StatusOr<BackupInfo> backup(const std::string& file, LiveBackupOptions options) override;  // live_backup.cc
  absl::Status reload_tls() override;

 private:
  // A checkpoint at this entry or beyond it, once durable; one is taken if there is none. The view may outlive this.
  absl::StatusOr<std::unique_ptr<CheckpointView>> checkpoint_at(Index at_least, LaggingTime deadline);
  std::shared_ptr<RunningHost> self() { return std::static_pointer_cast<RunningHost>(shared_from_this()); }
  void start(std::unique_ptr<Engine> engine);
  void send_released();

  void carry_out(EngineEffects& effects, Now now, bool due) override;
  bool take_deferred() override { return stores_.take_deferred(); }
  HostHealth::Report report() override;
  void close_network() override;
  void stop_sources() override { stores_.stop(); }
  void end_visits() override { admin_.reset(); }
  void release() override;

  const ReplicaOptions options_;
  Stores stores_;
  PeerTransport peers_;
  const std::unique_ptr<RemoteListener> remotes_;  // none: not wanted
  std::unique_ptr<AdminSocket> admin_;             // none: not wanted
};

}  // namespace coordkit
