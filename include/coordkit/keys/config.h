// Settings that follow the store. You decode them; you always get the newest ones that decode.
//
//   Config<Limits> limits(*replica, MirrorOptions::prefix("config/limits/"), decode_limits);
//   if (!limits.wait_ready().ok()) ...        // until then current() is a default Limits()
//   use(limits.current()->requests_max);      // any thread, any time; no round trip
//
// All keys of the interval are decoded together, at one revision. Settings that one transaction
// changed together are never seen apart. Keys that cannot be decoded change nothing but problem(),
// so a slip of the hand does not take a service down. The same is true for a `decode` that throws
// (HostThrew; ReplicaOptions::on_error gets the exception's text).
//
// Threads: all methods are thread-safe. `decode` and `on_change` run on the replica's callback
// thread, one at a time.
// Lifetime: as Mirror: end() and the destructor wait for a running call of either callback
// (observation.h). A value that current() returned never changes, and lives as long as it is
// referenced.
// Example: examples/10_config.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "coordkit/export.h"
#include "coordkit/keys/mirror.h"

namespace COORDKIT_EXPORT coordkit {

// Settings of type T that follow the keys of an interval.
template <typename T>
class Config {
 public:
  // Gets all entries of the interval, by key. An empty interval is a case of its own: return
  // defaults, or an error.
  using Decode = std::function<absl::StatusOr<T>(const MirrorEntries&)>;
  using OnChange = std::function<void(const T&)>;  // gets each value that was decoded, once

  // `on_change` gets every decoded value, in order, the first one included. current() returns
  // `before` until then.
  Config(const Service& service, MirrorOptions keys, Decode decode, OnChange on_change = {}, T before = T())
      : shared_(std::make_shared<Shared>(std::move(decode), std::move(on_change), std::move(before))),
        mirror_(service, std::move(keys),
                [shared = shared_](const MirrorSeen& seen, const MirrorEntries& all) { shared->seen(seen, all); }) {}
  // `other` follows nothing afterwards.
  Config(Config&& other) noexcept : shared_(other.shared_), mirror_(std::move(other.mirror_)) {}
  Config& operator=(Config&& other) noexcept {
    mirror_ = std::move(other.mirror_);
    shared_ = other.shared_;
    return *this;
  }

  // From here on neither callback is called, current() stays unchanged, and problem() says Closed.
  // Waits for a running call of either callback, as Observation::end() does. May be called again.
  void end() {
    mirror_.end();
    shared_->fail(make_error(Reason::Closed, "following these settings was ended here"));
  }

  // Blocks until there is a value. kDeadlineExceeded (CallTimeout): there is none yet. If the keys
  // cannot be decoded: the status of `decode`, or HostThrew. If it has ended: the reason. Not
  // allowed in a callback of the replica.
  absl::Status wait_ready(Duration timeout = std::chrono::seconds(10)) const {
    if (absl::Status told = mirror_.wait_told(timeout); !told.ok()) return told;
    const std::lock_guard lock(shared_->mutex);
    return shared_->revision ? absl::OkStatus() : shared_->problem;
  }
  // The newest value that was decoded. Until there is one: the value that this object was made
  // with.
  std::shared_ptr<const T> current() const {  // never null
    const std::lock_guard lock(shared_->mutex);
    return shared_->value;
  }
  // OK, or the reason why current() differs from the store: the keys could not be decoded, or the
  // replica is closed or has halted.
  absl::Status problem() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->problem;
  }
  // The revision that current() was decoded from. Use it in a transaction that changes the settings
  // only if they are still the same. Zero: nothing has been decoded.
  Revision revision() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->revision;
  }

 private:
  struct Shared {
    Shared(Decode decode_by, OnChange report, T before)
        : decode(std::move(decode_by)), on_change(std::move(report)), value(std::make_shared<const T>(std::move(before))) {}

    void seen(const MirrorSeen& seen, const MirrorEntries& all) {
      if (seen.what == MirrorSeen::What::Ended) return fail(seen.why);
      std::shared_ptr<const T> fresh;
      try {
        absl::StatusOr<T> made = decode(all);
        if (!made.ok()) return fail(made.status());
        fresh = std::make_shared<const T>(*std::move(made));
      } catch (...) {
        fail(make_error(Reason::HostThrew, "`decode` threw; let it return a status for a value that it cannot decode"));
        throw;
      }
      {
        const std::lock_guard lock(mutex);
        value = fresh;
        revision = seen.revision;
        problem = absl::OkStatus();
      }
      if (on_change) on_change(*fresh);
    }
    void fail(absl::Status why) {
      const std::lock_guard lock(mutex);
      problem = std::move(why);
    }

    const Decode decode;
    const OnChange on_change;
    std::mutex mutex;
    std::shared_ptr<const T> value;
    Revision revision;  // zero: `value` is the initial one
    absl::Status problem;
  };

  std::shared_ptr<Shared> shared_;  // never null; a moved-from object keeps it, and follows nothing
  Mirror mirror_;
};

}  // namespace coordkit
