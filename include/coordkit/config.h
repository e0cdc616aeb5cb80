// Settings that follow the store, decoded by you: always the newest ones that make sense.
//
//   Config<Limits> limits(*replica, MirrorOptions::prefix("config/limits/"), decode_limits);
//   if (!limits.wait_ready().ok()) ...        // until then current() is a Limits() that nothing has set
//   use(limits.current()->requests_max);      // any thread, any time; no round trip
//
// All keys of the interval are decoded together, as of one revision: settings that a transaction changed together are never
// seen apart. What cannot be decoded changes nothing but problem(), so a slip of the hand does not take a service down; nor
// does a `decode` that throws (HostThrew; ReplicaOptions::on_error gets what it said).
// Threads: all methods are thread-safe; `decode` and `on_change` run on the replica's callback thread, one at a time. Lifetime:
// as Mirror: end() and the destructor wait for a call of either (observation.h). What current() gave stays as it was for as
// long as it is referenced. Example: examples/10_config.
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
#include "coordkit/mirror.h"

namespace COORDKIT_EXPORT coordkit {

template <typename T>
class Config {
 public:
  // Gets all entries of the interval, by key; none is a case of its own: defaults, or an error.
  using Decode = std::function<absl::StatusOr<T>(const MirrorEntries&)>;
  using OnChange = std::function<void(const T&)>;

  // `on_change` gets every value that was decoded, in order, the first included. `before` is what current() gives until then.
  Config(const Replica& replica, MirrorOptions keys, Decode decode, OnChange on_change = {}, T before = T())
      : shared_(std::make_shared<Shared>(std::move(decode), std::move(on_change), std::move(before))),
        mirror_(replica, std::move(keys),
                [shared = shared_](const MirrorSeen& seen, const MirrorEntries& all) { shared->seen(seen, all); }) {}
  Config(Config&& other) noexcept : shared_(other.shared_), mirror_(std::move(other.mirror_)) {}  // `other` follows nothing
  Config& operator=(Config&& other) noexcept {
    mirror_ = std::move(other.mirror_);
    shared_ = other.shared_;
    return *this;
  }

  // From here on neither callback is called, current() stays as it is, and problem() says Closed. Waits for a call of either,
  // as Observation::end() does. May be called again.
  void end() {
    mirror_.end();
    shared_->fail(make_error(Reason::Closed, "following these settings was ended here"));
  }

  // Blocks until there is a value. kDeadlineExceeded (CallTimeout): there is none yet; of what cannot be decoded: what decode
  // said, or HostThrew; else why it has ended. Not in a callback of the replica.
  absl::Status wait_ready(Duration timeout = std::chrono::seconds(10)) const {
    if (absl::Status told = mirror_.wait_told(timeout); !told.ok()) return told;
    const std::lock_guard lock(shared_->mutex);
    return shared_->revision ? absl::OkStatus() : shared_->problem;
  }
  std::shared_ptr<const T> current() const {  // never null
    const std::lock_guard lock(shared_->mutex);
    return shared_->value;
  }
  // OK, or why current() is not what the store has: it could not be decoded, or the replica is closed or has halted.
  absl::Status problem() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->problem;
  }
  // What current() was decoded from; for a transaction that changes the settings only if they are still the same. Zero:
  // nothing has been decoded.
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
        fail(make_error(Reason::HostThrew, "`decode` threw; let it answer with a status what it cannot decode"));
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
    Revision revision;  // zero: `value` is what was given before
    absl::Status problem;
  };

  std::shared_ptr<Shared> shared_;  // never null; one that was moved from keeps it, and follows nothing
  Mirror mirror_;
};

}  // namespace coordkit
