// The facts that the two ends of one connection have sent and proved to each other (hello.h has the order of hellos). They
// are the hellos of this end, the identity of the peer as far as it is proved, and the keys that follow from both. Pure: no
// sockets. The owner of the connection decides whether such a replica may connect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coordkit/transport/secure_channel.h"
#include "transport/hello.h"

namespace coordkit {

class Handshake {
 public:
  using Side = TcpEvent::Side;  // this end's

  // `peer`: the expected replica; zero on an accepted connection. `nonce` is random and not zero. `secret`: empty: there is
  // none; it must outlive the Handshake.
  Handshake(Side side, ReplicaId peer, uint64_t instance, uint64_t nonce, const std::string& secret)
      : side_(side), peer_(peer), instance_(instance), nonce_(nonce), secret_(secret) {}

  // ---- this end
  Side side() const { return side_; }
  // The next hello, encoded, with everything that can be proved by now.
  std::string hello(Hello mine);
  ClusterId sent_cluster() const { return sent_cluster_; }  // by the last hello; zero: none

  // ---- the peer's end. A judgement is the reason to close the connection, or NoReason
  ReplicaId peer() const { return peer_; }                // accepted: zero until identify()
  const Introduction& theirs() const { return theirs_; }  // valid from its first hello on
  bool belongs() const { return belongs_; }               // the peer has proved that it knows our cluster's id
  // The peer's hello as far as it is proved, for a replica of this cluster: see Connection::shown().
  Hello shown(ClusterId ours) const;

  // The identity in its certificate; nullopt: there is none, or it names no replica.
  const std::optional<CertifiedIdentity>& certified() const { return certified_; }
  void set_certified(std::optional<CertifiedIdentity> identity) { certified_ = std::move(identity); }

  // Takes the peer's first hello. False: it is no hello, or not the answer to ours. The hello is valid in full once neither
  // of the next two judgements objects.
  bool receive(std::string_view body);
  CloseReason judge_sender() const;  // dialed: whether the sender is the expected replica
  CloseReason identify();            // its name is believed unless the secret or the certificate contradicts
  // Another hello of the same replica, which may prove more than before.
  CloseReason receive_again(std::string_view body);
  // Judges what the peer's last hello proves to a replica of this cluster; zero: the replica is blank.
  CloseReason judge_proofs(ClusterId ours);

  // ---- keys of frames, once a hello was received
  uint64_t key_of_theirs() const { return frame_key(theirs_.nonce, nonce_); }
  uint64_t key_of_ours() const { return frame_key(nonce_, theirs_.nonce); }
  // ---- only with a secret, once both ends have shown that they know it
  SessionKey session_key_of_theirs() const { return session_key_of(other_end()); }
  SessionKey session_key_of_ours() const { return session_key_of(this_end()); }

 private:
  bool dialed() const { return side_ == Side::Dialed; }
  Prover this_end() const { return dialed() ? Prover::Dialer : Prover::Acceptor; }
  Prover other_end() const { return dialed() ? Prover::Acceptor : Prover::Dialer; }
  SessionKey session_key_of(Prover by) const;

  const Side side_;
  ReplicaId peer_;
  const uint64_t instance_;
  const uint64_t nonce_;
  const std::string& secret_;
  ClusterId sent_cluster_;
  Introduction theirs_;
  std::string words_;  // the peer's hello, byte by byte
  bool belongs_ = false;
  std::optional<CertifiedIdentity> certified_;
};

}  // namespace coordkit
