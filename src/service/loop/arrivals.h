// Left by other threads for the engine's thread: inputs, which stores, transport and others post, and calls of the handles.
// Each addition is followed by a wake of the loop. Admission is here because it counts the calls that wait in line.
//
// It is also the place where all threads leave what they did not expect: fail(). An input that finds no memory is such a thing,
// because the engine would wait for it for ever; a message of a peer is lost instead, which a transport may do.
//
// Threads: any; take(), take_calls() and close() are the engine's. Lifetime: the loop outlives it, and it outlives the stores
// and the transport that report here.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/last_words.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/store_events.h"
#include "coordkit/ports/transport.h"
#include "service/calls/call_admission.h"
#include "service/calls/call_runner.h"
#include "service/loop/link_turns.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class Arrivals final : public StoreEvents, public TransportSink {
 public:
  using Call = CallRunner::Call;
  // Messages stay encoded until the turn: a flood costs bytes, not objects.
  struct Mail {
    ReplicaId from;
    std::string body;
  };
  using Arrival = std::variant<EngineInput, Mail, LinkNews, Call>;

  static constexpr size_t kCallsOfATurn = 1024;       // a few milliseconds
  static constexpr size_t kMailBytesMax = 256 << 20;  // a transport may lose frames, so the newest are dropped
  static constexpr size_t kLinkBytesMax = 64 << 20;   // the same for links, which so never take the room of members

  explicit Arrivals(TurnLoop& loop, size_t mail_bytes_max = kMailBytesMax) : loop_(loop), mail_bytes_max_(mail_bytes_max) {}

  // Into the row of the inputs. Once closed: dropped.
  void post(Arrival arrival) noexcept;
  // This replica must halt before it does anything else. The first one counts. Allocates nothing.
  void fail(absl::Status why) noexcept;
  bool failed() const { return failed_; }
  // The first failure, once for each fail() that came since; OK: there was none.
  absl::Status take_failure();
  const LastWords& last_words() const { return last_words_; }
  // Behind the inputs. Once closed: returns the call.
  Call add(Call call) { return add_to(calls_, std::move(call)); }
  // The same for an admitted call, behind all admitted ones.
  Call add_in_line(Call call);
  CallAdmission& admission() { return admission_; }

  // The newest of the log's writes that is durable. Any thread.
  WriteNumber durable() const { return durable_; }

  void written(WriteNumber number) override;
  void peer_up(const Hello& hello) override;
  void peer_down(ReplicaId peer) override;
  void received(ReplicaId from, std::string body) override;
  void peer_refused(ReplicaId peer, std::string why) override;
  void peer_unreachable(ReplicaId peer, std::string why) override;

  // Into empty vectors. All inputs, but of the calls no more than a turn's share.
  void take(std::vector<Arrival>& inputs);
  void take_calls(std::vector<Call>& calls);
  // Takes all that is left; nothing is added any more.
  void close(std::vector<Arrival>& inputs, std::vector<Call>& calls);

  bool any() const;
  struct Waiting {
    size_t arrivals = 0;
    size_t mail_bytes = 0;
    uint64_t mails_lost = 0;  // so far
  };
  Waiting waiting() const;

 private:
  void post_event(EngineInput input) override { post(std::move(input)); }
  bool has_room(const Arrival& arrival);
  Call add_to(std::deque<Call>& where, Call call);
  void wake() noexcept;

  TurnLoop& loop_;
  const size_t mail_bytes_max_;
  mutable std::mutex mutex_;  // guards the following
  std::vector<Arrival> inputs_;
  std::deque<Call> calls_;  // never refused: releases and reads
  std::deque<Call> line_;   // admitted, waiting only for each other
  struct Room {
    size_t mail_bytes = 0;
    size_t link_bytes = 0;
    uint64_t lost = 0;  // messages, so far
  };
  Room room_;
  bool closed_ = false;
  absl::Status failure_;
  std::atomic<bool> failed_{false};       // whether it is set
  std::atomic<bool> failure_due_{false};  // whether it is to be taken

  const LastWords last_words_;
  std::atomic<WriteNumber> durable_{WriteNumber()};
  CallAdmission admission_;
};

}  // namespace coordkit
