// A hello as bytes, for transports of the host's own.
#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/agreement_codec.h"
#include "base/fields.h"
#include "coordkit/wire.h"

namespace coordkit {
namespace {

constexpr size_t kWholeHelloBytesMax = 4 << 10;

uint32_t small(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));  // versions: anything too large stays too large
}

}  // namespace

std::string encode(const Hello& hello) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  out.add_uint64(1, hello.protocol_min);
  out.add_uint64(2, hello.protocol_max);
  out.add_string(3, hello.cluster_name);
  out.add_uint64(4, hello.from.value());
  out.add_uint64(5, hello.to.value());
  out.add_fixed64(6, hello.store.value());
  out.add_uint64(7, hello.boot.value());
  out.add_fixed64(8, hello.cluster.value());
  if (hello.agreement) out.add_message(9, encode(*hello.agreement));
  out.add_uint64(10, hello.feature_level);
  return bytes;
}

absl::StatusOr<Hello> decode_hello(std::string_view bytes) try {
  if (bytes.size() > kWholeHelloBytesMax) return absl::DataLossError("a hello beyond its limit");
  Hello hello;
  protozero::pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): hello.protocol_min = small(in.get_uint64()); break;
      case fields::number(2): hello.protocol_max = small(in.get_uint64()); break;
      case fields::bytes(3): hello.cluster_name = in.get_string(); break;
      case fields::number(4): hello.from = ReplicaId(in.get_uint64()); break;
      case fields::number(5): hello.to = ReplicaId(in.get_uint64()); break;
      case fields::fixed(6): hello.store = StoreId(in.get_fixed64()); break;
      case fields::number(7): hello.boot = BootCounter(in.get_uint64()); break;
      case fields::fixed(8): hello.cluster = ClusterId(in.get_fixed64()); break;
      case fields::bytes(9): {
        const protozero::data_view agreement = in.get_view();
        hello.agreement = parse_agreement({agreement.data(), agreement.size()});
        break;
      }
      case fields::number(10): hello.feature_level = in.get_uint64(); break;
      default: in.skip();
    }
  }
  if (!hello.from) return absl::DataLossError("a hello without a sender");
  return hello;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed hello: ") + error.what());
}

}  // namespace coordkit
