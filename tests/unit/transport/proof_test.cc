#include "transport/secure/proof.h"

#include <gtest/gtest.h>

#include "transport/hello.h"

namespace coordkit {
namespace {

constexpr std::string_view kProofSecret = "0123456789abcdef";

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

// Made by Python's hmac and struct from the description in wire.proto.
TEST(ProofTest, TheBytesAreThoseOfTheDescription) {
  EXPECT_EQ(mark_of(ClusterId(99)), 0xef6ae1c109540ae0u);
  EXPECT_EQ(hex(proof_of_cluster(ClusterId(99), Prover::Dialer, "said")),
            "bf3afd3dcd0bebdff7a74e3bee8bf4c091861f81ed58ce617ed0629fafab60c9");
  EXPECT_EQ(hex(proof_of_secret(kProofSecret, Prover::Acceptor, "said")),
            "7f5e74bf0fc1fa8b3ef8fa30508cd060c7abc664e63ba4d69db279aa34a67148");
  std::string words = "said";
  prove_words(words, Prover::Acceptor, kProofSecret);
  EXPECT_EQ(hex(words),
            "73616964920120"
            "5000391733dcf418eaed41a1c67e771955a637a93aa6af88b8de3863ee55333f");
  const SessionKey key = session_key(kProofSecret, Prover::Dialer, 1, 2);
  EXPECT_EQ(hex({reinterpret_cast<const char*>(key.frames.data()), key.frames.size()}),
            "ff7348662d9aca7db8a5cf8d86f268fd2e852632c0bbaa52a1b227e37f7c4493");
  EXPECT_EQ(key.headers, 0xeda3a3f4c78c7a18u);
}

// Covers: FLT_S03
TEST(ProofTest, OnlyTheRightKeySideAndWordsProveAnything) {
  const std::string proof = proof_of_cluster(ClusterId(7), Prover::Dialer, "said");
  EXPECT_TRUE(equal_proofs(proof, proof_of_cluster(ClusterId(7), Prover::Dialer, "said")));
  EXPECT_FALSE(equal_proofs(proof, proof_of_cluster(ClusterId(8), Prover::Dialer, "said")));
  EXPECT_FALSE(equal_proofs(proof, proof_of_cluster(ClusterId(7), Prover::Acceptor, "said")));
  EXPECT_FALSE(equal_proofs(proof, proof_of_cluster(ClusterId(7), Prover::Dialer, "sais")));
  EXPECT_FALSE(equal_proofs(proof, proof.substr(1)));
  EXPECT_FALSE(equal_proofs("", proof));
}

// Covers: FLT_S03
TEST(ProofTest, WordsAreProvenToTheirLastByteAndByTheirSide) {
  std::string words = "said";
  EXPECT_FALSE(words_proven(words, Prover::Dialer, kProofSecret));
  prove_words(words, Prover::Dialer, kProofSecret);
  EXPECT_TRUE(words_proven(words, Prover::Dialer, kProofSecret));
  EXPECT_FALSE(words_proven(words, Prover::Acceptor, kProofSecret));
  EXPECT_FALSE(words_proven(words, Prover::Dialer, "fedcba9876543210"));
  EXPECT_FALSE(words_proven(words + '\0', Prover::Dialer, kProofSecret));
  for (size_t bit = 0; bit < words.size() * 8; ++bit) {
    std::string changed = words;
    changed[bit / 8] ^= static_cast<char>(1u << (bit % 8));
    EXPECT_FALSE(words_proven(changed, Prover::Dialer, kProofSecret)) << bit;
  }
}

TEST(ProofTest, NoKeyOfOneUseIsOneOfAnother) {
  const std::string id("\x07\0\0\0\0\0\0\0", 8);  // as a secret it would be too short
  EXPECT_NE(proof_of_cluster(ClusterId(7), Prover::Dialer, "said"), proof_of_secret(id, Prover::Dialer, "said"));
  const SessionKey dialer = session_key(kProofSecret, Prover::Dialer, 1, 2);
  const SessionKey acceptor = session_key(kProofSecret, Prover::Acceptor, 1, 2);
  EXPECT_NE(dialer.frames, acceptor.frames);
  EXPECT_NE(dialer.headers, acceptor.headers);
  EXPECT_NE(dialer.frames, session_key(kProofSecret, Prover::Dialer, 2, 1).frames);
}

// ---- judging a hello

Introduction shown(ClusterId cluster, std::string_view secret, Prover by = Prover::Dialer) {
  Introduction theirs{Hello{.cluster_name = "orders", .from = ReplicaId(2), .to = ReplicaId(1)}, 5, 11, 22};
  prove(theirs, by, cluster, secret);
  return theirs;
}

TEST(JudgeProofsTest, WhoKnowsTheClustersIdBelongs) {
  EXPECT_TRUE(judge_proofs(shown(ClusterId(7), ""), Prover::Dialer, ClusterId(7), "").belongs);
  for (const Shown& judged : {judge_proofs(shown(ClusterId(), ""), Prover::Dialer, ClusterId(7), ""),
                              judge_proofs(shown(ClusterId(7), ""), Prover::Dialer, ClusterId(), "")}) {
    EXPECT_EQ(judged.wrong, CloseReason::NoReason) << "blank: nothing is claimed, or it cannot be judged";
    EXPECT_FALSE(judged.belongs);
  }
}

// Covers: FLT_S07
TEST(JudgeProofsTest, AClaimWithoutItsProofIsWrong) {
  const auto judged = [](auto spoil) {
    Introduction theirs = shown(ClusterId(7), "");
    spoil(theirs);
    return judge_proofs(theirs, Prover::Dialer, ClusterId(7), "");
  };
  EXPECT_TRUE(judged([](Introduction&) {}).belongs);
  EXPECT_EQ(judged([](Introduction& one) { one.proof_of_cluster.clear(); }).wrong, CloseReason::NotProven);
  EXPECT_EQ(judged([](Introduction& one) { one.proof_of_cluster[31] ^= 1; }).wrong, CloseReason::NotProven);
  EXPECT_EQ(judged([](Introduction& one) { one.hello.from = ReplicaId(3); }).wrong, CloseReason::NotProven);
  EXPECT_EQ(judged([](Introduction& one) { one.hello.boot = BootCounter(9); }).wrong, CloseReason::NotProven);
  EXPECT_EQ(judged([](Introduction& one) { one.nonce ^= 1; }).wrong, CloseReason::NotProven);
  EXPECT_EQ(judged([](Introduction& one) { one.echo ^= 1; }).wrong, CloseReason::NotProven);
  const Introduction reflected = shown(ClusterId(7), "", Prover::Acceptor);
  EXPECT_EQ(judge_proofs(reflected, Prover::Dialer, ClusterId(7), "").wrong, CloseReason::NotProven);
}

// Covers: FLT_S03
TEST(JudgeProofsTest, ASecretIsSharedByBothOrByNone) {
  const std::string other = "fedcba9876543210";
  const auto judged = [&](std::string_view theirs, std::string_view ours) {
    return judge_proofs(shown(ClusterId(), theirs), Prover::Dialer, ClusterId(), ours).wrong;
  };
  EXPECT_EQ(judged(kProofSecret, kProofSecret), CloseReason::NoReason);
  EXPECT_EQ(judged("", ""), CloseReason::NoReason);
  EXPECT_EQ(judged(kProofSecret, other), CloseReason::SecretDiffers);
  EXPECT_EQ(judged(kProofSecret, ""), CloseReason::SecretMissing);
  EXPECT_EQ(judged("", kProofSecret), CloseReason::SecretMissing);
  Introduction reflected = shown(ClusterId(), kProofSecret, Prover::Acceptor);
  EXPECT_EQ(judge_proofs(reflected, Prover::Dialer, ClusterId(), kProofSecret).wrong, CloseReason::SecretDiffers);
}

TEST(HelloTest, TheIdOfAClusterIsNeverSaid) {
  Introduction mine = shown(ClusterId(0x1122334455667788), "");
  mine.hello.cluster = ClusterId(0x1122334455667788);
  const std::string body = encode(mine);
  EXPECT_EQ(body.find("\x88\x77\x66\x55\x44\x33\x22\x11"), std::string::npos);
  EXPECT_FALSE(decode_introduction(body)->hello.cluster);
}

}  // namespace
}  // namespace coordkit
