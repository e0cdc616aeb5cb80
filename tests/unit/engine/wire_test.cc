#include "coordkit/engine/wire.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "base/check.h"
#include "base/random.h"
#include "base/sums.h"
#include "tests/proof/golden/hex.h"
#include "tests/support/source_dir.h"

namespace coordkit {
namespace {

using raft::Answer;
using raft::Entry;
using raft::EntryKind;

// ---- random messages of every alternative

// Small, large and in between, so that varints of every length occur.
uint64_t any_number(Random& random, uint64_t max = ~uint64_t{0}) {
  return random.chance(0.2) ? 0 : (random() >> random.below(64)) % (max == ~uint64_t{0} ? max : max + 1);
}
Term any_term(Random& random) { return Term(1 + any_number(random, kPositionMax - 1)); }
Index any_index(Random& random) { return Index(any_number(random, kPositionMax / 2)); }
std::string any_bytes(Random& random, size_t max) {
  std::string bytes(random.below(max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}
TimerGroup any_group(Random& random) {
  return {ReplicaId(any_number(random)), BootCounter(any_number(random)), any_number(random),
          Duration(static_cast<int64_t>(any_number(random, std::numeric_limits<int64_t>::max())))};
}
std::vector<TimerId> any_timers(Random& random) {
  std::vector<TimerId> ids;
  uint64_t last = any_number(random) >> 1;
  for (uint64_t n = random.below(20); n > 0; --n) ids.emplace_back(last += 1 + random.below(1000));
  return ids;
}

raft::AppendRequest any_append(Random& random) {
  raft::AppendRequest m{.term = any_term(random),
                        .stream = any_number(random),
                        .commit = any_index(random),
                        .everyone_has = any_index(random),
                        .round = any_number(random)};
  m.previous = {any_index(random), Term(any_number(random, m.term.value()))};
  m.previous_sum = any_number(random);
  m.last = any_index(random);
  Position at = m.previous;
  for (uint64_t n = random.below(8); n > 0; --n) {
    at = {at.index.next(), std::max(Term(1), at.term + random.below(m.term - at.term + 1))};
    m.entries.push_back({.index = at.index,
                         .term = at.term,
                         .kind = static_cast<EntryKind>(1 + random.below(255)),
                         .content_sum = random(),
                         .payload = SharedBytes(any_bytes(random, 300))});
  }
  return m;
}

GenesisOffer any_genesis(Random& random) {
  GenesisOffer m{{ClusterId(1 + any_number(random, 1u << 31)), any_number(random), {}}};
  for (uint64_t id = 1; id <= 1 + random.below(5); ++id) {
    m.genesis.configuration.voters.push_back({ReplicaId(id), StoreId(random()), any_bytes(random, 20)});
  }
  if (random.chance(0.5)) m.invited = StoreId(random());
  return m;
}

KeyRange any_range(Random& random) {
  KeyRange range{any_bytes(random, 20), {}};
  if (random.chance(0.7)) range.upto = range.after + any_bytes(random, 3) + "z";
  return range;
}

Message any_message(Random& random, size_t alternative) {
  const auto any_answer = [&] { return random.chance(0.5) ? Answer::Yes : Answer::No; };
  const auto any_kind = [&] { return random.chance(0.5) ? raft::VoteKind::Pre : raft::VoteKind::Real; };
  const auto number = [&] { return any_number(random); };
  const auto index = [&] { return any_index(random); };
  const auto term = [&] { return any_term(random); };
  const auto position = [&] { return Position{any_index(random).next(), any_term(random)}; };
  switch (alternative) {
    case 0:
      return raft::VoteRequest{any_kind(), term(), number(), {index(), term()}, static_cast<raft::Cause>(random.below(2))};
    case 1: return raft::VoteReply{any_kind(), Term(any_number(random, kPositionMax)), number(), any_answer()};
    case 2: return any_append(random);
    case 3: {
      const auto verdict = random.chance(0.5) ? raft::AppendVerdict::Accepted : raft::AppendVerdict::Conflict;
      return raft::AppendReply{term(), number(), verdict, index(), {index(), term()}, index(), number()};
    }
    case 4: {
      return raft::Heartbeat{term(), number(), index(), index(), number(), index(), {index(), term()}, random.chance(0.5)};
    }
    case 5: return raft::HeartbeatReply{term(), number(), index(), number()};
    case 6: return any_genesis(random);
    case 7: {
      Forward m;
      for (uint64_t n = random.below(6); n > 0; --n) m.commands.emplace_back(any_bytes(random, 200));
      return m;
    }
    case 8: return Refusal{random.chance(0.5) ? Refusal::Why::NotLeader : Refusal::Why::NoRoom, term(), ReplicaId(number())};
    case 9: return ReadIndexRequest{number()};
    case 10: return ReadIndexReply{number(), any_answer(), index()};
    case 11: {
      RenewRequest m{.attempt = number(), .machine = MachineId(number())};
      for (uint64_t n = random.below(4); n > 0; --n) {
        m.groups.push_back({any_group(random), TimerId(number()), number(), number(), any_timers(random)});
      }
      m.looks = any_timers(random);
      if (m.looks.size() > kTimerLooksMax) m.looks.resize(kTimerLooksMax);
      m.as_of = index();
      return m;
    }
    case 13: return raft::TimeoutNow{term()};
    case 14: return raft::Removed{term(), {index(), term()}};
    case 15: return StateOffer{term(), position(), number()};
    case 16:
      return StateRequest{term(), position(), any_range(random), random.chance(0.5) ? std::optional(number()) : std::nullopt};
    case 17: {
      StateChunk m{term(), position(), {any_range(random), number(), random.chance(0.3), {}}};
      for (uint64_t n = m.rows.same ? 0 : random.below(4); n > 0; --n) {
        m.rows.rows.push_back({m.rows.range.after + std::string(n, 'k'), any_bytes(random, 40)});
      }
      std::reverse(m.rows.rows.begin(), m.rows.rows.end());
      return m;
    }
    case 18: return StateLoading{term(), position()};
    case 19: {
      ChangeRequest m{.attempt = number(), .expected = index()};
      for (uint64_t n = random.below(4); n > 0; --n) {
        const raft::Member member{ReplicaId(1 + number() / 2), StoreId(number()), any_bytes(random, 30)};
        m.changes.push_back({static_cast<raft::MemberChange::Kind>(1 + random.below(5)), member, ReplicaId(number())});
      }
      return m;
    }
    case 20:
      return ChangeReply{number(), static_cast<raft::ChangeOutcome::Kind>(1 + random.below(12)), index(), ReplicaId(number()),
                         number()};
    case 21:
      return TransferRequest{number(), ReplicaId(number()),
                             Duration(static_cast<int64_t>(any_number(random, 86'400'000'000'000)))};
    case 23: return RecallRequest{StoreId(1 + number() / 2), BootCounter(1 + number() / 2), number()};
    case 24: {
      RecallReply m{.asked = {StoreId(1 + number() / 2), BootCounter(1 + number() / 2), number()}};
      if (random.chance(0.8))
        m.known = {m.asked.store, BootCounter(number()), number(), term(), ReplicaId(number()), {index(), term()}};
      if (m.known == PeerMark{.store = m.asked.store}) m.known = {};
      if (random.chance(0.5)) return m;
      m.settled.at = {Index(1 + number() / 4), Term(1 + number() / 4)};
      m.settled.known_in = m.settled.at.term;
      m.settled.configuration.voters = {{ReplicaId(1 + number() / 2), StoreId(number()), any_bytes(random, 20)}};
      return m;
    }
    case 22: return TransferReply{number(), static_cast<raft::TransferOutcome::Kind>(1 + random.below(6))};
    case 25: return SteppedAside{any_bytes(random, kSteppedAsideBytesMax)};
    default: {
      RenewReply m{.attempt = number()};
      for (uint64_t n = random.below(4); n > 0; --n) {
        m.groups.push_back({any_group(random), static_cast<RenewReply::Coverage>(1 + random.below(3)), any_timers(random)});
      }
      for (uint64_t n = random.below(4); n > 0; --n) {
        m.looks.push_back({TimerId(number()), Duration(static_cast<int64_t>(number() >> 1))});
      }
      return m;
    }
  }
}

constexpr size_t kAlternatives = std::variant_size_v<Message>;
static_assert(kAlternatives == 26, "a new message needs a case above, a golden line and a lane");

TEST(WireTest, EveryMessageSurvivesTheRoundTrip) {
  Random random(1);
  for (int run = 0; run < 400; ++run) {
    for (size_t i = 0; i < kAlternatives; ++i) {
      const Message message = any_message(random, i);
      ASSERT_EQ(message.index(), i);
      const std::string body = encode(message);
      const absl::StatusOr<Message> decoded = decode(body);
      ASSERT_TRUE(decoded.ok()) << i << ": " << decoded.status();
      ASSERT_TRUE(*decoded == message) << i;
      ASSERT_EQ(encode(*decoded), body) << i;
    }
  }
}

TEST(WireTest, EveryTruncationIsRefusedOrAnotherMessage) {
  Random random(2);
  for (int run = 0; run < 20; ++run) {
    for (size_t i = 0; i < kAlternatives; ++i) {
      const Message message = any_message(random, i);
      const std::string body = encode(message);
      for (size_t length = 0; length < body.size(); ++length) {
        const absl::StatusOr<Message> decoded = decode(std::string_view(body).substr(0, length));
        EXPECT_TRUE(!decoded.ok() || *decoded != message) << i << " cut at " << length;
      }
    }
  }
}

TEST(WireTest, RandomAndFlippedBytesNeverCrashAndWhatDecodesEncodes) {
  Random random(3);
  for (int run = 0; run < 20'000; ++run) {
    std::string body;
    if (random.chance(0.5)) {
      body = any_bytes(random, 100);
      if (!body.empty()) body[0] = static_cast<char>(random.below(26));
    } else {
      body = encode(any_message(random, random.below(kAlternatives)));
      for (uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
        body[random.below(body.size())] ^= static_cast<char>(1u << random.below(8));
      }
    }
    const absl::StatusOr<Message> decoded = decode(body);
    if (decoded.ok()) {
      const absl::StatusOr<Message> again = decode(encode(*decoded));
      ASSERT_TRUE(again.ok() && *again == *decoded);
    }
  }
}

TEST(WireTest, UnknownFieldsAreSkipped) {
  std::string body = encode(raft::Heartbeat{.term = Term(5), .round = 9});
  body += std::string("\x98\x06\x07", 3);  // field 99, varint
  body += std::string(
      "\xa2\x06\x03"
      "abc",
      6);  // field 100, bytes
  EXPECT_TRUE(decode(body).value() == Message(raft::Heartbeat{.term = Term(5), .round = 9}));
}

// Found by the fuzzer: protozero drops empty sub-messages, and with them the count.
TEST(WireTest, AGroupOfZerosIsStillAGroup) {
  RenewRequest request{.attempt = 1};
  request.groups.resize(3);
  request.groups[1].count = 7;
  EXPECT_TRUE(decode(encode(request)).value() == Message(request));
}

// Covers: S-32
TEST(WireTest, LooksAtTimersAreBounded) {
  RenewRequest request{.attempt = 1};
  for (uint64_t id = 1; id <= kTimerLooksMax; ++id) request.looks.emplace_back(id);
  EXPECT_TRUE(decode(encode(request)).value() == Message(request));
  request.looks.emplace_back(kTimerLooksMax + 1);
  EXPECT_EQ(decode(encode(request)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(WireTest, PayloadsOfAFrameThatIsTakenOverAreParts) {
  raft::AppendRequest append{.term = Term(1)};
  for (uint64_t i = 1; i <= 3; ++i) {
    append.entries.push_back({.index = Index(i), .term = Term(1), .payload = SharedBytes(std::string(100 * i, 'x'))});
  }
  const absl::StatusOr<Message> taken = decode_taking(encode(append));
  ASSERT_TRUE(taken.ok());
  EXPECT_TRUE(*taken == Message(append));
  const auto& entries = std::get<raft::AppendRequest>(*taken).entries;
  const char* const first = entries[0].payload.view().data();
  const char* const last = entries[2].payload.view().data();
  EXPECT_TRUE(first < last && last < first + 1000) << "they lie in one frame";

  const Forward forward{{SharedBytes(std::string(200, 'a')), SharedBytes(std::string(200, 'b'))}};
  EXPECT_TRUE(decode_taking(encode(forward)).value() == Message(forward));
  EXPECT_TRUE(decode_taking(encode(raft::Heartbeat{.term = Term(5)})).value() == Message(raft::Heartbeat{.term = Term(5)}));
  EXPECT_EQ(decode_taking("").status().code(), absl::StatusCode::kDataLoss);
}

// FLT_S02: an entry must not keep a frame full of something else alive.
TEST(WireTest, AFrameThatIsMostlySomethingElseIsLetGo) {
  raft::AppendRequest append{.term = Term(1)};
  for (uint64_t i = 1; i <= 2; ++i) append.entries.push_back({.index = Index(i), .term = Term(1), .payload = SharedBytes("x")});
  std::string body = encode(append);
  body += "\xa2\x06\xff\x7f" + std::string((1 << 14) - 1, 'j');  // field 100, bytes
  const absl::StatusOr<Message> taken = decode_taking(body);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_TRUE(*taken == Message(append));
  const auto& entries = std::get<raft::AppendRequest>(*taken).entries;
  EXPECT_FALSE(std::less()(body.data(), entries[0].payload.view().data()) &&
               std::less()(entries[0].payload.view().data(), body.data() + body.size()));
  EXPECT_GE(std::abs(entries[1].payload.view().data() - entries[0].payload.view().data()), 16) << "each is a copy of its own";
}

TEST(WireTest, UnknownMessageKindIsUnimplementedNotDataLoss) {
  EXPECT_EQ(decode("\x40").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(decode("").status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_V02
TEST(WireTest, EntryKindOfANewerVersionTravels) {
  raft::AppendRequest append{.term = Term(1)};
  append.entries.push_back({.index = Index(1), .term = Term(1), .kind = EntryKind{77}});
  EXPECT_TRUE(decode(encode(append)).value() == Message(append));
}

// ---- absurd values (FLT_S2): well-formed bytes that cannot be legitimate

std::string with_varint(char kind, uint32_t field, uint64_t value) {
  std::string body(1, kind);
  body.push_back(static_cast<char>(field << 3));
  for (; value >= 0x80; value >>= 7) body.push_back(static_cast<char>(value | 0x80));
  body.push_back(static_cast<char>(value));
  return body;
}

// Covers: FLT_S02
TEST(WireTest, ADiskWithoutAnIdentityIsNotAskedAbout) {
  EXPECT_EQ(decode(std::string("\x18\x10\x04", 3)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode(std::string("\x19\x10\x04", 3)).status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_S02
TEST(WireTest, ChangesOfMembersAreCappedAndMustSayWhom) {
  ChangeRequest request{.attempt = 1, .expected = Index(1)};
  request.changes.resize(kChangesMax, {.kind = raft::MemberChange::Kind::Remove, .member = {.id = ReplicaId(1)}});
  std::string body = encode(request);
  EXPECT_TRUE(decode(body).ok());
  body += std::string("\x1a\x04\x08\x04\x10\x01", 6);  // one more
  EXPECT_EQ(decode(body).status().code(), absl::StatusCode::kDataLoss);
  const std::string without_id("\x14\x1a\x02\x08\x04", 5);
  EXPECT_EQ(decode(without_id).status().code(), absl::StatusCode::kDataLoss);
  const std::string of_no_kind("\x14\x1a\x04\x08\x09\x10\x01", 7);
  EXPECT_EQ(decode(of_no_kind).status().code(), absl::StatusCode::kDataLoss);
  request.changes.resize(1);
  request.changes[0].member.address = std::string(1025, 'a');
  EXPECT_EQ(decode(encode(request)).status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_S02
TEST(WireTest, AnswersWithoutOutcomeAndTransfersWithoutEndAreRefused) {
  for (const char kind : {'\x15', '\x17'}) {
    EXPECT_EQ(decode(with_varint(kind, 1, 7)).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(decode(with_varint(kind, 2, kind == 21 ? 13 : 7)).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(decode(with_varint(22, 3, ~uint64_t{0})).status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_S02
TEST(WireTest, TermOrIndexNearTheEndOfTheNumbersIsRefused) {
  for (const uint64_t value : {~uint64_t{0}, uint64_t{1} << 63, kPositionMax + 1}) {
    EXPECT_EQ(decode(with_varint(5, 1, value)).status().code(), absl::StatusCode::kDataLoss);   // Heartbeat.term
    EXPECT_EQ(decode(with_varint(4, 4, value)).status().code(), absl::StatusCode::kDataLoss);   // AppendReply.match
    EXPECT_EQ(decode(with_varint(11, 3, value)).status().code(), absl::StatusCode::kDataLoss);  // ReadIndexReply.read_index
  }
  raft::AppendRequest append{.term = Term(1), .previous = {Index(kPositionMax), Term(1)}};
  EXPECT_EQ(decode(encode(append)).status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_S02
TEST(WireTest, ClaimedLengthBeyondTheBytesIsRefusedWithoutAllocation) {
  std::string body("\x08\x0a\xff\xff\xff\xff\x0f", 7);  // Forward with a command of 2^32-1 bytes
  EXPECT_EQ(decode(body).status().code(), absl::StatusCode::kDataLoss);
}

// Covers: FLT_S02
TEST(WireTest, MoreCommandsThanTheLimitAreRefused) {
  std::string body(1, '\x08');
  for (size_t n = 0; n <= kForwardCommandsMax; ++n) body += std::string_view("\x0a\x00", 2);
  EXPECT_EQ(decode(body).status().code(), absl::StatusCode::kDataLoss);
  body.resize(body.size() - 2);
  EXPECT_EQ(std::get<Forward>(decode(body).value()).commands.size(), kForwardCommandsMax);
}

// Covers: FLT_S02
TEST(WireTest, TimerListsAreCappedOverAllGroupsTogether) {
  RenewReply reply;
  for (int g = 0; g < 2; ++g) {
    RenewReply::Group group{.group = {.node = ReplicaId(1)}};
    for (uint64_t id = 1; id <= kTimersListedMax / 2 + 1; ++id) group.listed.emplace_back(id);
    reply.groups.push_back(std::move(group));
  }
  EXPECT_EQ(decode(encode(reply)).status().code(), absl::StatusCode::kDataLoss);
  for (RenewReply::Group& group : reply.groups) group.listed.pop_back();
  EXPECT_TRUE(decode(encode(reply)).value() == Message(reply));
}

TEST(WireTest, TimersThatDoNotAscendAreRefused) {
  const std::string twice("\x0d\x12\x04\x32\x02\x05\x00", 7);  // RenewReply.groups[0].listed = {5, 5}
  EXPECT_EQ(decode(twice).status().code(), absl::StatusCode::kDataLoss);
}

TEST(WireTest, EntriesWhoseTermsAreOutOfOrderAreRefused) {
  raft::AppendRequest append{.term = Term(5), .previous = {Index(3), Term(4)}};
  append.entries.push_back({.index = Index(4), .term = Term(3)});
  EXPECT_EQ(decode(encode(append)).status().code(), absl::StatusCode::kDataLoss);
  append.entries[0].term = Term(6);
  EXPECT_EQ(decode(encode(append)).status().code(), absl::StatusCode::kDataLoss);
  append.entries[0].term = Term(5);
  EXPECT_TRUE(decode(encode(append)).ok());
}

TEST(WireTest, EncodingAnAppendWithAGapFailsTheCheck) {
  raft::AppendRequest append{.term = Term(5), .previous = {Index(3), Term(4)}};
  append.entries.push_back({.index = Index(5), .term = Term(5)});
  EXPECT_THROW(encode(append), CheckFailure);
}

// Whatever leaves after whatever else: the same bytes as one by one.
TEST(WireTest, MessagesThatLeaveTogetherAreEncodedAsEachByItself) {
  Random random(31);
  MessageEncoder encoder;
  for (int round = 0; round < 300; ++round) {
    raft::AppendRequest append = any_append(random);
    for (uint64_t peers = random.below(4); peers > 0; --peers) {
      append.stream = random();
      append.round = random();
      append.commit = any_index(random);
      EXPECT_EQ(encoder.encode(append), encode(append));
      const raft::TimeoutNow between{append.term};
      if (random.chance(0.3)) {
        EXPECT_EQ(encoder.encode(between), encode(between));
      }
      if (random.chance(0.3) && !append.entries.empty()) append.entries.pop_back();
    }
  }
}

TEST(WireTest, EntriesThatGoToSeveralPeersAreEncodedOnce) {
  raft::AppendRequest append{.term = Term(1)};
  append.entries.push_back({.index = Index(1), .term = Term(1), .payload = SharedBytes("first")});
  MessageEncoder encoder;
  const std::string body = encoder.encode(append);
  append.entries[0].payload = SharedBytes("no leader does this, and it shows that nobody looked");
  EXPECT_EQ(encoder.encode(append), body);
}

TEST(WireTest, ContentSumTravelsVerbatimEvenWhenWrong) {
  raft::AppendRequest append{.term = Term(1)};
  append.entries.push_back({.index = Index(1), .term = Term(1), .content_sum = 1234, .payload = SharedBytes("rot")});
  const Message decoded = decode(encode(append)).value();
  const Entry& entry = std::get<raft::AppendRequest>(decoded).entries[0];
  EXPECT_EQ(entry.content_sum, 1234u);
  EXPECT_FALSE(content_intact(kOnlyGroup, entry));
}

TEST(WireTest, EncodingAnAppendAllocatesOnce) {
  raft::AppendRequest append{.term = Term(9), .previous = {Index(100), Term(9)}};
  for (uint64_t i = 101; i < 165; ++i) {
    append.entries.push_back(
        {.index = Index(i), .term = Term(9), .content_sum = i, .payload = SharedBytes(std::string(256, 'x'))});
  }
  const std::string body = encode(append);
  EXPECT_LE(body.capacity(), body.size() + 96 + size_t{6} * 64);  // reserved, never doubled
}

// ---- lanes

TEST(WireTest, OnlyAppendsForwardsGenesisAndStatesAreBulk) {
  Random random(4);
  for (size_t i = 0; i < kAlternatives; ++i) {
    const bool bulk = i == 2 || i == 6 || i == 7 || i == 17;
    EXPECT_EQ(lane_of(any_message(random, i)), bulk ? Lane::Bulk : Lane::Control) << i;
  }
}

// ---- pinned bytes. A change here is a change of the wire: see docs and proto first.

Message golden_message(size_t alternative) {
  const TimerGroup group{ReplicaId(2), BootCounter(3), 0x1122334455667788, std::chrono::seconds(5)};
  switch (alternative) {
    case 0: return raft::VoteRequest{raft::VoteKind::Real, Term(7), 3, {Index(300), Term(6)}};
    case 1: return raft::VoteReply{raft::VoteKind::Pre, Term(7), 3, Answer::Yes};
    case 2: {
      raft::AppendRequest m{Term(7), 42, {Index(300), Term(6)}, 0x0f1e2d3c4b5a6978, Index(302), {}, Index(299), Index(200), 12};
      m.entries.push_back({Index(301), Term(7), EntryKind::LeaderStart, 0x0123456789abcdef, SharedBytes()});
      m.entries.push_back({Index(302), Term(7), EntryKind::Command, 0xfedcba9876543210, SharedBytes("acquire billing")});
      return m;
    }
    case 3:
      return raft::AppendReply{Term(7), 42, raft::AppendVerdict::Conflict, Index(0), {Index(250), Term(5)}, Index(300), 12};
    case 4: return raft::Heartbeat{Term(7), 42, Index(299), Index(200), 13, Index(305), {Index(304), Term(6)}};
    case 5: return raft::HeartbeatReply{Term(7), 42, Index(302), 13};
    case 6:
      return GenesisOffer{{ClusterId(99),
                           uint64_t{7} << 31,
                           {.voters = {{ReplicaId(1), StoreId(11), "a:1"}, {ReplicaId(2), StoreId(12), "b:2"}}}}};
    case 7: return Forward{{SharedBytes("one"), SharedBytes(), SharedBytes("three")}};
    case 8: return Refusal{Refusal::Why::NoRoom, Term(7), ReplicaId(1)};
    case 9: return ReadIndexRequest{77};
    case 10: return ReadIndexReply{77, Answer::Yes, Index(302)};
    case 11:
      return RenewRequest{5,
                          kCoordination,
                          {{group, TimerId(1000), 3, 0xaabbccdd, {TimerId(7), TimerId(9)}}},
                          {TimerId(5), TimerId(7)},
                          Index(299)};
    case 13: return raft::TimeoutNow{Term(7)};
    case 14: return raft::Removed{Term(7), {Index(290), Term(6)}};
    case 15: return StateOffer{Term(7), {Index(4096), Term(6)}, 0x1122334455667788};
    case 16: return StateRequest{Term(7), {Index(4096), Term(6)}, {"a", "b"}, 0x99};
    case 17: return StateChunk{Term(7), {Index(4096), Term(6)}, {{"a", "c"}, 0x1122, false, {{"b", "row"}, {"c", ""}}}};
    case 18: return StateLoading{Term(7), {Index(4096), Term(6)}};
    case 19: {
      using Kind = raft::MemberChange::Kind;
      return ChangeRequest{(uint64_t{3} << 32) + 1,
                           Index(290),
                           {{Kind::AddLearner, {ReplicaId(4), StoreId(0x1122334455667788), "d:4"}, ReplicaId()},
                            {Kind::Replace, {ReplicaId(5), StoreId(15), "e:5"}, ReplicaId(2)},
                            {Kind::Remove, {ReplicaId(3), StoreId(), ""}, ReplicaId()}}};
    }
    case 20: return ChangeReply{(uint64_t{3} << 32) + 1, raft::ChangeOutcome::Kind::LearnerLags, Index(), ReplicaId(4), 12345};
    case 21: return TransferRequest{(uint64_t{3} << 32) + 2, ReplicaId(2), std::chrono::seconds(1)};
    case 22: return TransferReply{(uint64_t{3} << 32) + 2, raft::TransferOutcome::Kind::Expired};
    case 25: return SteppedAside{"rotten"};
    case 23: return RecallRequest{StoreId(0x1122334455667788), BootCounter(4), 0x99};
    case 24: {
      const StoreId store(0x1122334455667788);
      return RecallReply{{store, BootCounter(4), 0x99},
                         {store, BootCounter(3), 0x98, Term(7), ReplicaId(2), {Index(302), Term(6)}}};
    }
    default:
      return RenewReply{
          5, {{group, RenewReply::Coverage::AllExcept, {TimerId(9), TimerId(1000)}}}, {{TimerId(7), Duration(300)}}};
  }
}

TEST(WireTest, BytesAreTheGoldenOnes) {
  std::ifstream file(source_dir() + "/tests/proof/golden/wire_messages.hex");
  std::stringstream golden;
  golden << file.rdbuf();
  std::string now;
  for (size_t i = 0; i < kAlternatives; ++i) now += hex(encode(golden_message(i))) + "\n";
  now += hex(encode(raft::VoteRequest{raft::VoteKind::Real, Term(7), 3, {Index(300), Term(6)}, raft::Cause::Transfer})) + "\n";
  GenesisOffer invitation = std::get<GenesisOffer>(golden_message(6));
  invitation.invited = StoreId(0x99);
  now += hex(encode(invitation)) + "\n";
  EXPECT_EQ(golden.str(), now);
}

}  // namespace
}  // namespace coordkit
