#include "transport/hello.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fields.h"
#include "base/mutant.h"

namespace coordkit {
namespace {

using protozero::pbf_reader;

}  // namespace

std::string encode(const Introduction& introduction) {
  const Hello& hello = introduction.hello;
  std::string body;
  protozero::pbf_writer out(body);
  out.add_uint32(1, hello.protocol_min);
  out.add_uint32(2, hello.protocol_max);
  out.add_string(3, hello.cluster_name);
  out.add_uint64(4, hello.from.value());
  out.add_uint64(5, hello.to.value());
  out.add_fixed64(6, hello.store.value());
  out.add_uint64(7, hello.boot.value());
  out.add_fixed64(8, hello.cluster.value());
  out.add_fixed64(9, introduction.instance);
  out.add_fixed64(10, introduction.nonce);
  out.add_fixed64(11, introduction.echo);
  return body;
}

absl::StatusOr<Introduction> decode_introduction(std::string_view body) try {
  if (body.size() > kHelloBytesMax) return absl::DataLossError("a hello beyond kHelloBytesMax");
  Introduction introduction;
  Hello& hello = introduction.hello;
  hello.protocol_min = hello.protocol_max = 0;
  pbf_reader in(body.data(), body.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): hello.protocol_min = in.get_uint32(); break;
      case fields::number(2): hello.protocol_max = in.get_uint32(); break;
      case fields::bytes(3): hello.cluster_name = in.get_string(); break;
      case fields::number(4): hello.from = ReplicaId(in.get_uint64()); break;
      case fields::number(5): hello.to = ReplicaId(in.get_uint64()); break;
      case fields::fixed(6): hello.store = StoreId(in.get_fixed64()); break;
      case fields::number(7): hello.boot = BootCounter(in.get_uint64()); break;
      case fields::fixed(8): hello.cluster = ClusterId(in.get_fixed64()); break;
      case fields::fixed(9): introduction.instance = in.get_fixed64(); break;
      case fields::fixed(10): introduction.nonce = in.get_fixed64(); break;
      case fields::fixed(11): introduction.echo = in.get_fixed64(); break;
      default: in.skip();
    }
  }
  if (hello.cluster_name.size() > kClusterNameBytesMax) return absl::DataLossError("a hello with a cluster name too long");
  if (introduction.nonce == 0 || !hello.from) return absl::DataLossError("a hello without nonce or sender");
  return introduction;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed hello: ") + error.what());
}

CloseReason judge(const Hello& mine, const Hello& theirs) {
  if (theirs.cluster_name != mine.cluster_name) return CloseReason::OtherClusterName;
  if (theirs.to != mine.from) return CloseReason::WrongReceiver;
  if (std::max(mine.protocol_min, theirs.protocol_min) > std::min(mine.protocol_max, theirs.protocol_max)) {
    return CloseReason::NoCommonProtocol;
  }
  if (mine.cluster && theirs.cluster && mine.cluster != theirs.cluster && !mutant(Mutant::OtherClusterTaken))
    return CloseReason::OtherCluster;
  return CloseReason::None;
}

}  // namespace coordkit
