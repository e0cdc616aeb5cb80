// The three files of one replica, read and checked: what its channels are made with. Immutable; a reload makes another.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordkit/tls.h"
#include "tls/openssl.h"

namespace coordkit::tls {

struct Credentials {
  Tls options;
  OwnedContext context;
};

// Errors of both: those of open_tls(). The first reports on files, the second on their contents.
absl::StatusOr<std::shared_ptr<Credentials>> read_files(const Tls& tls);
absl::Status check_own(const Credentials& credentials, const CertifiedIdentity& self);

}  // namespace coordkit::tls
