// A call under way, for whoever wants to end it early: what the *_async functions give back.
//
// Dropping it changes nothing. cancel() asks to end that call alone; its callback still gets exactly one answer, soon:
//
//   acquire           decided in the log: Cancelled, and nothing is or will be held; or the grant, if that came first.
//                     At the call's deadline, if nothing was decided, CancelPending: a grant that arrives later is given back
//   open, resume      CancelPending, or Cancelled (NONE) if it was not sent yet. A session that was opened after all is
//                     closed by itself; one that was resumed after all expires, unless it is resumed again
//   release, close    CancelPending: goes on behind the scenes until it is done
//   writes, propose   CancelPending: it may still take effect; Cancelled (NONE) if it was not sent yet
//   reads, queries    CancelPending or Cancelled; a read has no effect either way
//   change of members, transfer of leadership
//                     CancelPending: goes on; health() shows a change of members that is under way
//
// Threads: any; also inside callbacks. Lifetime: may outlive the replica. A call that has ended: no effect.
#pragma once

#include <memory>
#include <utility>

namespace coordkit {

class CallControl;

class AsyncCall {
 public:
  AsyncCall() = default;  // no call
  explicit AsyncCall(std::shared_ptr<CallControl> control) : control_(std::move(control)) {}

  void cancel() const;

 private:
  std::shared_ptr<CallControl> control_;
};

}  // namespace coordkit
