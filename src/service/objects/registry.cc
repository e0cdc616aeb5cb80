#include "coordkit/objects/registry.h"

#include <utility>

#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

Registry::Registry(const Service& service, std::string prefix)
    : host_(HandleAccess::host(service)), kv_(service), prefix_(std::move(prefix)) {}

absl::StatusOr<std::string> Registry::join(const Session& session, std::string value, ProposeOptions options) {
  if (!HandleAccess::handle(session)) return handle_without_session();
  if (prefix_.empty()) return make_error(Reason::EmptyKey, "the prefix of a registry must not be empty");
  absl::StatusOr<PutResult> put =
      kv_.put({.key = prefix_, .value = std::move(value), .lease = LeaseId(session.id().value()), .sequential = true},
              std::move(options));
  if (!put.ok()) return put.status();
  return std::move(put->key);
}

// The lease stays: the entry ends with its member.
absl::Status Registry::update(const std::string& entry, std::string value, ProposeOptions options) {
  if (!listed(entry))
    return make_error(Reason::KeyNotFound, entry + " is no entry of this registry; use the entry that join() returned");
  absl::Status put = kv_.put({.key = entry, .value = std::move(value), .ignore_lease = true}, std::move(options)).status();
  if (reason_of(put) != Reason::KeyNotFound) return put;
  return make_error(Reason::KeyNotFound, "the entry has gone, with its session or before; join again with a live session");
}

absl::Status Registry::leave(const std::string& entry, ProposeOptions options) {
  if (!listed(entry))
    return make_error(Reason::KeyNotFound, entry + " is no entry of this registry; use the entry that join() returned");
  const absl::StatusOr<EraseResult> erased = kv_.erase(entry, std::move(options));
  if (!erased.ok()) return erased.status();
  return erased->deleted != 0 ? absl::OkStatus()
                              : make_error(Reason::KeyNotFound, "the entry has gone before; there is nothing left to do");
}

absl::StatusOr<RangeResult> Registry::members(QueryOptions options) const {
  return kv_.range(RangeOperation::prefix(prefix_), options);
}

Mirror Registry::observe(MirrorObserver observer) const { return {host_, MirrorOptions::prefix(prefix_), std::move(observer)}; }

}  // namespace coordkit
