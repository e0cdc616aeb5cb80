// A hello as bytes, for transports of the host's own.
#include <algorithm>
#include <optional>

#include "base/agreement_codec.h"
#include "base/field_io.h"
#include "base/listed_member_codec.h"
#include "coordkit/engine/wire.h"

namespace coordkit {
namespace {

constexpr size_t kWholeHelloBytesMax = 4 << 10;

struct HelloRules : codec::DenseRules {
  template <typename T>
  static T value(uint64_t number) {
    if constexpr (std::is_same_v<T, uint32_t>) {
      return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));  // versions: what is beyond all is beyond all
    } else {
      return T(number);
    }
  }
};

}  // namespace

template <typename Io>
void describe(Io& io, codec::Describes<Hello> auto& hello) {
  io.number(1, hello.protocol_min);
  io.number(2, hello.protocol_max);
  io.bytes(3, hello.cluster_name);
  io.number(4, hello.from);
  io.number(5, hello.to);
  io.fixed(6, hello.store);
  io.number(7, hello.boot);
  io.fixed(8, hello.cluster);
  agreement_field(io, 9, hello.agreement);
  io.number(10, hello.feature_level);
  io.repeated(11, hello.members, kListedMembersMax);
}

std::string encode(const Hello& hello) {
  std::string bytes;
  codec::append<HelloRules>(bytes, hello);
  return bytes;
}

absl::StatusOr<Hello> decode_hello(std::string_view bytes) try {
  if (bytes.size() > kWholeHelloBytesMax) return absl::DataLossError("a hello beyond its limit");
  Hello hello;
  codec::read<HelloRules>(bytes, hello);
  if (!hello.from) return absl::DataLossError("a hello without a sender");
  return hello;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed hello: ") + error.what());
}

}  // namespace coordkit
