#include "coordkit/key_space.h"

#include <utility>

#include "replica/coordination.h"
#include "replica/host.h"

namespace coordkit {

KeySpace::KeySpace(const Replica& replica) : host_(HandleAccess::host(replica)) {}

absl::StatusOr<QuotaResult> KeySpace::set_quota(uint64_t bytes, ProposeOptions options) {
  return wait_for<QuotaResult>(
      *host_, [bytes, write = host_->write_options(std::move(options))](Client& client, Callback<QuotaResult> done) mutable {
        client.keys().set_quota(bytes, std::move(done), std::move(write));
      });
}

absl::StatusOr<KeySpaceInfo> KeySpace::info(QueryOptions options) const {
  return wait_for<KeySpaceInfo>(
      *host_, [read = options.read, deadline = host_->deadline(options.timeout)](Client& client, Callback<KeySpaceInfo> done) {
        client.keys().space(std::move(done), deadline, read);
      });
}

}  // namespace coordkit
