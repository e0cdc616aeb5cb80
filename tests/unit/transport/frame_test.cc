#include "transport/frame.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/fixed.h"
#include "base/random.h"
#include "base/sums.h"
#include "tests/proof/golden/hex.h"
#include "tests/support/source_dir.h"
#include "transport/hello.h"

namespace coordkit {
namespace {

std::string seal(FrameKind kind, std::string_view body, uint64_t seed = 0) {
  const FrameHeader header = make_frame_header(kind, kOnlyGroup, body, seed);
  return std::string(header.data(), header.size()) + std::string(body);
}

// Feeds `stream` in pieces of the sizes `next_size` gives; returns the bodies.
template <typename F>
std::vector<std::string> read_in_pieces(FrameReader& reader, std::string_view stream, F next_size) {
  std::vector<std::string> bodies;
  while (!stream.empty()) {
    const std::span<char> space = reader.space();
    EXPECT_FALSE(space.empty());
    const size_t size = std::min({space.size(), stream.size(), std::max<size_t>(1, next_size())});
    std::copy_n(stream.begin(), size, space.begin());
    stream.remove_prefix(size);
    reader.filled(size);
    while (const auto frame = reader.next()) bodies.emplace_back(frame->body);
  }
  return bodies;
}

std::vector<std::string> some_bodies(Random& random, size_t count, size_t max) {
  std::vector<std::string> bodies(count);
  for (std::string& body : bodies) {
    body.resize(random.below(max + 1));
    for (char& byte : body) byte = static_cast<char>(random());
  }
  return bodies;
}

// Covers: FLT_N11
TEST(FrameTest, EverySplitPointGivesTheSameFrames) {
  const std::vector<std::string> bodies = {"first", "", "third one"};
  std::string stream;
  for (size_t i = 0; i < bodies.size(); ++i) stream += seal(FrameKind::Message, bodies[i], i);
  for (size_t split = 0; split <= stream.size(); ++split) {
    FrameReader reader(1 << 20);
    bool first = true;
    EXPECT_EQ(read_in_pieces(reader, stream, [&] { return std::exchange(first, false) ? split : stream.size(); }), bodies)
        << split;
    EXPECT_EQ(reader.fault(), FrameFault::None);
  }
}

// Covers: FLT_N11
TEST(FrameTest, RandomPiecesGiveTheSameFrames) {
  Random random(1);
  for (int run = 0; run < 60; ++run) {
    const std::vector<std::string> bodies = some_bodies(random, 1 + random.below(30), run % 10 == 1 ? 300'000 : 2000);
    std::string stream;
    for (size_t i = 0; i < bodies.size(); ++i) stream += seal(FrameKind::Message, bodies[i], 7 + i);
    FrameReader reader(300'000);
    reader.set_key(7);
    const size_t largest = run % 10 == 0 ? 1 : (run % 10 == 1 ? 1000 : 1) + random.below(100'000);
    EXPECT_EQ(read_in_pieces(reader, stream, [&] { return 1 + random.below(largest); }), bodies);
  }
}

// Covers: FLT_N09
TEST(FrameTest, EveryFlippedBitIsAFaultAndYieldsNothing) {
  const std::string good = seal(FrameKind::Message, "body", 3);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1u << (bit % 8));
    FrameReader reader(1 << 20);
    reader.set_key(3);
    EXPECT_TRUE(read_in_pieces(reader, bad, [&] { return bad.size(); }).empty()) << bit;
    EXPECT_NE(reader.fault(), FrameFault::None) << bit;
  }
}

TEST(FrameTest, AReaderDeliversNothingAfterAFault) {
  FrameReader reader(1 << 20);
  const std::string stream = "noise" + seal(FrameKind::Message, "after it");
  EXPECT_TRUE(read_in_pieces(reader, stream, [] { return 1; }).empty());
  EXPECT_EQ(reader.fault(), FrameFault::Magic);
}

TEST(FrameTest, AFrameRepeatedSkippedOrOfAnotherConnectionDoesNotVerify) {
  for (const uint64_t seed : {0, 41, 43, 1000}) {
    FrameReader reader(1 << 20);
    reader.set_key(42);
    EXPECT_TRUE(read_in_pieces(reader, seal(FrameKind::Message, "x", seed), [] { return 100; }).empty());
    EXPECT_EQ(reader.fault(), FrameFault::HeaderSum);
  }
  FrameReader reader(1 << 20);
  const std::string once = seal(FrameKind::Message, "x", 0);
  EXPECT_EQ(read_in_pieces(reader, once + once, [] { return 100; }).size(), 1u);
  EXPECT_EQ(reader.fault(), FrameFault::HeaderSum);
}

// A header with valid sums whatever it claims.
std::string forged_header(size_t at, uint32_t value, size_t size) {
  std::string header = seal(FrameKind::Message, "");
  std::memcpy(header.data() + at, &value, size);
  store_u32(header.data() + 20, static_cast<uint32_t>(hash_bytes({header.data(), 20})));
  return header;
}

// Covers: FLT_S02
TEST(FrameTest, AbsurdHeadersWithRightSumsAreFaults) {
  const auto fault_of = [](const std::string& header) {
    FrameReader reader(4096);
    EXPECT_TRUE(read_in_pieces(reader, header, [&] { return header.size(); }).empty());
    return reader.fault();
  };
  EXPECT_EQ(fault_of(forged_header(16, 0xffffffff, 4)), FrameFault::Length);
  EXPECT_EQ(fault_of(forged_header(16, 4097, 4)), FrameFault::Length);
  EXPECT_EQ(fault_of(forged_header(16, 4096, 4)), FrameFault::None);  // legal; its body has not come
  EXPECT_EQ(fault_of(forged_header(5, 0, 1)), FrameFault::Kind);
  EXPECT_EQ(fault_of(forged_header(5, 6, 1)), FrameFault::Kind);
  EXPECT_EQ(fault_of(forged_header(5, 0xff, 1)), FrameFault::Kind);
  EXPECT_EQ(fault_of(forged_header(6, 1, 2)), FrameFault::Kind);
  EXPECT_EQ(fault_of(forged_header(4, 2, 1)), FrameFault::Version);
}

// Covers: FLT_S01
TEST(FrameTest, MemoryFollowsWhatArrivedNotWhatIsClaimed) {
  FrameReader reader(1 << 30);
  EXPECT_TRUE(read_in_pieces(reader, forged_header(16, 1 << 30, 4), [] { return 100; }).empty());
  EXPECT_EQ(reader.fault(), FrameFault::None);
  EXPECT_LE(reader.capacity(), size_t{64 << 10});
  FrameReader stranger(kHelloBytesMax);
  EXPECT_EQ(read_in_pieces(stranger, seal(FrameKind::Hello, std::string(kHelloBytesMax, 'x')), [] { return 1; }).size(), 1u);
  EXPECT_LE(stranger.capacity(), size_t{3 << 10});
}

TEST(FrameTest, TheBufferIsBoundedByTheLargestFrame) {
  FrameReader reader(100'000);
  uint64_t seed = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(read_in_pieces(reader, seal(FrameKind::Message, std::string(100'000, 'x'), seed++), [] { return 60'000; }).size(),
              1u);
    EXPECT_LE(reader.capacity(), 100'000 + kFrameHeaderBytes);
  }
}

// The bytes that have arrived of a frame may be more than a limit that falls in the middle of it allows.
// Covers: FLT_S09
TEST(FrameTest, ALimitThatFallsUnderAFullBufferKeepsItsBytesAndRefusesTheFrame) {
  const std::string stream = seal(FrameKind::Message, std::string(70'000, 'x'));
  FrameReader reader(72 << 10);
  constexpr size_t kFull = 64 << 10;
  EXPECT_TRUE(read_in_pieces(reader, std::string_view(stream).substr(0, kFull), [&] { return kFull; }).empty());
  ASSERT_EQ(reader.capacity(), kFull) << "it is full";
  reader.set_body_bytes_max(kHelloBytesMax);
  const std::span<char> space = reader.space();
  ASSERT_FALSE(space.empty());
  ASSERT_GE(reader.capacity(), kFull + space.size());
  space[0] = stream[kFull];
  reader.filled(1);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), FrameFault::Length);
}

// Covers: FLT_S09
TEST(FrameTest, LimitsThatRiseAndFallAnywhereGiveTheFramesBeforeTheFirstTooLongOne) {
  Random random(2);
  for (int run = 0; run < 100; ++run) {
    const std::vector<std::string> bodies = some_bodies(random, 1 + random.below(8), 200'000);
    FrameReader reader(200'000);
    std::vector<std::string> read;
    bool refused = false;
    for (size_t i = 0; i < bodies.size() && !refused; ++i) {
      const std::string frame = seal(FrameKind::Message, bodies[i], i);
      size_t limit = 0;
      const size_t pieces = 2 + random.below(3);
      for (size_t piece = 0; piece < pieces; ++piece) {
        limit = random.below(2) == 0 ? 200'000 : random.below(200'001);
        reader.set_body_bytes_max(limit);
        const size_t from = piece * frame.size() / pieces, end = (piece + 1) * frame.size() / pieces;
        for (std::string& body :
             read_in_pieces(reader, std::string_view(frame).substr(from, end - from), [&] { return end; })) {
          read.push_back(std::move(body));
        }
        if (reader.fault() != FrameFault::None) break;
      }
      refused = reader.fault() != FrameFault::None;
      EXPECT_EQ(reader.fault(), limit < bodies[i].size() ? FrameFault::Length : FrameFault::None) << run;
      EXPECT_EQ(read.size(), i + (refused ? 0 : 1));
    }
    EXPECT_TRUE(std::equal(read.begin(), read.end(), bodies.begin()));
  }
}

// ---- hello

Introduction introduction() {
  Introduction mine{Hello{}, 0x1111, 0x2222, 0x3333};
  mine.hello = {1, 2, "orders", ReplicaId(1), ReplicaId(2), StoreId(0xabcdef0123456789), BootCounter(300), ClusterId()};
  prove(mine, Prover::Acceptor, ClusterId(99), "0123456789abcdef");
  return mine;
}

TEST(HelloTest, SurvivesTheRoundTrip) { EXPECT_EQ(decode_introduction(encode(introduction())).value(), introduction()); }

TEST(HelloTest, WhatMustBeSetAlikeComesAlongAndMayBeLeftOut) {
  Introduction mine = introduction();
  const std::string without = encode(mine);
  mine.hello.agreement = Agreement{.rate_error_ppm = 10'000,
                                   .election_timeout = std::chrono::milliseconds(300),
                                   .leader_leases = true,
                                   .digest_entries = 128,
                                   .revisions_kept = 5,
                                   .history_kept = std::chrono::hours(1)};
  for (uint64_t i = 0; i < kAgreedMachinesMax; ++i) mine.hello.agreement->machines.push_back({MachineId(~i), ~i});
  mine.hello.cluster_name = std::string(kClusterNameBytesMax, 'x');
  EXPECT_EQ(decode_introduction(encode(mine)).value(), mine) << "the largest one";
  mine.hello.agreement->machines.push_back({MachineId(16), 1});
  EXPECT_THROW(encode(mine), CheckFailure);
  EXPECT_EQ(decode_introduction(without)->hello.agreement, std::nullopt);
}

// An older build skips what it does not know, and must find the proofs unchanged.
TEST(HelloTest, WhatMustBeSetAlikeIsNoPartOfTheProofs) {
  Introduction mine = introduction();
  const std::string statement = encode_statement(mine);
  mine.hello.agreement.emplace().rate_error_ppm = 7;
  EXPECT_EQ(encode_statement(mine), statement);
}

TEST(HelloTest, SettingsOutOfRangeAreRefused) {
  const auto with = [](std::string agreement) {
    return encode(introduction()) + "\x82\x01" + static_cast<char>(agreement.size()) + agreement;
  };
  ASSERT_EQ(decode_introduction(with("\x08\x07"))->hello.agreement->rate_error_ppm, 7u);
  EXPECT_EQ(decode_introduction(with("\x08\xff\xff\xff\xff\xff\x01")).status().code(), absl::StatusCode::kDataLoss);
  const std::string ages = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";  // 2^64 - 1
  EXPECT_EQ(decode_introduction(with("\x10" + ages)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode_introduction(with("\x18\x02")).status().code(), absl::StatusCode::kDataLoss) << "no flag";
  EXPECT_TRUE(decode_introduction(with("\x48\x02")).ok()) << "a field of a newer one is skipped";
}

TEST(HelloTest, EveryTruncationIsRefusedOrAnotherHello) {
  const std::string body = encode(introduction());
  for (size_t length = 0; length < body.size(); ++length) {
    const auto decoded = decode_introduction(std::string_view(body).substr(0, length));
    EXPECT_TRUE(!decoded.ok() || *decoded != introduction()) << length;
  }
}

TEST(HelloTest, AnIntroductionBeyondItsLimitsIsRefused) {
  Introduction mine = introduction();
  mine.hello.cluster_name = std::string(kClusterNameBytesMax, 'x');
  EXPECT_TRUE(decode_introduction(encode(mine)).ok());
  mine.hello.cluster_name += 'x';
  EXPECT_EQ(decode_introduction(encode(mine)).status().code(), absl::StatusCode::kDataLoss);
  mine = introduction();
  mine.nonce = 0;
  EXPECT_EQ(decode_introduction(encode(mine)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode_introduction(std::string(kHelloBytesMax + 1, '\0')).status().code(), absl::StatusCode::kDataLoss);
}

TEST(HelloTest, ProtocolRangesMustMeet) {
  const auto judge_ranges = [](uint32_t mine_min, uint32_t mine_max, uint32_t theirs_min, uint32_t theirs_max) {
    Hello mine, theirs;
    mine.from = theirs.to = ReplicaId(1);
    mine.protocol_min = mine_min, mine.protocol_max = mine_max;
    theirs.protocol_min = theirs_min, theirs.protocol_max = theirs_max;
    return judge(mine, Introduction{.hello = theirs});
  };
  EXPECT_EQ(judge_ranges(1, 1, 1, 1), CloseReason::NoReason);
  EXPECT_EQ(judge_ranges(1, 2, 2, 3), CloseReason::NoReason);
  EXPECT_EQ(judge_ranges(1, 1, 2, 2), CloseReason::NoCommonProtocol);
  EXPECT_EQ(judge_ranges(3, 4, 1, 2), CloseReason::NoCommonProtocol);
  EXPECT_EQ(judge_ranges(1, 1, 0, 0), CloseReason::NoCommonProtocol);
}

// ---- with a secret

// The frame of this number, sealed by a dialer with nonce 1 for an acceptor with nonce 2.
std::string keyed(FrameKind kind, std::string_view body, uint64_t number, Prover by = Prover::Dialer) {
  FrameSums sums;
  sums.set_key(session_key("0123456789abcdef", by, 1, 2));
  for (uint64_t i = 0; i < number; ++i) sums.next();
  const FrameHeader header = make_frame_header(kind, kOnlyGroup, body, sums);
  return std::string(header.data(), header.size()) + std::string(body);
}

FrameFault fault_of(std::string_view stream, Prover by = Prover::Dialer) {
  FrameReader reader(4096);
  reader.set_key(session_key("0123456789abcdef", by, 1, 2));
  while (!stream.empty()) {
    const std::span<char> space = reader.space();
    const size_t size = std::min(space.size(), stream.size());
    std::copy_n(stream.data(), size, space.data());
    reader.filled(size);
    stream.remove_prefix(size);
    while (reader.next()) {
    }
  }
  return reader.fault();
}

// Covers: FLT_S03
TEST(KeyedFrameTest, EachFrameIsGoodOnceInItsPlaceInItsDirection) {
  const std::string first = keyed(FrameKind::Message, "one", 0);
  const std::string second = keyed(FrameKind::Message, "two", 1);
  EXPECT_EQ(fault_of(first + second), FrameFault::None);
  EXPECT_NE(fault_of(second + first), FrameFault::None);
  EXPECT_NE(fault_of(first + first), FrameFault::None);
  EXPECT_NE(fault_of(second), FrameFault::None);
  EXPECT_NE(fault_of(first, Prover::Acceptor), FrameFault::None) << "sent back to its sender";
  EXPECT_NE(fault_of(seal(FrameKind::Message, "one", frame_key(1, 2))), FrameFault::None) << "without the secret";
}

// Covers: FLT_N09 FLT_S03
TEST(KeyedFrameTest, NoBitMayChange) {
  const std::string frame = keyed(FrameKind::Message, std::string(100, 'x'), 0);
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::string changed = frame;
    changed[bit / 8] ^= static_cast<char>(1u << (bit % 8));
    EXPECT_NE(fault_of(changed), FrameFault::None) << bit;
  }
}

// The power of an attacker that knows how the header's sums are computed, but not the key of the frames.
// Covers: FLT_S03
TEST(KeyedFrameTest, TheSumOfTheHeaderAloneLetsNothingIn) {
  const SessionKey key = session_key("0123456789abcdef", Prover::Dialer, 1, 2);
  FrameSums seeded(key.headers);
  const FrameHeader header = make_frame_header(FrameKind::Message, kOnlyGroup, "lie", seeded);
  EXPECT_EQ(fault_of(std::string(header.data(), header.size()) + "lie"), FrameFault::Sum);
}

// ---- pinned bytes. A change here is a change of the wire.

TEST(FrameTest, BytesAreTheGoldenOnes) {
  std::ifstream file(source_dir() + "/tests/proof/golden/wire_frames.hex");
  std::stringstream golden;
  golden << file.rdbuf();
  const std::string now = hex(seal(FrameKind::Hello, encode(introduction()))) + "\n" +
                          hex(seal(FrameKind::Message, "body", frame_key(0x2222, 0x3333) + 5)) + "\n" +
                          hex(seal(FrameKind::Ping, "", 42)) + "\n" + hex(keyed(FrameKind::Message, "body", 5)) + "\n";
  EXPECT_EQ(golden.str(), now);
}

}  // namespace
}  // namespace coordkit
