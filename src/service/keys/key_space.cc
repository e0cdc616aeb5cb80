#include "coordkit/keys/key_space.h"

#include <utility>

#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

KeySpace::KeySpace(const Service& service) : host_(HandleAccess::host(service)) {}

absl::StatusOr<QuotaResult> KeySpace::set_quota(uint64_t bytes, ProposeOptions options) {
  return wait_for_async<absl::StatusOr<QuotaResult>>(*host_, options.timeout, [&](Callback<QuotaResult> done) {
    return begin_by<Admission::Always>(host_, std::move(done), &KeyCalls::set_quota, bytes, kAnswer,
                                       host_->write_options(std::move(options)));
  });
}

absl::StatusOr<KeySpaceInfo> KeySpace::info(QueryOptions options) const {
  return wait_for_async<absl::StatusOr<KeySpaceInfo>>(*host_, options.timeout, [&](Callback<KeySpaceInfo> done) {
    return begin_by<Admission::Always>(host_, std::move(done), &KeyCalls::space, kAnswer,
                                       CallDeadline(host_->deadline(options.timeout)), options.read);
  });
}

}  // namespace coordkit
