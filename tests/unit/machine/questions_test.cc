// A question that crosses to another process gets the answer that it would have got here.
#include "machine/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "coordkit/error.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

// Something of every kind, so that no answer is empty.
struct Filled {
  Driver d;
  SessionId first = d.open(5s);
  SessionId second = d.open(7s);
  Token token;
  LeaseId lease = LeaseId(77);

  Filled() {
    d.submit(OpenSession{9s, "metadata", ReplicaId(3), BootCounter(4), 5, lease::hash_of_secret("secret")});
    token = d.submit(Acquire{first, "owner", "lock", Wait::none(), {"value"}, 0}).token;
    d.submit(Acquire{second, "waiter", "lock", Wait::forever(), {""}, 0});
    d.submit(AcquireAll{second, "all", {{"a"}, {"b", LockMode::Shared}}, Wait::none(), {"both"}, 0});
    d.submit(CoordinationCommand(AcquirePermits{.session = first, .name = "permits", .count = 2, .initial_limit = 5}));
    d.submit(CoordinationCommand(JoinGroup{.session = first, .owner_tag = "member", .name = "group", .value = "address"}));
    d.submit(GrantLease{.id = lease, .ttl = 60s});
    for (const char* key : {"k1", "k2", "k3"}) d.submit(Put{.key = key, .value = "v", .lease = lease});
    d.submit(SetPermissions{.remote = "billing", .list = {{"k", Right::Read}}});
    d.submit(Put{.key = "k2", .value = "again"});
    d.submit(Delete{.key = "k3"});
  }
  const Reads& reads() const { return *d.machine.reads(); }
};

template <typename Q>
void expect_same(const Filled& filled, const Q& question) {
  const absl::StatusOr<Question> arrived = decode_question(encode(Question(question)));
  ASSERT_TRUE(arrived.ok()) << arrived.status();
  const Q* const same = std::get_if<Q>(&*arrived);
  ASSERT_NE(same, nullptr);
  const absl::StatusOr<std::string> bytes = filled.d.machine.query(encode(Question(question)));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto answer = decode_answer<Q>(*bytes);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, question.ask(filled.reads()));
  EXPECT_NE(*answer, typename Q::Answer()) << "the case shows nothing: the answer is blank";
}

Transaction reading() { return {{Compare::exists("k1")}, {RangeOperation::prefix("k"), RangeOperation::of("k2")}, {}}; }

TEST(Questions, GetTheAnswerOfTheStateThroughBytes) {
  const Filled f;
  expect_same(f, HoldersOf{"lock"});
  expect_same(f, QueueOf{"lock", 5});
  expect_same(f, SessionOf{f.first});
  expect_same(f, PermissionsFrom{});
  expect_same(f, SessionsAfter{f.first, 5});
  expect_same(f, LocksOf{f.second, {}});
  expect_same(f, ObjectsOf{f.first, {coordination::Kind::Semaphore, 0}});
  expect_same(f, HeldBy{"lock", f.first, "owner"});
  expect_same(f, StillHeld{"lock", f.token});
  expect_same(f, RefusalOf{{.body = Acquire{f.second, "other", "lock", Wait::none(), {""}, 0}}});
  expect_same(f, RefusalOf{{.body = AcquireAll{f.first, "other", {{"a"}, {"c"}}, Wait::none(), {""}, 0}}});
  expect_same(f, ObjectOf{coordination::Kind::Semaphore, "permits", 3});
  expect_same(f, MembersOf{"group"});
  expect_same(f, EntryOf{"k2"});
  expect_same(f, PageOf{RangeOperation::prefix("k"), false});
  expect_same(f, PageOf{RangeOperation::from("k2"), true});
  expect_same(f, OutcomeOf{reading()});
  expect_same(f, SpaceOf{});
  expect_same(f, LeaseOf{f.lease, true, "k0"});
  expect_same(f, LeasesAfter{{}});
  expect_same(f, ChangesOf{{.from = Revision(2), .sub = 0, .key = "k", .end = "l", .previous = true}});
}

TEST(Questions, RefuseWhatAStateCannotAnswer) {
  const Filled f;
  EXPECT_EQ(coordkit::reason_of(f.d.machine.query("").status()), Reason::Unsupported);
  EXPECT_EQ(coordkit::reason_of(f.d.machine.query("\xff\xff").status()), Reason::InvalidArgument);
  const RefusalOf nameless{{.body = Acquire{f.first, "", "", Wait::none(), {""}, 0}}};
  EXPECT_EQ(coordkit::reason_of(f.d.machine.query(encode(Question(nameless))).status()), Reason::InvalidArgument);
  const OutcomeOf writing{{{}, {PutOperation{"k", "v"}}, {}}};
  const auto written = decode_answer<OutcomeOf>(*f.d.machine.query(encode(Question(writing))));
  EXPECT_EQ(written->code, ResultCode::InvalidArgument);
}

// From another process: cut off, changed, of another kind. Nothing but a status may come of them.
TEST(Questions, SpoiledBytesAreAStatus) {
  const Filled f;
  const std::vector<std::string> questions = {
      encode(Question(HoldersOf{"lock"})), encode(Question(OutcomeOf{reading()})),
      encode(Question(RefusalOf{{.body = Acquire{f.second, "o", "lock", Wait::timed(2s), {""}, 0}}})),
      encode(Question(PageOf{RangeOperation::prefix("k"), true})), encode(Question(LeaseOf{f.lease, true, "k"}))};
  Random random(7);
  for (const std::string& question : questions) {
    const std::string answer = *f.d.machine.query(question);
    for (int i = 0; i < 2'000; ++i) {
      std::string spoiled = random.below(2) == 0 ? question : answer;
      spoiled.resize(random.below(spoiled.size() + 1));
      if (!spoiled.empty()) spoiled[random.below(spoiled.size())] = static_cast<char>(random.below(256));
      f.d.machine.query(spoiled).IgnoreError();
      decode_answer<HoldersOf>(spoiled).status().IgnoreError();
      decode_answer<OutcomeOf>(spoiled).status().IgnoreError();
      decode_answer<LeaseOf>(spoiled).status().IgnoreError();
      decode_answer<ChangesOf>(spoiled).status().IgnoreError();
    }
  }
}

}  // namespace
}  // namespace coordkit::machine
