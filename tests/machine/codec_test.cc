#include <gtest/gtest.h>

#include "base/random.h"
#include "machine/command.h"
#include "machine/query.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

const RequestId kSomeRequest{{ReplicaId(2), StoreId(0xfeedULL << 40), BootCounter(3)}, Sequence(77)};

std::vector<Request> requests() {
  return {
      {.body = OpenSession{5s, "meta", ReplicaId(1), BootCounter(2), 9}},
      {.body = CloseSession{SessionId(4)}},
      {.body = Acquire{SessionId(4), "tag", "name", Wait::timed(2s), "value", 0}, .prior_releases = {{"other", Token(8)}}},
      {.body = Acquire{SessionId(4), "", std::string("\0n", 2), Wait::none(), "", 0}},
      {.body = Acquire{SessionId(4), "", "n", Wait::forever(), "", 0}},
      {.body = Release{SessionId(4), std::nullopt, "name", Token(9)}},
      {.body = Release{SessionId(4), "", "name", Token(9)}},
      {.body = CancelAcquire{SessionId(4), "tag", "name", kSomeRequest}},
      {.body = Put{"key", std::string(1000, 'v')}},
      {.body = Delete{"key"}},
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

std::vector<Query> queries() {
  return {HoldersQuery{"n"},
          QueueQuery{"n", 3},
          SessionQuery{SessionId(5)},
          SessionsQuery{{}, 7},
          LocksOfQuery{SessionId(5)},
          TokenStillHeldQuery{"n", Token(6)},
          GetQuery{"k"},
          RangeQuery{"a", std::string(1, '\0'), 10},
          ObjectQuery{coordination::Kind::Semaphore, "s", 0},
          ObjectQuery{coordination::Kind::Group, "g", 7}};
}

TEST(CodecTest, EveryRequestSurvivesTheRoundTripAndIsValid) {
  for (const Request& request : requests()) {
    EXPECT_EQ(decode_request(encode(request)).value(), request);
    EXPECT_EQ(validate(request), ResultCode::Ok) << request.body.index();
  }
}

TEST(CodecTest, EveryQuerySurvivesTheRoundTrip) {
  for (const Query& query : queries()) EXPECT_EQ(decode_query(encode(query)).value(), query);
}

TEST(CodecTest, ResultsEventsAndRepliesSurviveTheRoundTrip) {
  const Result result{ResultCode::Granted, Revision(3), Token(~0ULL >> 1), Index(9), SessionId(2), 50ms, 4, 1};
  EXPECT_EQ(decode_result(encode(result)).value(), result);
  const Event event = SessionEnded{SessionId(3), SessionEnded::Reason::Expired};
  EXPECT_EQ(decode_event(encode(event)).value(), event);
  const Result claimed{.code = ResultCode::Granted, .id = Index(4), .number = -1, .swapped = true, .value = "item"};
  EXPECT_EQ(decode_result(encode(claimed)).value(), claimed);
  const Event change = coordination::Change{
      coordination::Kind::Group, coordination::Change::What::Left, "g", -2, Index(3), SessionId(4), "owner", "value"};
  EXPECT_EQ(decode_event(encode(change)).value(), change);
  const ObjectReply object{true, -1, 2, 3, 4, true, {{Index(1), Token(2), SessionId(3), "o", 4, -5, "v"}, {}}};
  EXPECT_EQ(decode_object(encode(object)).value(), object);
  const HoldersReply holders{{{SessionId(1), "t", Token(2), 1, Index(3), kSomeRequest, "v"}}, 5};
  EXPECT_EQ(decode_holders(encode(holders)).value(), holders);
  const QueueReply queue{{{0, SessionId(1), "t", Index(3), kSomeRequest}, {1, SessionId(2), "", Index(4), {}}}, true};
  EXPECT_EQ(decode_queue(encode(queue)).value(), queue);
  const SessionInfo info{SessionId(1), 5s, ReplicaId(1), BootCounter(1), 2, Generation(3), 4, 5, "m"};
  EXPECT_EQ(decode_session(encode(SessionReply{info})).value(), SessionReply{info});
  EXPECT_EQ(decode_session(encode(SessionReply{})).value(), SessionReply{});
  const SessionsReply sessions{{info, info}, true};
  EXPECT_EQ(decode_sessions(encode(sessions)).value(), sessions);
  const LocksOfReply locks{{{"n", "t", Token(4), kSomeRequest}}, false};
  EXPECT_EQ(decode_locks_of(encode(locks)).value(), locks);
  EXPECT_EQ(decode_token_still_held(encode(TokenStillHeldReply{true})).value(), TokenStillHeldReply{true});
  const KeysReply keys{{{"k", "v", Revision(2), Revision(3), 2}}, true, Revision(9)};
  EXPECT_EQ(decode_keys(encode(keys)).value(), keys);
}

TEST(CodecTest, NoTruncationOrFlippedByteOfARequestOrQueryCrashes) {
  std::vector<std::string> encoded;
  for (const Request& request : requests()) encoded.push_back(encode(request));
  for (const Query& query : queries()) encoded.push_back(encode(query));
  Random random(1);
  for (const std::string& bytes : encoded) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      (void)decode_request(std::string_view(bytes).substr(0, length));
      (void)decode_query(std::string_view(bytes).substr(0, length));
    }
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = bytes;
      damaged[random.below(damaged.size())] = static_cast<char>(random());
      if (const auto request = decode_request(damaged); request.ok()) (void)validate(*request);
      (void)decode_query(damaged);
      (void)decode_result(damaged);
      (void)decode_event(damaged);
      (void)decode_holders(damaged);
      (void)decode_object(damaged);
      (void)decode_keys(damaged);
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
  EXPECT_EQ(acquire({s, "", std::string(kNameBytesMax, 'n'), {}, "", 0}), ResultCode::Ok);
  EXPECT_EQ(acquire({s, "", std::string(kNameBytesMax + 1, 'n'), {}, "", 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, "", "", {}, "", 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {}, std::string(kLockValueBytesMax + 1, 'v'), 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, std::string(kOwnerTagBytesMax + 1, 't'), "n", {}, "", 0}), ResultCode::LimitExceeded);
  EXPECT_EQ(acquire({s, "", "n", {}, "", 1}), ResultCode::Unsupported);
  EXPECT_EQ(acquire({s, "", "n", Wait::timed(0ns), "", 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {Wait::Kind::None, -1ns}, "", 0}), ResultCode::InvalidArgument);
  EXPECT_EQ(acquire({s, "", "n", {Wait::Kind(9), 0ns}, "", 0}), ResultCode::Unsupported);
  EXPECT_EQ(acquire({{}, "", "n", {}, "", 0}), ResultCode::InvalidArgument);
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

TEST(CodecTest, AmountsAndKindsOfCoordinationAreJudgedAtTheDoor) {
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

TEST(CodecTest, S29_REG_F22_TtlBoundsAreJudgedWithoutOverflow) {
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
