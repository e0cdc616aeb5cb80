// A process without a replica: the client on a RemoteEngine in the loop of a host (loop_host.h), with a link to a gateway.
// Remote is its handle.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/statusor.h"
#include "coordkit/remote.h"
#include "service/remotes/gateway_link.h"
#include "service/shell/loop_host.h"

namespace coordkit {

class RemoteHost final : public LoopHost {
 public:
  static absl::StatusOr<std::shared_ptr<RemoteHost>> open(RemoteOptions options);
  RemoteHost(RemoteOptions options, std::shared_ptr<OwnThread> own_thread);
  ~RemoteHost() override;

  LinkState link() const;  // any thread

 private:
  absl::Status start();
  void changed(const LinkState& state);

  void carry_out(EngineEffects& effects, Now now, bool due) override;
  HostHealth::Report report() override;
  void close_network() override {
    if (link_) link_->close();
  }
  void release() override {
    if (link_) link_->release();
  }

  const RemoteOptions options_;
  mutable std::mutex mutex_;  // guards the next
  LinkState state_;
  std::function<void(const LinkState&)> on_link_;
  std::optional<GatewayLink> link_;  // once it is started
};

}  // namespace coordkit
