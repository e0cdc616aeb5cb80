#include "machine/lease_query.h"

#include "machine/query.h"
#include "machine/record_codec.h"

namespace coordkit::machine {

using namespace fields;  // the vocabulary of this file

std::string encode(const LeasesReply& reply) {
  std::string bytes;
  pbf_writer out(bytes);
  put_field(out, 1, reply.leases);
  for (const std::string& key : reply.keys) out.add_bytes(2, key.data(), key.size());
  put_field(out, 3, reply.more);
  put_field(out, 4, reply.revision);
  return bytes;
}

absl::StatusOr<LeasesReply> decode_leases(std::string_view encoded) {
  LeasesReply reply;
  const auto read = [&reply](pbf_reader in) -> absl::Status {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case bytes(1):
          if (reply.leases.size() == kQueryRowsMax) return absl::DataLossError("malformed reply: too many leases");
          get(in, reply.leases);
          break;
        case bytes(2):
          if (reply.keys.size() == kQueryRowsMax) return absl::DataLossError("malformed reply: too many keys");
          get(in, reply.keys.emplace_back());
          break;
        case number(3): get(in, reply.more); break;
        case number(4): get(in, reply.revision); break;
        default: in.skip();
      }
    }
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, "reply", read); !status.ok()) return status;
  return reply;
}

}  // namespace coordkit::machine
