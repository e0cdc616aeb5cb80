// Discovery: services register under a prefix with an address, and are found there for as long as
// their sessions live.
//
//   Registry web(*replica, "services/web/");
//   absl::StatusOr<std::string> me = web.join(session, "10.0.0.7:80");
//   Mirror others = web.observe([](const MirrorSeen& seen, const MirrorEntries& all) { ... });
//
// Entries are keys. That is the difference to Group: an observer needs no session, one observer
// sees all services below "services/", and a transaction can depend on an entry. Where that does
// not matter, Group is cheaper: it changes no revision and leaves no history.
//
// Threads: all methods are thread-safe.
// Lifetime: may outlive the replica. Then every call is kFailedPrecondition.
// Errors: an entry is deleted with the session that joined, at the latest one TTL after the process
// died. A paused process may still be listed and not answer.
// Example: examples/11_discovery.
#pragma once

#include <string>

#include "coordkit/export.h"
#include "coordkit/keys/kv.h"
#include "coordkit/keys/mirror.h"

namespace COORDKIT_EXPORT coordkit {

class Registry {
 public:
  // `prefix`: not empty; end it with a separator, or "web" will list "web2" as well.
  Registry(const Service& service, std::string prefix);
  Registry(const Registry&) = default;  // a moved-from object is unchanged
  Registry& operator=(const Registry&) = default;

  // Answers the key of the entry: the prefix and 20 digits, in the order of joining over all
  // replicas, none twice. The same session may join several times. kFailedPrecondition (Closed:
  // there is no session), kNotFound (LeaseNotFound: the session has ended), else as Kv::put().
  // After CallTimeout (unknown) an entry may exist, until the session ends.
  absl::StatusOr<std::string> join(const Session& session, std::string value, ProposeOptions options = {});
  // Replaces the value of an entry that join() answered. kNotFound (KeyNotFound): it is gone.
  absl::Status update(const std::string& entry, std::string value, ProposeOptions options = {});
  // Deletes an entry that join() answered. kNotFound (KeyNotFound): it is gone.
  absl::Status leave(const std::string& entry, ProposeOptions options = {});

  // Linearizable unless the options say otherwise; in the order of joining.
  absl::StatusOr<RangeResult> members(QueryOptions options = {}) const;
  // Reports all present entries, then every arrival, change and departure, without a gap.
  [[nodiscard]] Mirror observe(MirrorObserver observer = {}) const;

 private:
  bool listed(const std::string& entry) const { return entry.size() > prefix_.size() && entry.starts_with(prefix_); }

  std::shared_ptr<class Host> host_;
  Kv kv_;
  std::string prefix_;
};

}  // namespace coordkit
