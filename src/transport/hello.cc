#include "transport/hello.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace coordkit {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

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
      case tag_and_type(1, pbf_wire_type::varint): hello.protocol_min = in.get_uint32(); break;
      case tag_and_type(2, pbf_wire_type::varint): hello.protocol_max = in.get_uint32(); break;
      case tag_and_type(3, pbf_wire_type::length_delimited): hello.cluster_name = in.get_string(); break;
      case tag_and_type(4, pbf_wire_type::varint): hello.from = ReplicaId(in.get_uint64()); break;
      case tag_and_type(5, pbf_wire_type::varint): hello.to = ReplicaId(in.get_uint64()); break;
      case tag_and_type(6, pbf_wire_type::fixed64): hello.store = StoreId(in.get_fixed64()); break;
      case tag_and_type(7, pbf_wire_type::varint): hello.boot = BootCounter(in.get_uint64()); break;
      case tag_and_type(8, pbf_wire_type::fixed64): hello.cluster = ClusterId(in.get_fixed64()); break;
      case tag_and_type(9, pbf_wire_type::fixed64): introduction.instance = in.get_fixed64(); break;
      case tag_and_type(10, pbf_wire_type::fixed64): introduction.nonce = in.get_fixed64(); break;
      case tag_and_type(11, pbf_wire_type::fixed64): introduction.echo = in.get_fixed64(); break;
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
  if (mine.cluster && theirs.cluster && mine.cluster != theirs.cluster) return CloseReason::OtherCluster;
  return CloseReason::None;
}

}  // namespace coordkit
