// Drives one Machine by hand: numbers the entries and the requests, decodes what comes out, and keeps the rows of its
// checkpoints as a StateStore would.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/row_map.h"
#include "machine/machine.h"

namespace coordkit::machine {

// Rows as a checkpoint view.
class RowsView final : public CheckpointView {
 public:
  std::map<std::string, std::string> rows;

  void add(const CheckpointBatch& batch) {
    for (const auto& row : batch.rows) {
      EXPECT_LE(row.key.size(), 64u);
      if (row.value) {
        rows[row.key] = *row.value;
      } else {
        EXPECT_EQ(rows.erase(row.key), 1u) << "a row erased that was never written";
      }
    }
  }
  Position applied() const override { return {}; }
  bool installed() const override { return false; }
  absl::Status scan(std::string_view prefix, Visitor visit) const override { return scan_prefix(rows, prefix, visit); }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return coordkit::scan_range(rows, range, visit);
  }
  uint64_t digest() const override { return digest_of(rows); }
};

// The products of one entry, decoded.
struct Produced {
  struct Answer {
    Sequence sequence;  // of the request answered
    ApplyOutput::Stage stage;
    Result result;
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  std::vector<Answer> answers;
  std::vector<Event> events;
  std::vector<coordination::Change> led;  // of locks whose holder changed; kept apart, because most entries have some
  std::vector<TimerOp> timer_ops;
  friend bool operator==(const Produced&, const Produced&) = default;

  static Produced from(const ApplyOutput& output) {
    Produced produced;
    for (const auto& result : output.results) {
      produced.answers.push_back({result.request.sequence, result.stage, decode_result(result.bytes).value()});
    }
    for (const auto& encoded : output.events) {
      const Event event = decode_event(encoded.bytes).value();
      const auto* change = std::get_if<coordination::Change>(&event);
      if (change != nullptr && change->kind == coordination::Kind::Lock) {
        produced.led.push_back(*change);
      } else {
        produced.events.push_back(event);
      }
    }
    produced.timer_ops = output.timer_ops;
    return produced;
  }
  // The answer to this request, or a Result with code Unsupported if there is none.
  Result of(Sequence sequence) const {
    for (const Answer& answer : answers) {
      if (answer.sequence == sequence) return answer.result;
    }
    return {.code = ResultCode::Unsupported};
  }
};

inline const Origin kOrigin{ReplicaId(1), StoreId(77), BootCounter(1)};
inline constexpr uint64_t kBase = uint64_t{150'000'000} << 31;

class Driver {
 public:
  explicit Driver(uint64_t token_base = kBase, std::string prefix = "m1") : machine(std::move(prefix)) {
    machine.bootstrap(ClusterId(5), token_base);
  }

  Produced submit(Request request, Sequence sequence) { return apply(encode(request), {kOrigin, sequence}); }
  // The answer to it, in the entry itself.
  Result submit(Request::Body body, std::vector<PriorRelease> prior = {}) {
    last_sequence = last_sequence.next();
    last = submit(Request{std::move(body), std::move(prior)}, last_sequence);
    return last.of(last_sequence);
  }
  Produced apply(std::string payload, RequestId request) {
    index = index.next();
    ApplyOutput output;
    const Command command{index, request, payload, remote};
    machine.apply({&command, 1}, output);
    acts = output.acts;
    return last = Produced::from(output);
  }
  Produced fire(std::vector<FiredTimer> timers) {
    index = index.next();
    ApplyOutput output;
    machine.fire(index, timers, output);
    return last = Produced::from(output);
  }
  Produced expire(std::vector<SessionId> sessions) {
    std::vector<FiredTimer> timers;
    for (const SessionId session : sessions) timers.push_back({session_timer(session), Generation(0)});
    return fire(timers);
  }

  SessionId open(Duration ttl = std::chrono::seconds(5)) {
    return submit(OpenSession{ttl, "", kOrigin.replica, kOrigin.boot, kOrigin.store.value()}).session;
  }
  Result acquire(SessionId session, std::string name, Wait wait = Wait::none(), std::string tag = "") {
    return submit(Acquire{session, std::move(tag), std::move(name), wait, {}, 0});
  }
  Result release(SessionId session, std::string name, Token token) {
    return submit(Release{session, std::nullopt, std::move(name), token});
  }

  Token holder(const std::string& name) const {
    const auto reply = machine.reads()->holders_of(name);
    return reply.holders.empty() ? Token() : reply.holders.front().token;
  }
  std::vector<SessionId> queue(const std::string& name) const {
    std::vector<SessionId> sessions;
    const auto reply = machine.reads()->queue_of(name, 0);
    for (const WaiterInfo& waiter : reply.waiters) sessions.push_back(waiter.session);
    return sessions;
  }
  // The machine's word about this request, as one that was answered Queued.
  std::optional<ApplyOutput::Result> queued_result(Sequence sequence) const {
    std::optional<ApplyOutput::Result> found;
    const RequestId request{kOrigin, sequence};
    machine.queued_results({&request, 1}, [&](const ApplyOutput::Result& result) {
      EXPECT_FALSE(found) << "one answer for each";
      EXPECT_EQ(result.request, request);
      found = result;
    });
    return found;
  }
  std::vector<TimerOp> timers() const {
    std::vector<TimerOp> ops;
    machine.timers(ops);
    return ops;
  }

  Machine machine;
  Index index;
  Sequence last_sequence;  // of the last submit()
  Produced last;
  std::optional<std::string> remote;   // the name of the remote that submits; absent: a member does
  std::vector<ApplyOutput::Act> acts;  // of the last entry
};

}  // namespace coordkit::machine
