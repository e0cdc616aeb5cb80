#include "transport/hello.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/agreement_codec.h"
#include "base/fields.h"

namespace coordkit {
namespace {

using protozero::pbf_reader;

}  // namespace

std::string encode_statement(const Introduction& introduction) {
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
  out.add_fixed64(9, introduction.instance);
  out.add_fixed64(10, introduction.nonce);
  out.add_fixed64(11, introduction.echo);
  out.add_fixed64(12, introduction.mark);
  out.add_bool(13, introduction.secured);
  return body;
}

std::string encode(const Introduction& introduction) {
  std::string body = encode_statement(introduction);
  protozero::pbf_writer out(body);
  if (!introduction.proof_of_cluster.empty()) out.add_bytes(14, introduction.proof_of_cluster);
  if (!introduction.proof_of_secret.empty()) out.add_bytes(15, introduction.proof_of_secret);
  if (introduction.hello.agreement) out.add_message(16, encode(*introduction.hello.agreement));
  if (introduction.hello.feature_level != 0) out.add_uint64(17, introduction.hello.feature_level);
  return body;
}

void prove(Introduction& introduction, Prover by, ClusterId cluster, std::string_view secret) {
  introduction.mark = cluster ? mark_of(cluster) : 0;
  introduction.secured = !secret.empty();
  const std::string said = encode_statement(introduction);
  introduction.proof_of_cluster = cluster ? proof_of_cluster(cluster, by, said) : std::string();
  introduction.proof_of_secret = secret.empty() ? std::string() : proof_of_secret(secret, by, said);
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
      case fields::fixed(9): introduction.instance = in.get_fixed64(); break;
      case fields::fixed(10): introduction.nonce = in.get_fixed64(); break;
      case fields::fixed(11): introduction.echo = in.get_fixed64(); break;
      case fields::fixed(12): introduction.mark = in.get_fixed64(); break;
      case fields::number(13): introduction.secured = in.get_bool(); break;
      case fields::bytes(14): introduction.proof_of_cluster = in.get_bytes(); break;
      case fields::bytes(15): introduction.proof_of_secret = in.get_bytes(); break;
      case fields::number(17): hello.feature_level = in.get_uint64(); break;
      case fields::bytes(16): {
        const protozero::data_view agreement = in.get_view();
        hello.agreement = parse_agreement({agreement.data(), agreement.size()});
        break;
      }
      default: in.skip();
    }
  }
  if (hello.cluster_name.size() > kClusterNameBytesMax) return absl::DataLossError("a hello with a cluster name too long");
  for (const std::string* proof : {&introduction.proof_of_cluster, &introduction.proof_of_secret}) {
    if (!proof->empty() && proof->size() != kProofBytes) return absl::DataLossError("a hello with a proof of another size");
  }
  if (introduction.nonce == 0 || !hello.from) return absl::DataLossError("a hello without nonce or sender");
  return introduction;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed hello: ") + error.what());
}

CloseReason judge(const Hello& mine, const Introduction& introduction) {
  const Hello& theirs = introduction.hello;
  if (theirs.cluster_name != mine.cluster_name) return CloseReason::OtherClusterName;
  if (theirs.to != mine.from) return CloseReason::WrongReceiver;
  if (std::max(mine.protocol_min, theirs.protocol_min) > std::min(mine.protocol_max, theirs.protocol_max)) {
    return CloseReason::NoCommonProtocol;
  }
  if (mine.cluster && introduction.mark != 0 && introduction.mark != mark_of(mine.cluster)) {
    return CloseReason::OtherCluster;
  }
  return CloseReason::None;
}

Shown judge_proofs(const Introduction& theirs, Prover by, ClusterId cluster, std::string_view secret) {
  if (theirs.secured == secret.empty()) return {.wrong = CloseReason::SecretMissing};
  const std::string said = encode_statement(theirs);
  if (!secret.empty() && !equal_proofs(theirs.proof_of_secret, proof_of_secret(secret, by, said))) {
    return {.wrong = CloseReason::SecretDiffers};
  }
  if (!cluster || theirs.mark != mark_of(cluster)) return {};
  if (!equal_proofs(theirs.proof_of_cluster, proof_of_cluster(cluster, by, said))) return {.wrong = CloseReason::NotProven};
  return {.belongs = true};
}

}  // namespace coordkit
