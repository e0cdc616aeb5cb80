// A channel without a socket: what it makes of bytes, in any pieces and from any peer.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "tests/unit/tls/certificates.h"
#include "tests/unit/tls/raw_tls.h"

namespace coordkit::testkit {
namespace {

using State = SecureChannel::State;
using Side = TcpEvent::Side;

std::string taken_from(SecureChannel& channel) {
  std::string bytes;
  channel.take_outgoing(bytes);
  return bytes;
}

// All that is available.
std::string read_all(SecureChannel& channel, size_t space = 4096) {
  std::string all, piece(space, '\0');
  while (const size_t bytes = channel.read(piece)) all.append(piece, 0, bytes);
  return all;
}

// Hands `bytes` over in pieces of this size; the text that comes out.
std::string feed(SecureChannel& channel, std::string_view bytes, size_t piece) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    channel.received(bytes.substr(at, piece));
    channel.advance();
    text += read_all(channel);
  }
  return text;
}

class ChannelTest : public ::testing::Test {
 protected:
  void shake(SecureChannel& dialer, SecureChannel& acceptor, size_t piece = 1 << 20) {
    for (int round = 0; round < 4; ++round) {
      dialer.advance();
      feed(acceptor, taken_from(dialer), piece);
      acceptor.advance();
      feed(dialer, taken_from(acceptor), piece);
    }
  }
  // A raw dialer against a channel that accepts.
  void shake(RawTls& dialer, SecureChannel& acceptor) {
    for (int round = 0; round < 4; ++round) {
      if (!dialer.shake()) refused_ = true;
      feed(acceptor, dialer.take(), 1 << 20);
      acceptor.advance();
      dialer.receive(taken_from(acceptor));
    }
  }

  Certificates files_;
  std::unique_ptr<SecureChannel> dialer_ = files_.channels(1)->make(Side::Dialed);
  std::unique_ptr<SecureChannel> acceptor_ = files_.channels(2)->make(Side::Accepted);
  bool refused_ = false;
};

TEST_F(ChannelTest, BothEndsLearnWhomTheOtherOnesCertificateNames) {
  shake(*dialer_, *acceptor_);
  ASSERT_EQ(dialer_->state(), State::Open);
  ASSERT_EQ(acceptor_->state(), State::Open);
  EXPECT_EQ(dialer_->peer(), files_.identity(2));
  EXPECT_EQ(acceptor_->peer(), files_.identity(1));
}

// Covers: FLT_S11
TEST_F(ChannelTest, AnOpenOneTellsWhetherTheOtherOnesCertificateIsStillTrusted) {
  const auto first = files_.channels(1), second = files_.channels(2);
  const auto dialer = first->make(Side::Dialed), acceptor = second->make(Side::Accepted);
  EXPECT_EQ(dialer->peer_now(), CloseReason::NoReason) << "there is no other one yet";
  shake(*dialer, *acceptor);
  const auto both = [&] { return std::pair(dialer->peer_now(), acceptor->peer_now()); };
  EXPECT_EQ(both(), std::pair(CloseReason::NoReason, CloseReason::NoReason));
  files_.change_authority();  // the previous one is trusted, too
  files_.valid(1);
  ASSERT_TRUE(first->reload().ok());
  EXPECT_EQ(both(), std::pair(CloseReason::NoReason, CloseReason::NoReason));
  support::write_file(files_.authority_file(), files_.stranger().certificate());
  ASSERT_TRUE(first->reload().ok());
  EXPECT_EQ(both(), std::pair(CloseReason::CertificateUnknownAuthority, CloseReason::NoReason)) << "each asks its own files";
  ASSERT_TRUE(second->reload().ok());
  EXPECT_EQ(acceptor->peer_now(), CloseReason::CertificateUnknownAuthority);
  EXPECT_EQ(dialer->state(), State::Open);
}

// Covers: FLT_N11
TEST_F(ChannelTest, PiecesOfAnySizeMakeTheSameText) {
  Random random(7);
  std::string text(100'000, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}, size_t{1} << 20}) {
    const auto dialer = files_.channels(1)->make(Side::Dialed);
    const auto acceptor = files_.channels(2)->make(Side::Accepted);
    shake(*dialer, *acceptor, piece);
    ASSERT_EQ(acceptor->state(), State::Open);
    dialer->write(text);
    const std::string wire = taken_from(*dialer);
    EXPECT_EQ(wire.find(text.substr(0, 16)), std::string::npos) << "in clear";
    EXPECT_EQ(feed(*acceptor, wire, piece), text);
  }
}

// Covers: FLT_N09
TEST_F(ChannelTest, AFlippedBitEndsIt) {
  shake(*dialer_, *acceptor_);
  dialer_->write(std::string_view("hello"));
  std::string wire = taken_from(*dialer_);
  wire[wire.size() / 2] ^= 1;
  EXPECT_EQ(feed(*acceptor_, wire, 1 << 20), "");
  EXPECT_EQ(acceptor_->state(), State::Failed);
  EXPECT_EQ(acceptor_->fault().reason, CloseReason::BadTls);
}

// Covers: FLT_S01
TEST_F(ChannelTest, NoiseAndOtherProtocolsFailAndAskForNothing) {
  Random random(1);
  for (int run = 0; run < 200; ++run) {
    std::string noise(1 + random() % 400, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    if (run % 2 == 0) noise = std::string("\x16\x03\x01\x01\x00", 5) + noise;  // as if it were a handshake
    if (noise[0] == '\xc0') continue;
    const auto acceptor = files_.channels(2)->make(Side::Accepted);
    feed(*acceptor, noise, 1 + random() % 100);
    feed(*acceptor, std::string(600, 'x'), 100);
    EXPECT_EQ(acceptor->state(), State::Failed) << run;
    EXPECT_EQ(acceptor->fault().reason, CloseReason::BadTls) << run;
    EXPECT_LE(taken_from(*acceptor).size(), 64u) << "an alert at most";
  }
}

// Covers: FLT_S10
TEST_F(ChannelTest, PlainTextOfOursIsToldApart) {
  for (SecureChannel* channel : {dialer_.get(), acceptor_.get()}) {
    feed(*channel, "\xc0KIT\x01\x01", 3);
    EXPECT_EQ(channel->fault().reason, CloseReason::SpeaksPlainText);
  }
}

// Covers: FLT_S10
TEST_F(ChannelTest, WhoHasNoCertificateIsRefused) {
  RawTls stranger;
  shake(stranger, *acceptor_);
  EXPECT_EQ(acceptor_->fault().reason, CloseReason::CertificateMissing);
}

// Covers: FLT_S10
TEST_F(ChannelTest, OlderTlsAndAnotherProtocolInItAreRefused) {
  const Tls valid = files_.valid(3);
  RawTls older(true, TLS1_2_VERSION);
  older.use(valid.certificate, valid.key);
  shake(older, *acceptor_);
  EXPECT_EQ(acceptor_->fault().reason, CloseReason::BadTls);
  EXPECT_TRUE(refused_);
  RawTls nameless(true, TLS1_3_VERSION, false);
  nameless.use(valid.certificate, valid.key);
  const auto acceptor = files_.channels(2)->make(Side::Accepted);
  shake(nameless, *acceptor);
  EXPECT_EQ(acceptor->fault().reason, CloseReason::BadTls);
}

// Covers: FLT_S10
TEST_F(ChannelTest, WhoWantsNewKeysAgainAndAgainIsCutOff) {
  const Tls valid = files_.valid(3);
  RawTls peer;
  peer.use(valid.certificate, valid.key);
  shake(peer, *acceptor_);
  ASSERT_EQ(acceptor_->state(), State::Open);
  size_t rounds = 0;
  while (acceptor_->state() == State::Open && rounds < 100'000) {
    SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED);
    ASSERT_TRUE(peer.write("x"));
    feed(*acceptor_, peer.take(), 1 << 20);
    ++rounds;
  }
  EXPECT_EQ(acceptor_->fault().reason, CloseReason::BadTls);
  EXPECT_GT(rounds, 10u) << "a few are answered";
  EXPECT_LT(taken_from(*acceptor_).size(), 20u << 10);
}

TEST_F(ChannelTest, TheEndOfTheOtherSideIsTheEnd) {
  const Tls valid = files_.valid(3);
  RawTls peer;
  peer.use(valid.certificate, valid.key);
  shake(peer, *acceptor_);
  ASSERT_TRUE(peer.write("last words"));
  SSL_shutdown(peer.ssl());
  EXPECT_EQ(feed(*acceptor_, peer.take(), 1 << 20), "last words");
  EXPECT_EQ(acceptor_->fault().reason, CloseReason::Ended);
}

}  // namespace
}  // namespace coordkit::testkit
