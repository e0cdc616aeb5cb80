// The TCP transport with certificates: real handshakes over loopback with peers of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "name_service.h"
#include "tcp_fixture.h"
#include "tests/unit/tls/certificates.h"
#include "tests/unit/tls/raw_tls.h"

namespace coordkit {
namespace {

using testkit::RawTls;
using testkit::RecordingSink;
using testkit::UncheckedChannels;
using namespace std::chrono_literals;

constexpr ClusterId kSecuredCluster(7);

Hello secured_member(uint64_t id) {
  Hello hello = TcpFixture::hello_of(id);
  hello.cluster = kSecuredCluster;
  return hello;
}

// Trusts those it dials, and none that connect to it.
class TwoFaced final : public SecureChannels {
 public:
  TwoFaced(std::shared_ptr<SecureChannels> trusting, const Tls& distrusting)
      : trusting_(std::move(trusting)), distrusting_(distrusting) {}
  std::unique_ptr<SecureChannel> make(TcpEvent::Side side) override {
    return side == TcpEvent::Side::Dialed ? trusting_->make(side) : distrusting_.make(side);
  }
  absl::Status reload() override { return absl::OkStatus(); }
  uint64_t generation() const override { return 1; }

 private:
  std::shared_ptr<SecureChannels> trusting_;
  UncheckedChannels distrusting_;
};

// From a moment on a replica that dials it gets no answer.
class NotAtHome final : public SecureChannels {
 public:
  explicit NotAtHome(std::shared_ptr<SecureChannels> inner) : inner_(std::move(inner)) {}
  void leave() { left_ = true; }
  std::unique_ptr<SecureChannel> make(TcpEvent::Side side) override {
    if (side == TcpEvent::Side::Accepted && left_) return std::make_unique<Mute>();
    return inner_->make(side);
  }
  absl::Status reload() override { return inner_->reload(); }
  uint64_t generation() const override { return inner_->generation(); }

 private:
  class Mute final : public SecureChannel {
   public:
    void received(std::span<const char>) override {}
    State advance() override { return State::Handshaking; }
    size_t read(std::span<char>) override { return 0; }
    void write(std::span<const char>) override {}
    void take_outgoing(std::string& into) override { into.clear(); }
    State state() const override { return State::Handshaking; }
    Fault fault() const override { return {}; }
    const std::optional<CertifiedIdentity>& peer() const override { return nobody_; }

   private:
    std::optional<CertifiedIdentity> nobody_;
  };
  std::shared_ptr<SecureChannels> inner_;
  std::atomic<bool> left_{false};
};

// Replica 1 is correct; replica 2 is another transport, or not a replica at all.
class SecuredTest : public TcpFixture {
 protected:
  void start(std::shared_ptr<SecureChannels> channels, TcpOptions options = {}) {
    options.channels = std::move(channels);
    options.listen = "127.0.0.1:0";
    options.redial_max = 50ms;
    second_ = std::make_unique<TcpTransport>(TcpOptions{.listen = "127.0.0.1:0"});
    ASSERT_TRUE(second_->bind().ok());
    address_ = "127.0.0.1:" + std::to_string(second_->port());
    second_.reset();
    start_as(secured_member(1), std::move(options), {{ReplicaId(2), address_}});
  }
  // The one that answers at its address.
  void start_second(std::shared_ptr<SecureChannels> channels, Duration idle_timeout = 3s) {
    second_ = std::make_unique<TcpTransport>(
        TcpOptions{.listen = address_, .channels = std::move(channels), .idle_timeout = idle_timeout, .redial_max = 50ms});
    ASSERT_TRUE(
        second_->start(secured_member(2), {{ReplicaId(1), "127.0.0.1:" + std::to_string(transport_->port())}}, seconds_sink_)
            .ok());
  }
  void TearDown() override {
    if (second_) second_->close();
    TcpFixture::TearDown();
  }
  bool wait_closed(CloseReason reason, size_t count = 1) {
    return wait_events(
        count, [reason](const TcpEvent& event) { return event.kind == TcpEvent::Kind::Closed && event.reason == reason; });
  }
  bool wait_refused_by_peer(CloseReason reason) {
    return wait_events(1, [reason](const TcpEvent& event) {
      return event.kind == TcpEvent::Kind::Closed && event.reason == CloseReason::RefusedByPeer && event.peers_reason == reason;
    });
  }
  // Each has dialed the other: from the first connection on both are up.
  bool wait_both_ways() {
    const auto twice = [](TcpTransport& transport) { return transport.counters().opened >= 2; };
    return sink_.wait([&] { return twice(*transport_); }) && seconds_sink_.wait([&] { return twice(*second_); });
  }
  uint64_t opened() { return transport_->counters().opened; }
  bool nothing_received() { return opened() == 0 && sink_.all().empty() && seconds_sink_.all().empty(); }

  FakePeer connect() { return FakePeer::connect(transport_->port()); }
  // A handshake as far as it goes; returns whether it completed at this side.
  static bool shake(FakePeer& wire, RawTls& tls) {
    for (int round = 0; round < 8 && !tls.open(); ++round) {
      if (!tls.shake()) return false;
      wire.write(tls.take());
      if (tls.open()) break;
      const std::string answer = wire.raw();
      if (answer.empty()) return false;
      tls.receive(answer);
    }
    return tls.open();
  }

  testkit::Certificates files_;
  RecordingSink seconds_sink_;
  std::unique_ptr<TcpTransport> second_;
  std::string address_;
};

// ---- members

// Covers: FLT_S10
TEST_F(SecuredTest, ReplicasWithCertificatesSpeakAndEveryBodyArrives) {
  start(files_.channels(1));
  start_second(files_.channels(2));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)) && seconds_sink_.wait_up(ReplicaId(1)));
  size_t sent = 0;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{16 << 10}, size_t{17 << 10}, size_t{200'000}, size_t{2} << 20}) {
    for (int copy = 0; copy < 20; ++copy, ++sent)
      transport_->send(ReplicaId(2), {{Lane::Bulk, std::string(size, static_cast<char>(copy))}});
    ASSERT_TRUE(seconds_sink_.wait_received(sent));
  }
  const auto received = seconds_sink_.all();
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].body.find_first_not_of(static_cast<char>(i % 20)), std::string::npos) << i;
  }
  EXPECT_EQ(second_->counters().bytes_received, transport_->counters().bytes_sent);
}

// ---- refused peers: what both ends count, and what both operators read

struct Refusal {
  std::string name;
  // Replica 2's channels.
  std::function<std::shared_ptr<SecureChannels>(const testkit::Certificates&)> channels;
  CloseReason reason;          // as replica 1 counts it
  std::string sentence;        // that replica 1's operator reads
  std::string peers_sentence;  // that replica 2's operator reads
};

std::shared_ptr<SecureChannels> odd(const testkit::Certificates& files,
                                    const std::function<void(support::CertificateOrder&)>& spoil, bool by_stranger = false) {
  support::CertificateOrder order = files.order(2);
  spoil(order);
  return std::make_shared<UncheckedChannels>(files.write("odd", order, by_stranger));
}

const std::vector<Refusal>& refusals() {
  using Files = testkit::Certificates;
  using Order = support::CertificateOrder;
  static const std::vector<Refusal> all = {
      {"Expired", [](const Files& files) { return odd(files, [](Order& one) {
                                             one.valid = {-48h, -24h};
                                           }); },
       CloseReason::CertificateExpired, "the certificate of replica 2, or of its authority, has expired",
       "replica 1 says: the certificate of replica 2, or of its authority, has expired"},
      {"NotYetValid", [](const Files& files) { return odd(files, [](Order& one) {
                                                 one.valid = {24h, 48h};
                                               }); },
       CloseReason::CertificateNotYetValid, "the certificate of replica 2 is not valid yet",
       "replica 1 says: the certificate of replica 2 is of no use"},
      {"UnknownAuthority",
       [](const Files& files) {
         return odd(
             files, [](Order&) {}, true);
       },
       CloseReason::CertificateUnknownAuthority, "replica 2 is signed by an authority that is not trusted here",
       "replica 2 is signed by an authority that is not trusted there"},
      {"OtherCluster", [](const Files& files) { return odd(files, [](Order& one) { one.uris = {"coordkit://billing/2"}; }); },
       CloseReason::CertificateOtherCluster,
       "names another cluster: give it its own, or correct the address (it names replica 2 of cluster 'billing')",
       "replica 1 says: the certificate of replica 2 names another cluster"},
      {"OtherReplica", [](const Files& files) { return odd(files, [](Order& one) { one.uris = {"coordkit://orders/3"}; }); },
       CloseReason::CertificateOtherReplica, "(it names replica 3 of cluster 'orders')", ""},
      {"OwnName", [](const Files& files) { return odd(files, [](Order& one) { one.uris = {"coordkit://orders/1"}; }); },
       CloseReason::CertificateOtherReplica, "(it names replica 1 of cluster 'orders')",
       "replica 1 says: the certificate of replica 2 names another replica"},
      {"Nobody", [](const Files& files) { return odd(files, [](Order& one) { one.uris.clear(); }); },
       CloseReason::CertificateRefused, "the certificate of replica 2 is of no use",
       "replica 1 says: the certificate of replica 2 is of no use"},
      {"AnotherUse", [](const Files& files) { return odd(files, [](Order& one) { one.usages = "emailProtection"; }); },
       CloseReason::CertificateRefused, "the certificate of replica 2 is of no use",
       "replica 1 says: the certificate of replica 2 is of no use"},
      {"TooLarge",
       [](const Files& files) {
         return odd(files, [](Order& one) {
           for (int i = 0; i < 2000; ++i) one.dns.push_back("host-" + std::to_string(i) + ".example");
         });
       },
       CloseReason::CertificateRefused, "is larger than 32 KiB with those behind it", ""},
      {"PlainText", [](const Files&) { return std::shared_ptr<SecureChannels>(); }, CloseReason::SpeaksPlainText,
       "replica 2 speaks plain text, and TLS is wanted", "replica 1 says: replica 2 speaks plain text, and TLS is wanted"},
  };
  return all;
}

class RefusalTest : public SecuredTest, public ::testing::WithParamInterface<Refusal> {};

// Covers: FLT_S10
TEST_P(RefusalTest, IsRefusedOnBothSidesWithASentenceBeforeAnythingIsHeard) {
  start(files_.channels(1));
  start_second(GetParam().channels(files_));
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), GetParam().sentence)) << sink_.wait_refusal(ReplicaId(2)).value_or("nothing");
  if (!GetParam().peers_sentence.empty()) {
    EXPECT_TRUE(seconds_sink_.wait_refused(ReplicaId(1), GetParam().peers_sentence))
        << seconds_sink_.wait_refusal(ReplicaId(1)).value_or("nothing");
  }
  // On the dialed and on the accepted connection.
  EXPECT_TRUE(wait_events(
      1, [](const TcpEvent& event) { return event.reason == GetParam().reason && event.side == TcpEvent::Side::Dialed; }));
  if (GetParam().name != "OtherReplica") {
    EXPECT_TRUE(wait_events(
        1, [](const TcpEvent& event) { return event.reason == GetParam().reason && event.side == TcpEvent::Side::Accepted; }));
  }
  EXPECT_GE(transport_->counters().closed_for(GetParam().reason), 1u);
  EXPECT_TRUE(nothing_received());
}

INSTANTIATE_TEST_SUITE_P(Kinds, RefusalTest, ::testing::ValuesIn(refusals()), [](const auto& each) { return each.param.name; });

// Its own files are refused at the opening since; an older build is told by the others.
// Covers: FLT_S10
TEST_F(SecuredTest, WhoHasACertificateForServersAloneIsToldWhatItLacks) {
  start(files_.channels(1));
  start_second(odd(files_, [](support::CertificateOrder& one) { one.usages = "serverAuth"; }));
  EXPECT_TRUE(seconds_sink_.wait_refused(ReplicaId(1), "lacks serverAuth or clientAuth"))
      << seconds_sink_.wait_refusal(ReplicaId(1)).value_or("nothing");
  EXPECT_TRUE(wait_closed(CloseReason::CertificateRefused));
}

// Covers: FLT_S10
TEST_F(SecuredTest, OneThatSpeaksTlsIsToldSoWherePlainTextIsWanted) {
  start(nullptr);
  start_second(files_.channels(2));
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "replica 2 says: replica 1 speaks plain text, and TLS is wanted"));
  EXPECT_TRUE(seconds_sink_.wait_refused(ReplicaId(1), "replica 1 speaks plain text, and TLS is wanted"));
  EXPECT_TRUE(wait_closed(CloseReason::SpeaksTls));
  EXPECT_TRUE(nothing_received());
}

// Covers: FLT_S10
TEST_F(SecuredTest, ACertificateOfAnotherReplicaDoesNotBecomeItByItsHello) {
  start(files_.channels(1));
  const Tls third = files_.valid(3);
  RawTls tls;
  tls.use(third.certificate, third.key);
  FakePeer wire = connect();
  ASSERT_TRUE(shake(wire, tls));
  ASSERT_TRUE(tls.write(wire.seal(FrameKind::Hello, encode(introduction(2)))));
  wire.write(tls.take());
  EXPECT_TRUE(wait_closed(CloseReason::CertificateOtherReplica));
  EXPECT_TRUE(nothing_received());
}

// ---- non-replicas

// Covers: FLT_S10
TEST_F(SecuredTest, AWrongCertificateAndThenBytesIsRefusedBeforeTheyAreParsed) {
  start(files_.channels(1));
  const Tls foreign = files_.write("foreign", files_.order(2), true);
  RawTls tls;
  tls.use(foreign.certificate, foreign.key);
  FakePeer wire = connect();
  ASSERT_TRUE(shake(wire, tls)) << "in TLS 1.3 it believes to be through";
  ASSERT_TRUE(tls.write(std::string(100'000, 'x')));  // would be BadMagic if anyone looked
  wire.write(tls.take());
  EXPECT_TRUE(wait_closed(CloseReason::CertificateUnknownAuthority));
  EXPECT_EQ(transport_->counters().closed_for(CloseReason::BadMagic), 0u);
  EXPECT_TRUE(nothing_received());
}

// Covers: FLT_S10
TEST_F(SecuredTest, WhoShowsNoCertificateIsRefused) {
  start(files_.channels(1));
  RawTls tls;
  FakePeer wire = connect();
  shake(wire, tls);
  EXPECT_TRUE(wait_closed(CloseReason::CertificateMissing));
  EXPECT_TRUE(nothing_received());
}

// Covers: FLT_S01
TEST_F(SecuredTest, NoiseInPlaceOfAHandshakeIsClosedAtOnceAndCounted) {
  start(files_.channels(1));
  const std::vector<std::string> strangers = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", std::string(1000, '\0'),
                                              std::string("\x16\x03\x01\x00\x05hello", 10)};
  for (const std::string& bytes : strangers) {
    FakePeer stranger = connect();
    stranger.write(bytes);
    while (!stranger.raw().empty()) {
    }
  }
  EXPECT_TRUE(wait_closed(CloseReason::BadTls, strangers.size()));
}

// Covers: FLT_S04
TEST_F(SecuredTest, AHandshakeThatStopsHalfWayCostsItsPlaceAfterTheTimeout) {
  start(files_.channels(1), {.hello_timeout = 100ms});
  const Tls valid = files_.valid(2);
  for (const size_t part : {size_t{0}, size_t{1}, size_t{50}, size_t{1 << 20}}) {  // of the first flight
    FakePeer wire = connect();
    RawTls tls;
    tls.use(valid.certificate, valid.key);
    ASSERT_TRUE(tls.shake());
    wire.write(tls.take().substr(0, part));
    while (!wire.raw().empty()) {
    }
  }
  EXPECT_TRUE(wait_closed(CloseReason::HelloTimeout, 4));
}

// Covers: FLT_S04
TEST_F(SecuredTest, ThroughTheHandshakeAndSilentCostsItsPlaceAfterTheTimeout) {
  start(files_.channels(1), {.hello_timeout = 100ms});
  const Tls valid = files_.valid(2);
  RawTls tls;
  tls.use(valid.certificate, valid.key);
  FakePeer wire = connect();
  ASSERT_TRUE(shake(wire, tls));
  while (!wire.raw().empty()) {
  }
  EXPECT_TRUE(wait_closed(CloseReason::HelloTimeout));
}

// Covers: FLT_S04
TEST_F(SecuredTest, ManyHandshakesUnderWayKeepNoPeerOut) {
  start(files_.channels(1), {.unverified_max = 8, .unverified_per_address_max = 8, .hello_timeout = 60s});
  std::vector<FakePeer> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(connect());
    RawTls tls;
    ASSERT_TRUE(tls.shake());
    strangers.back().write(tls.take());
  }
  EXPECT_TRUE(wait_closed(CloseReason::Crowded, 92));
  start_second(files_.channels(2));
  EXPECT_TRUE(sink_.wait_up(ReplicaId(2)) && seconds_sink_.wait_up(ReplicaId(1)));
}

// ---- rotation

// Covers: FLT_S11
TEST_F(SecuredTest, AReloadReplacesWhatStandsWithoutAGap) {
  const auto channels = files_.channels(1);
  start(channels);
  const auto seconds = files_.channels(2);
  start_second(seconds);
  ASSERT_TRUE(wait_both_ways());
  files_.change_authority();
  files_.valid(1);
  ASSERT_TRUE(channels->reload().ok());
  // Signed by an authority that the other does not know yet: open connections stay, and the operator is notified.
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "is not trusted"));
  EXPECT_EQ(sink_.downs(ReplicaId(2)), 0);
  transport_->send(ReplicaId(2), {{Lane::Bulk, "still there"}});
  EXPECT_TRUE(seconds_sink_.wait_body("still there"));
  files_.valid(2);
  ASSERT_TRUE(seconds->reload().ok());
  EXPECT_TRUE(sink_.wait([&] { return transport_->counters().closed_for(CloseReason::Renewed) >= 1; }, 60s));
  EXPECT_TRUE(sink_.wait([&] { return second_->counters().closed_for(CloseReason::Renewed) >= 1; }, 60s));
  EXPECT_EQ(sink_.downs(ReplicaId(2)), 0);
  EXPECT_EQ(seconds_sink_.downs(ReplicaId(1)), 0);
  EXPECT_FALSE(sink_.is_refused(ReplicaId(2)));
}

// Covers: FLT_S11
TEST_F(SecuredTest, ANameThatIsGoneIsAskedForAgainAfterAWhile) {
  testkit::NameService names;
  const auto channels = files_.channels(1);
  start(channels, {.hello_timeout = 2s, .idle_timeout = 60s});
  transport_->set_peers({{ReplicaId(2), "known.test" + address_.substr(address_.find(':')), StoreId()}});
  start_second(files_.channels(2), 60s);
  ASSERT_TRUE(wait_both_ways());
  names.hide();
  ASSERT_TRUE(channels->reload().ok());
  names.wait_asked(1);
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(names.asked(), 1);
  EXPECT_EQ(sink_.downs(ReplicaId(2)), 0);
}

// Covers: FLT_S11
TEST_F(SecuredTest, ARefusalIsToldWhileTheOtherConnectionStands) {
  start(files_.channels(1), {.idle_timeout = 60s});
  Tls distrusting = files_.valid(2);
  distrusting.authority = files_.folder() / "stranger.pem";
  support::write_file(distrusting.authority, files_.stranger().certificate());
  start_second(std::make_shared<TwoFaced>(files_.channels(2), distrusting), 60s);
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));  // by the other one's connection, before or after the first refusal
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "is not trusted there"));
  EXPECT_TRUE(sink_.is_up(ReplicaId(2)));
  EXPECT_EQ(sink_.downs(ReplicaId(2)), 0);
}

// Covers: FLT_S11
TEST_F(SecuredTest, WhomNobodyTrustsAnyMoreIsCutOffInBothDirections) {
  const Tls own = files_.valid(1);
  const auto channels = open_tls(own, files_.identity(1)).value();
  start(channels, {.idle_timeout = 300ms});
  start_second(files_.channels(2), 300ms);
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  support::write_file(own.authority, files_.stranger().certificate());  // and no other
  ASSERT_TRUE(channels->reload().ok());
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));  // both connections: without the cut they would stay open forever
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "is not trusted here"));
}

// A process that has the key of replica 2, and its address, would keep what replica 1 has dialed.
// Covers: FLT_S11
TEST_F(SecuredTest, WhomNobodyTrustsAnyMoreIsCutOffThoughItAnswersNoDial) {
  const Tls own = files_.valid(1);
  const auto channels = open_tls(own, files_.identity(1)).value();
  start(channels, {.idle_timeout = 300ms});
  const auto second = std::make_shared<NotAtHome>(files_.channels(2));
  start_second(second, 300ms);
  ASSERT_TRUE(wait_both_ways());
  second->leave();
  support::write_file(own.authority, files_.stranger().certificate());
  ASSERT_TRUE(channels->reload().ok());
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "is not trusted here"));
}

// Covers: FLT_S11
TEST_F(SecuredTest, WhatWasDialedIsNotCutOffForACertificateThatIsStillGood) {
  const auto channels = files_.channels(1);
  start(channels, {.hello_timeout = 100ms, .idle_timeout = 100ms});
  const auto second = std::make_shared<NotAtHome>(files_.channels(2));
  start_second(second, 100ms);
  ASSERT_TRUE(wait_both_ways());
  second->leave();
  ASSERT_TRUE(channels->reload().ok());
  // Connections that the other one has dialed are closed when it had its time; those dialed here would be next.
  EXPECT_TRUE(sink_.wait([&] { return transport_->counters().closed_for(CloseReason::Renewed) >= 1; }, 60s));
  EXPECT_TRUE(wait_events(3, [](const TcpEvent& event) { return event.reason == CloseReason::HelloTimeout; }));
  for (const CloseReason reason : {CloseReason::CertificateUnknownAuthority, CloseReason::CertificateRefused}) {
    EXPECT_EQ(transport_->counters().closed_for(reason), 0u);
  }
}

}  // namespace
}  // namespace coordkit
