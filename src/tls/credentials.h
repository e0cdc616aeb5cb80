// The three files of one replica, read and checked. Its channels are made with them. Immutable; a reload makes another
// object.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/operate/tls.h"
#include "tls/openssl.h"

namespace coordkit::tls {

struct Credentials {
  Tls options;
  OwnedContext context;
};

// The newest credentials of a replica, for all its channels. Thread-safe.
class Newest {
 public:
  explicit Newest(std::shared_ptr<const Credentials> credentials) : credentials_(std::move(credentials)) {}
  std::shared_ptr<const Credentials> get() const {
    const std::lock_guard lock(mutex_);
    return credentials_;
  }
  void set(std::shared_ptr<const Credentials> credentials) {
    const std::lock_guard lock(mutex_);
    credentials_ = std::move(credentials);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Credentials> credentials_;  // channels keep theirs
};

// Both functions have the errors of open_tls(). The first reports on files, the second on their contents.
absl::StatusOr<std::shared_ptr<Credentials>> read_files(const Tls& tls);
absl::Status check_own(const Credentials& credentials, const CertifiedIdentity& self);

}  // namespace coordkit::tls
