// A folder of certificates for one cluster, in files that Tls{} names:
//
//   authority.pem, authority.key        the signer; the .pem is the same file for every replica
//   1.pem, 1.key, 2.pem, 2.key, ...     one pair for each replica
//
// Throws std::runtime_error with a sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "coordkit/operate/tls.h"
#include "tools/certificates/authority.h"

namespace coordkit::support {

struct FolderOrder {
  std::filesystem::path folder;
  std::string cluster = {};  // empty: that of the certificates in the folder; where there are none, "demo"
  uint64_t replicas = 0;     // with ids from 1; zero: as many as the folder has, or 3
  // Only makes a new authority; the file also keeps the previous one. Once all replicas have loaded it and trust both, the
  // next run signs their certificates with it.
  bool new_authority = false;
  Validity valid = {};
};

// Makes all members' certificates again, signed by the existing authority, or by a new one. Nothing is written if the folder is
// of another cluster, or has more members than are ordered. Returns the order with all that it left open.
FolderOrder make_certificates(FolderOrder order);

// The TLS options of a replica with that folder.
Tls tls_of(const std::filesystem::path& folder, uint64_t replica);

}  // namespace coordkit::support
