#include "transport/hello.h"

#include <algorithm>

#include "base/agreement_codec.h"
#include "base/field_io.h"
#include "base/listed_member_codec.h"

namespace coordkit {

// The fields over which proofs are computed.
template <typename Io>
void describe_statement(Io& io, codec::Describes<Introduction> auto& introduction) {
  auto& hello = introduction.hello;
  io.number(1, hello.protocol_min);
  io.number(2, hello.protocol_max);
  io.bytes(3, hello.cluster_name);
  io.number(4, hello.from);
  io.number(5, hello.to);
  io.fixed(6, hello.store);
  io.number(7, hello.boot);
  io.fixed(9, introduction.instance);
  io.fixed(10, introduction.nonce);
  io.fixed(11, introduction.echo);
  io.fixed(12, introduction.mark);
  io.number(13, introduction.secured);
}

template <typename Io>
void describe(Io& io, codec::Describes<Introduction> auto& introduction) {
  describe_statement(io, introduction);
  io.bytes_if_any(14, introduction.proof_of_cluster);
  io.bytes_if_any(15, introduction.proof_of_secret);
  agreement_field(io, 16, introduction.hello.agreement);
  io.number_if_any(17, introduction.hello.feature_level);
  io.repeated(19, introduction.hello.members, kListedMembersMax);  // 18 is written after all others
}

std::string encode_statement(const Introduction& introduction) {
  std::string body;
  codec::append_by<codec::DenseRules>(body, [&](auto& out) { describe_statement(out, introduction); });
  return body;
}

std::string encode(const Introduction& introduction) {
  std::string body;
  codec::append<codec::DenseRules>(body, introduction);
  return body;
}

void prove(Introduction& introduction, Prover by, ClusterId cluster, std::string_view secret) {
  introduction.mark = cluster ? mark_of(cluster) : 0;
  introduction.secured = !secret.empty();
  const std::string statement = encode_statement(introduction);
  introduction.proof_of_cluster = cluster ? proof_of_cluster(cluster, by, statement) : std::string();
  introduction.proof_of_secret = secret.empty() ? std::string() : proof_of_secret(secret, by, statement);
}

namespace {

constexpr std::string_view kWordsField("\x92\x01\x20", 3);  // 18, of kProofBytes

}  // namespace

void prove_words(std::string& body, Prover by, std::string_view secret) {
  const std::string proof = proof_of_words(secret, by, body);
  body.append(kWordsField).append(proof);
}

bool words_proven(std::string_view body, Prover by, std::string_view secret) {
  if (body.size() < kWordsField.size() + kProofBytes) return false;
  const std::string_view words = body.substr(0, body.size() - kProofBytes - kWordsField.size());
  const std::string_view field = body.substr(words.size(), kWordsField.size());
  return field == kWordsField && equal_proofs(body.substr(words.size() + field.size()), proof_of_words(secret, by, words));
}

absl::StatusOr<Introduction> decode_introduction(std::string_view body) try {
  if (body.size() > kHelloBytesMax) return absl::DataLossError("a hello beyond kHelloBytesMax");
  Introduction introduction;
  Hello& hello = introduction.hello;
  hello.protocol_min = hello.protocol_max = 0;
  codec::read<codec::DenseRules>(body, introduction);
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
  return CloseReason::NoReason;
}

Shown judge_proofs(const Introduction& theirs, Prover by, ClusterId cluster, std::string_view secret) {
  if (theirs.secured == secret.empty()) return {.wrong = CloseReason::SecretMissing};
  const std::string statement = encode_statement(theirs);
  if (!secret.empty() && !equal_proofs(theirs.proof_of_secret, proof_of_secret(secret, by, statement))) {
    return {.wrong = CloseReason::SecretDiffers};
  }
  if (!cluster || theirs.mark != mark_of(cluster)) return {};
  if (!equal_proofs(theirs.proof_of_cluster, proof_of_cluster(cluster, by, statement)))
    return {.wrong = CloseReason::NotProven};
  return {.belongs = true};
}

}  // namespace coordkit
