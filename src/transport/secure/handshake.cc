#include "transport/secure/handshake.h"

#include <utility>

namespace coordkit {

namespace {

// The list of members is the part that may be left out. All hellos of one end decide alike: the proofs, which only later
// hellos have, are counted in.
void fit(Introduction& introduction) {
  constexpr size_t kProofs = 3 * (kProofBytes + 3);
  if (encode(introduction).size() + kProofs > kHelloBytesMax) introduction.hello.members.clear();
}

}  // namespace

std::string Handshake::hello(Hello mine) {
  Introduction introduction{std::move(mine), instance_, nonce_, theirs_.nonce};
  fit(introduction);
  sent_cluster_ = introduction.hello.cluster;
  // The first hello of a connection cannot prove anything: the peer's nonce is not known yet.
  const bool first = theirs_.nonce == 0;
  prove(introduction, this_end(), sent_cluster_, secret_);
  if (first) introduction.proof_of_cluster.clear(), introduction.proof_of_secret.clear();
  std::string body = encode(introduction);
  if (!first && !secret_.empty()) prove_words(body, this_end(), secret_);
  return body;
}

Hello Handshake::shown(ClusterId ours) const {
  Hello hello = theirs_.hello;
  hello.cluster = !ours ? ClusterId(theirs_.mark) : belongs_ ? ours : ClusterId();
  return hello;
}

bool Handshake::receive(std::string_view body) {
  absl::StatusOr<Introduction> introduction = decode_introduction(body);
  if (!introduction.ok()) return false;
  theirs_ = *std::move(introduction);
  words_ = body;
  return theirs_.echo == (dialed() ? nonce_ : 0);
}

CloseReason Handshake::judge_sender() const {
  return dialed() && theirs_.hello.from != peer_ ? CloseReason::WrongReceiver : CloseReason::NoReason;
}

CloseReason Handshake::identify() {
  if (theirs_.secured == secret_.empty()) return CloseReason::SecretMissing;
  if (certified_ && theirs_.hello.from != certified_->replica) return CloseReason::CertificateOtherReplica;
  peer_ = theirs_.hello.from;
  return CloseReason::NoReason;
}

CloseReason Handshake::receive_again(std::string_view body) {
  absl::StatusOr<Introduction> again = decode_introduction(body);
  if (!again.ok()) return CloseReason::BadHello;
  const Introduction& first = theirs_;
  if (again->hello != first.hello || again->instance != first.instance || again->nonce != first.nonce ||
      again->echo != nonce_ || again->secured != first.secured) {
    return CloseReason::IdentityChanged;
  }
  theirs_ = *std::move(again);
  words_ = body;
  return CloseReason::NoReason;
}

CloseReason Handshake::judge_proofs(ClusterId ours) {
  Shown shown = coordkit::judge_proofs(theirs_, other_end(), ours, secret_);
  const bool wanted = !secret_.empty() && theirs_.hello.protocol_max >= kProtocolOfWords;  // the statement has both
  const bool proven = !wanted || words_proven(words_, other_end(), secret_);
  if (shown.wrong == CloseReason::NoReason && !proven) shown = {.wrong = CloseReason::NotProven};
  belongs_ = shown.belongs;
  return shown.wrong;
}

SessionKey Handshake::session_key_of(Prover by) const {
  return session_key(secret_, by, dialed() ? nonce_ : theirs_.nonce, dialed() ? theirs_.nonce : nonce_);
}

}  // namespace coordkit
