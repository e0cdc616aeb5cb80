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
      {.body = OpenSession{5s, "", ReplicaId(1), BootCounter(2), 9, lease::hash_of_secret("s")}},
      {.body = ResumeSession{SessionId(4), "s", true}},
      {.body = ResumeSession{SessionId(4), std::string(kSecretBytesMax, 's'), false}},
      {.body = KillSession{SessionId(4)}},
      {.body = ForceRelease{"name", Token(9)}},
      {.body = CloseSession{SessionId(4)}},
      {.body = Acquire{SessionId(4), "tag", "name", Wait::timed(2s), "value", 0}, .prior_releases = {{"other", Token(8)}}},
      {.body = Acquire{SessionId(4), "", std::string("\0n", 2), Wait::none(), "", 0}},
      {.body = Acquire{SessionId(4), "", "n", Wait::forever(), "", 0}},
      {.body = Release{SessionId(4), std::nullopt, "name", Token(9)}},
      {.body = Release{SessionId(4), "", "name", Token(9)}},
      {.body = CancelAcquire{SessionId(4), "tag", "name", kSomeRequest}},
      {.body = Put{"key", std::string(1000, 'v')}},
      {.body = Delete{"key"}},
  };
}

std::vector<Query> queries() {
  return {HoldersQuery{"n"},
          QueueQuery{"n", 3},
          SessionQuery{SessionId(5)},
          SessionsQuery{{}, 7},
          LocksOfQuery{SessionId(5)},
          LocksOfQuery{SessionId(5), Token(6)},
          TokenStillHeldQuery{"n", Token(6)},
          GetQuery{"k"},
          RangeQuery{"a", std::string(1, '\0'), 10}};
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
  const Result result{ResultCode::Granted, Revision(3), Token(~0ULL >> 1), Index(9), SessionId(2), 50ms, 4, 1, true};
  EXPECT_EQ(decode_result(encode(result)).value(), result);
  const Event event = SessionEnded{SessionId(3), SessionEnded::Reason::Expired};
  EXPECT_EQ(decode_event(encode(event)).value(), event);
  for (const Event& each :
       {Event(SessionResumed{SessionId(3), ReplicaId(1), BootCounter(2), 9}), Event(SessionEnding{SessionId(3)})}) {
    EXPECT_EQ(decode_event(encode(each)).value(), each);
  }
  const HoldersReply holders{{{SessionId(1), "t", Token(2), 1, Index(3), kSomeRequest, "v"}}, 5};
  EXPECT_EQ(decode_holders(encode(holders)).value(), holders);
  const QueueReply queue{{{0, SessionId(1), "t", Index(3), kSomeRequest}, {1, SessionId(2), "", Index(4), {}}}, true};
  EXPECT_EQ(decode_queue(encode(queue)).value(), queue);
  const SessionInfo info{SessionId(1), 5s, ReplicaId(1), BootCounter(1), 2, Generation(3), 4, 5, "m", true};
  EXPECT_EQ(decode_session(encode(SessionReply{info})).value(), SessionReply{info});
  EXPECT_EQ(decode_session(encode(SessionReply{})).value(), SessionReply{});
  const SessionsReply sessions{{info, info}, true};
  EXPECT_EQ(decode_sessions(encode(sessions)).value(), sessions);
  const LocksOfReply locks{{{"n", "t", Token(4), kSomeRequest, Index(7)}}, false};
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
