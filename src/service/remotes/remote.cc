#include "coordkit/remote.h"

#include <utility>

#include "base/with_reason.h"
#include "service/remotes/remote_host.h"
#include "service/shell/unopened.h"

namespace coordkit {

absl::StatusOr<std::unique_ptr<Remote>> Remote::open(RemoteOptions options) {
  return opened_or_refused("remote", [&]() -> absl::StatusOr<std::unique_ptr<Remote>> {
    auto host = RemoteHost::open(std::move(options));
    if (!host.ok()) return with_reason(host.status());
    return std::unique_ptr<Remote>(new Remote(*std::move(host)));
  });
}

Remote::Remote(std::shared_ptr<RemoteHost> host) : Service(host), link_(*host) {}
Remote::~Remote() = default;

LinkState Remote::link() const { return link_.link(); }

}  // namespace coordkit
