#include <gtest/gtest.h>

#include "base/random.h"
#include "machine/command.h"
#include "machine/keys/kv_codec.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

const RequestId kSomeRequest{{ReplicaId(2), StoreId(0xfeedULL << 40), BootCounter(3)}, Sequence(77)};

RangeOperation every_option() {
  return {.key = "a",
          .end = "b",
          .revision = Revision(3),
          .limit = 4,
          .sort_by = SortTarget::Value,
          .order = SortOrder::Descending,
          .keys_only = true,
          .count_only = true,
          .mod_min = Revision(5),
          .mod_max = Revision(6),
          .create_min = Revision(7),
          .create_max = Revision(8)};
}

Transaction every_operation() {
  return {{Compare::exists("a"),
           Compare::value_of("a", Compare::Relation::Less, "v"),
           Compare::lock_held("n", Token(5)),
           {.key = "a", .end = "b", .target = Compare::Target::Lease, .relation = Compare::Relation::NotEqual, .number = 4}},
          {every_option(), Put{"k", "v"}, Delete{"l", "m", true}},
          {Transaction{{}, {RangeOperation::of("x")}, {}}}};
}

std::vector<Request> requests() {
  return {
      {.body = OpenSession{5s, "meta", ReplicaId(1), BootCounter(2), 9}},
      {.body = OpenSession{5s, "", ReplicaId(1), BootCounter(2), 9, lease::hash_of_secret("s")}},
      {.body = ResumeSession{SessionId(4), "s", true}},
      {.body = ResumeSession{SessionId(4), std::string(kSecretBytesMax, 's'), false}},
      {.body = KillSession{SessionId(4)}},
      {.body = ForceRelease{"name", Token(9)}},
      {.body = CloseSession{SessionId(4)}},
      {.body = Acquire{SessionId(4), "tag", "name", Wait::timed(2s), {"value"}, 0}, .prior_releases = {{"other", Token(8)}}},
      {.body = Acquire{SessionId(4), "", std::string("\0n", 2), Wait::none(), {}, 0}},
      {.body = Acquire{SessionId(4), "", "n", Wait::forever(), {}, 0}},
      {.body = Release{SessionId(4), std::nullopt, "name", Token(9)}},
      {.body = Release{SessionId(4), "", "name", Token(9)}},
      {.body = CancelAcquire{SessionId(4), "tag", "name", kSomeRequest}},
      {.body = Acquire{SessionId(4), "", "n", Wait::none(), {}, kReentrant | kNoDeadlockCheck, LockMode::Shared, 60s}},
      {.body = AcquireAll{SessionId(4), "t", {{"a"}, {"b", LockMode::Shared}}, Wait::timed(1s), {"v"}, kNoDeadlockCheck, 1ns}},
      {.body = Release{SessionId(4), "", "name", Token(9), 3}, .prior_releases = {{"other", Token(8), 2}}},
      {.body = Downgrade{SessionId(4), "t", "name", Token(9)}},
      {.body = Upgrade{SessionId(4), std::nullopt, "name", Token(9)}},
      {.body = UpdateValue{SessionId(4), "", "name", Token(9), "v"}},
      {.body = UpdateValue{SessionId(4), std::nullopt, "name", Token(9), ""}},
      {.body = ClearDelay{"name"}},
      {.body = Acquire{SessionId(4), "", "n", Wait::none(), {}, 0, LockMode::Exclusive, {}, kTokenBlockMax}},
      {.body = RefillBlock{SessionId(4), "name", Token(9)}, .prior_releases = {{"other", Token(8)}}},
      {.body = Put{"key", std::string(1000, 'v')}},
      {.body = Delete{"key"}},
      {.body = Put{.key = "key", .value = "", .lease = LeaseId(5), .ignore_value = true, .previous = true}},
      {.body = Put{.key = "key", .value = "", .ignore_lease = true}},
      {.body = Put{.key = "key", .value = "v", .sequential = true}},
      {.body = Delete{"key", std::string(1, '\0'), true}},
      {.body = Transaction{}},
      {.body = every_operation()},
      {.body = Compact{Revision(7)}},
      {.body = GrantLease{LeaseId(~uint64_t{0}), 5s, ReplicaId(1), BootCounter(2), 9}},
      {.body = RenewLease{LeaseId(7)}},
      {.body = SetPermissions{.remote = "billing", .list = {{"", Right::Read}, {"orders/", Right::Admin}}}},
      {.body = SetPermissions{}},
      {.body = SetPermissions{.remote = "billing", .list = {}, .remove = true}},
      {.body = SetKeyQuota{}},
      {.body = SetKeyQuota{uint64_t{1} << 40}},
      {.body = RevokeLease{}},
      {.body = RevokeLease{LeaseId(7), SessionId(9)}},
      {.body = SetSemaphoreLimit{SessionId(4), "s", 0}},
      {.body = AcquirePermits{SessionId(4), "s", Wait::timed(2s), 3, 0}, .prior_releases = {{"other", Token(8)}}},
      {.body = AcquirePermits{SessionId(4), "s", Wait::forever(), 3, std::nullopt}},
      {.body = DeleteSemaphore{SessionId(4), "s"}},
      {.body = CreateLatch{SessionId(4), "l", 2}},
      {.body = CountDown{SessionId(4), "l", 1}},
      {.body = AwaitLatch{SessionId(4), "l", Wait::none()}},
      {.body = DeleteLatch{SessionId(4), "l"}},
      {.body = CloseBarrier{SessionId(4), "b", AtSessionEnd::Breaks}},
      {.body = OpenBarrier{SessionId(4), "b"}},
      {.body = AwaitBarrier{SessionId(4), "b", Wait::forever()}},
      {.body = EnterBarrier{SessionId(4), "d", Wait::forever(), 3, AtPartyEnd::Shrinks}},
      {.body = LeaveBarrier{SessionId(4), "d", Wait::timed(1s), Token(7)}},
      {.body = Enqueue{"q", -3, "item"}},
      {.body = ClaimItem{SessionId(4), "q", Wait::forever(), 5s}},
      {.body = AcknowledgeItem{SessionId(4), "q", Token(7)}},
      {.body = ChangeCounter{"c", ChangeCounter::Operation::CompareAndSet, -5, INT64_MIN}},
      {.body = ChangeCounter{"c", ChangeCounter::Operation::Delete, 0, 0}},
      {.body = JoinGroup{SessionId(4), "tag", "g", "value"}},
      {.body = UpdateMember{SessionId(4), "", "g", "value"}},
      {.body = LeaveGroup{SessionId(4), "tag", "g"}},
  };
}

OperationReply every_reply() {
  const KeyValue entry{"k", "v", Revision(2), Revision(3), 4, LeaseId(5)};
  const TransactionReply reply{true,
                               {{RangeReply{{entry, {}}, true, 9}},
                                {PutReply{"key", entry}},
                                {PutReply{"", KeyValue{}}},
                                {DeleteReply{2, {entry, entry}}},
                                {std::vector<TransactionReply>{TransactionReply{}}},
                                {PutReply{}}}};
  return {std::vector<TransactionReply>{reply}};
}

TEST(CodecTest, EveryRequestSurvivesTheRoundTripAndIsValid) {
  for (const Request& request : requests()) {
    EXPECT_EQ(decode_request(encode(request)).value(), request);
    EXPECT_EQ(validate(request), ResultCode::Ok) << request.body.index();
  }
}

TEST(CodecTest, ResultsEventsAndRepliesSurviveTheRoundTrip) {
  const Result result{ResultCode::Granted, Revision(3), Token(~0ULL >> 1), Index(9), SessionId(2), 50ms, 4, 1, true};
  EXPECT_EQ(decode_result(encode(result)).value(), result);
  const Event event = SessionEnded{SessionId(3), SessionEnded::Reason::Expired, ReplicaId(7)};
  EXPECT_EQ(decode_event(encode(event)).value(), event);
  for (const Event& each :
       {Event(SessionResumed{SessionId(3), ReplicaId(1), BootCounter(2), 9, ReplicaId(8)}),
        Event(SessionEnding{SessionId(3), ReplicaId(7)}), Event(DelegationAsked{SessionId(3), "n", Token(4)})}) {
    EXPECT_EQ(decode_event(encode(each)).value(), each);
  }
  const Result claimed{.code = ResultCode::Granted, .id = Index(4), .number = -1, .swapped = true, .value = "item"};
  EXPECT_EQ(decode_result(encode(claimed)).value(), claimed);
  const Event change = coordination::Change{
      coordination::Kind::Group, coordination::Change::What::Left, "g", -2, Index(3), SessionId(4), "owner", "value"};
  EXPECT_EQ(decode_event(encode(change)).value(), change);
  const Result refused{.code = ResultCode::Compacted, .reply = encode(every_reply()), .compacted = Revision(8)};
  EXPECT_EQ(decode_result(encode(refused)).value(), refused);
  EXPECT_EQ(decode_operation_reply(encode(every_reply())).value(), every_reply());
}

TEST(CodecTest, NoTruncationOrFlippedByteOfARequestCrashes) {
  std::vector<std::string> encoded;
  for (const Request& request : requests()) encoded.push_back(encode(request));
  Random random(1);
  for (const std::string& bytes : encoded) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      (void)decode_request(std::string_view(bytes).substr(0, length));
    }
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = bytes;
      damaged[random.below(damaged.size())] = static_cast<char>(random());
      if (const auto request = decode_request(damaged); request.ok()) (void)validate(*request);
      (void)decode_result(damaged);
      (void)decode_event(damaged);
      (void)decode_operation_reply(damaged);
    }
  }
}

TEST(CodecTest, UnknownFieldsAreSkippedAndAnUnknownKindIsUnsupported) {
  const Request put{.body = Put{"k", "v"}};
  const std::string unknown = "\xf2\x3f\x03xyz";  // field 1022, three bytes
  EXPECT_EQ(decode_request(unknown + encode(put)).value(), put);
  EXPECT_EQ(validate(decode_request(unknown).value()), ResultCode::Unsupported);
  EXPECT_EQ(validate(decode_request("").value()), ResultCode::Unsupported);
}

TEST(CodecTest, LimitsOfSection12AreRefusedAtTheDoor) {
  const auto acquire = [](Acquire body) { return validate({.body = std::move(body)}); };
  const SessionId s(1);
  EXPECT_EQ(acquire({s, "", std::string(kNameBytesMax, 'n'), {}, {}, 0}), ResultCode::Ok);
  EXPECT_EQ(acquire({s, "", std::string(kNameBytesMax + 1, 'n'), {}, {}, 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, "", "", {}, {}, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {}, {std::string(kHoldValue.bytes_max + 1, 'v')}, 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, std::string(kOwnerTagBytesMax + 1, 't'), "n", {}, {}, 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, "", "n", {}, {}, kAcquireFlags + 1}), ResultCode::Unsupported);
  EXPECT_EQ(acquire({s, "", "n", Wait::timed(0ns), {}, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {Wait::Kind::None, -1ns}, {}, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {Wait::Kind(9), 0ns}, {}, 0}), ResultCode::Unsupported);
  EXPECT_EQ(acquire({{}, "", "n", {}, {}, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(validate({.body = Put{"", "v"}}), ResultCode::EmptyKey);
  EXPECT_EQ(validate({.body = Delete{""}}), ResultCode::EmptyKey);
  EXPECT_EQ(validate({.body = Put{std::string(kKeyBytesMax + 1, 'k'), ""}}), ResultCode::LimitExceeded);
  EXPECT_EQ(validate({.body = Put{"k", std::string(kValueBytesMax + 1, 'v')}}), ResultCode::LimitExceeded);
  EXPECT_EQ(validate({.body = Put{"k", "v"}, .prior_releases = {{"n", Token(1)}}}), ResultCode::InvalidArgument);
  Request many{.body = CloseSession{s}};
  many.prior_releases.assign(kPriorReleasesMax + 1, {"n", Token(1)});
  EXPECT_EQ(validate(many), ResultCode::LimitExceeded);
  EXPECT_FALSE(decode_request(encode(many)).ok());
}

TEST(CodecTest, AmountsAndKindsOfCoordinationAreCheckedAtTheEntrance) {
  const auto code = [](CoordinationCommand body) { return validate({.body = std::move(body)}); };
  const SessionId s(1);
  const uint64_t huge = uint64_t{1} << 63;
  EXPECT_EQ(code(SetSemaphoreLimit{s, "n", 0}), ResultCode::Ok);
  EXPECT_EQ(code(SetSemaphoreLimit{s, "n", huge}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(SetSemaphoreLimit{s, "", 1}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(SetSemaphoreLimit{s, std::string(kNameBytesMax + 1, 'n'), 1}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(SetSemaphoreLimit{{}, "n", 1}), ResultCode::InvalidArgument) << "it needs a session";
  EXPECT_EQ(code(AcquirePermits{s, "n", {}, 0, {}}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(AcquirePermits{s, "n", {}, huge, {}}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(AcquirePermits{s, "n", {}, 1, huge}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(AcquirePermits{s, "n", Wait::timed(0ns), 1, {}}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(AcquirePermits{s, "n", {Wait::Kind::Forever, 1ns}, 1, {}}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(AcquirePermits{s, "n", {Wait::Kind(0), 0ns}, 1, {}}), ResultCode::Unsupported);
  EXPECT_EQ(code(CreateLatch{s, "n", 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(CountDown{s, "n", 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(CloseBarrier{s, "n", AtSessionEnd(3)}), ResultCode::Unsupported);
  EXPECT_EQ(code(EnterBarrier{s, "n", {}, 0, AtPartyEnd::Breaks}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(EnterBarrier{s, "n", {}, 1, AtPartyEnd(0)}), ResultCode::Unsupported);
  EXPECT_EQ(code(LeaveBarrier{s, "n", {}, {}}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(Enqueue{"n", 0, std::string(kItemBytesMax + 1, 'v')}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(ClaimItem{s, "n", {}, -1ns}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(AcknowledgeItem{s, "n", {}}), ResultCode::InvalidArgument);
  using Operation = ChangeCounter::Operation;
  EXPECT_EQ(code(ChangeCounter{"n", Operation::Allocate, 0, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(ChangeCounter{"n", Operation::Delete, 1, 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(ChangeCounter{"n", Operation::Add, 1, 1}), ResultCode::InvalidArgument);
  EXPECT_EQ(code(ChangeCounter{"n", Operation(6), 1, 0}), ResultCode::Unsupported);
  EXPECT_EQ(code(JoinGroup{s, std::string(kOwnerTagBytesMax + 1, 't'), "n", ""}), ResultCode::LimitExceeded);
  EXPECT_EQ(code(JoinGroup{s, "", "n", std::string(kMemberValueBytesMax + 1, 'v')}), ResultCode::LimitExceeded);
}

// Covers: S-53 S-40
TEST(CodecTest, WhatAnAcquireMustBeIsJudgedAtTheDoor) {
  const SessionId s(1);
  const auto many = [&](size_t count, uint64_t flags = 0) {
    AcquireAll body{.session = s, .owner_tag = "", .locks = {}, .wait = {}, .texts = {}, .flags = flags};
    for (size_t i = 0; i < count; ++i) body.locks.push_back({std::to_string(i)});
    return body;
  };
  EXPECT_EQ(validate({.body = many(kLocksMax)}), ResultCode::Ok);
  EXPECT_EQ(validate({.body = many(kLocksMax + 1)}), ResultCode::LimitExceeded);
  EXPECT_EQ(validate(decode_request(encode({.body = many(500)})).value()), ResultCode::LimitExceeded);
  EXPECT_EQ(validate({.body = many(0)}), ResultCode::InvalidArgument);
  EXPECT_EQ(validate({.body = many(2, kReentrant)}), ResultCode::InvalidArgument);
  AcquireAll twice = many(3);
  twice.locks.push_back({"1", LockMode::Shared});
  EXPECT_EQ(validate({.body = twice}), ResultCode::InvalidArgument);
  twice.locks.back() = {"", LockMode::Shared};
  EXPECT_EQ(validate({.body = twice}), ResultCode::InvalidArgument);
  twice.locks.back() = {"q", LockMode(3)};
  EXPECT_EQ(validate({.body = twice}), ResultCode::Unsupported);
  const auto single = [&](LockMode mode, Duration delay) {
    return validate({.body = Acquire{s, "", "n", {}, {}, 0, mode, delay}});
  };
  EXPECT_EQ(single(LockMode::Shared, kLockDelayMax), ResultCode::Ok);
  EXPECT_EQ(single(LockMode(3), 0s), ResultCode::Unsupported);
  EXPECT_EQ(single(LockMode::Exclusive, kLockDelayMax + 1ns), ResultCode::InvalidArgument);
  EXPECT_EQ(single(LockMode::Exclusive, -1ns), ResultCode::InvalidArgument);
  EXPECT_EQ(validate({.body = UpdateValue{s, std::nullopt, "n", Token(1), std::string(kHoldValue.bytes_max + 1, 'v')}}),
            ResultCode::LimitExceeded);
  EXPECT_EQ(validate({.body = Upgrade{s, std::nullopt, "n", Token()}}), ResultCode::InvalidArgument);
  EXPECT_EQ(validate({.body = ClearDelay{""}}), ResultCode::InvalidArgument);
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(byte) >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

// Other replicas have these bytes in their logs and checkpoints.
TEST(CodecTest, BytesOfTheLockCommandsArePinned) {
  const SessionId s(4);
  EXPECT_EQ(hex(encode({.body = Acquire{s, "t", "n", Wait::timed(1ns), {"v"}, 1, LockMode::Shared, 2ns}})),
            "221508041201741a016e20022802320176380140024804");
  EXPECT_EQ(hex(encode({.body = AcquireAll{s, "", {{"a"}, {"b", LockMode::Shared}}, Wait::forever(), {}, 0, 0ns}})),
            "a2011008041a030a01611a050a016210022003");
  EXPECT_EQ(hex(encode({.body = Release{s, std::nullopt, "n", Token(9), 2}, .prior_releases = {{"m", Token(8), 1}}})),
            "0a070a016d100818012a0908041a016e20092802");
  EXPECT_EQ(hex(encode({.body = Downgrade{s, "", "n", Token(9)}})), "aa0109080412001a016e2009");
  EXPECT_EQ(hex(encode({.body = Upgrade{s, std::nullopt, "n", Token(9)}})), "b2010708041a016e2009");
  EXPECT_EQ(hex(encode({.body = UpdateValue{s, std::nullopt, "n", Token(9), "v"}})), "ba010a08041a016e20092a0176");
  EXPECT_EQ(hex(encode({.body = ClearDelay{"n"}})), "c201030a016e");
}

TEST(CodecTest, BytesOfTheCommandsOfKeysArePinned) {
  const auto hex = [](const std::string& bytes) {
    std::string out;
    for (const char byte : bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += kDigits[static_cast<uint8_t>(byte) >> 4];
      out += kDigits[byte & 15];
    }
    return out;
  };
  EXPECT_EQ(hex(encode({.body = Put{"k", "v"}})), "8201060a016b120176");
  EXPECT_EQ(hex(encode({.body = Put{"k", "v", LeaseId(5), true, true, true, true}})), "8201100a016b12017618052001280130013801");
  EXPECT_EQ(hex(encode({.body = Delete{"a", "b", true}})), "8a01080a01611201621801");
  EXPECT_EQ(hex(encode({.body = Compact{Revision(7)}})), "8a05020807");
  EXPECT_EQ(hex(encode({.body = GrantLease{LeaseId(7), 1ns, ReplicaId(1), BootCounter(2), 3}})), "a2050a08071002180120022803");
  EXPECT_EQ(hex(encode({.body = RenewLease{LeaseId(7)}})), "aa05020807");
  EXPECT_EQ(hex(encode({.body = SetKeyQuota{7}})), "ba05020807");
  EXPECT_EQ(hex(encode({.body = SetPermissions{"r", {{"p", Right::Lock}}}})),
            "f2060a0a01721205"
            "0a01701003");
  EXPECT_EQ(hex(encode({.body = RevokeLease{LeaseId(7), SessionId(9)}})), "b2050408071009");
  EXPECT_EQ(hex(encode({.body = Transaction{{Compare::value_of("k", Compare::Relation::Less, "v")},
                                            {Put{"k", "w"}, Delete{"d"}},
                                            {RangeOperation::of("k"), Transaction{}}}})),
            "8205280a0a0a016b18042003320176120812060a016b12017712051a030a01641a050a030a016b1a022200");
  EXPECT_EQ(hex(encode({.body = Transaction{{}, {every_option()}, {}}})),
            "82051e121c0a1a0a01611201621803200828043002380140014805500658076008");
}

TEST(CodecTest, ATransactionNestedBeyondReasonIsMalformedAndUsesNoStack) {
  Transaction deep;
  for (int i = 0; i < 16; ++i) deep = Transaction{{}, {std::move(deep)}, {}};
  EXPECT_EQ(decode_request(encode({.body = deep})).status().code(), absl::StatusCode::kInvalidArgument);
  deep = Transaction();
  for (int i = 0; i < 15; ++i) deep = Transaction{{}, {std::move(deep)}, {}};
  EXPECT_EQ(validate(decode_request(encode({.body = deep})).value()), ResultCode::TooManyOps);
}

TEST(CodecTest, BytesOfTheCoordinationCommandsArePinned) {
  const SessionId s(4);
  EXPECT_EQ(hex(encode(Request{.body = SetSemaphoreLimit{s, "s", 3}})), "c2020708041201731803");
  EXPECT_EQ(hex(encode(Request{.body = AcquirePermits{s, "s", Wait::timed(1ns), 2, 5}})),
            "ca020f08041201731a040802100220022805");
  EXPECT_EQ(hex(encode(Request{.body = EnterBarrier{s, "d", Wait::forever(), 2, AtPartyEnd::Shrinks}})),
            "92030d08041201641a02080320022802");
  EXPECT_EQ(hex(encode(Request{.body = Enqueue{"q", -1, "v"}})), "a203080a017110011a0176");
  EXPECT_EQ(hex(encode(Request{.body = ClaimItem{s, "q", Wait::none(), 1ns}})), "aa030b08041201711a0208012002");
  EXPECT_EQ(hex(encode(Request{.body = ChangeCounter{"c", ChangeCounter::Operation::CompareAndSet, 1, -1}})),
            "ba03090a0163100318022001");
  EXPECT_EQ(hex(encode(Request{.body = JoinGroup{s, "t", "g", "v"}})), "c2030b08041201741a0167220176");
}

// Covers: S-29 REG_F22
TEST(CodecTest, TtlBoundsAreJudgedWithoutOverflow) {
  const auto open = [](Duration ttl) { return validate({.body = OpenSession{ttl, "", ReplicaId(1), BootCounter(1), 1}}); };
  EXPECT_EQ(open(0ns), ResultCode::InvalidArgument);
  EXPECT_EQ(open(-1ns), ResultCode::InvalidArgument);
  EXPECT_EQ(open(Duration::min()), ResultCode::InvalidArgument);
  EXPECT_EQ(open(1ns), ResultCode::Ok);
  EXPECT_EQ(open(kTtlMax), ResultCode::Ok);
  EXPECT_EQ(open(kTtlMax + 1ns), ResultCode::TtlTooLarge);
  EXPECT_EQ(open(Duration::max()), ResultCode::TtlTooLarge);
}

TEST(CodecTest, EveryCodeHasAReasonAStatusAndAnOutcome) {
  for (int code = 1; code < 256; ++code) {
    const ResultCode each{static_cast<uint8_t>(code)};
    if (reason_of(each) == "Unknown") continue;
    EXPECT_EQ(status_code_of(each) == absl::StatusCode::kOk, code <= 3) << code;
  }
  EXPECT_EQ(reason_of(ResultCode::CounterOverflow), "CounterOverflow");
  EXPECT_EQ(outcome_of(ResultCode::WaitTimeout), ResultOutcome::Done);
  EXPECT_EQ(outcome_of(ResultCode::Held), ResultOutcome::None);
}

}  // namespace
}  // namespace coordkit::machine
