// A call under way, which can be ended early: what the *_async functions return.
//
// Dropping it changes nothing. cancel() asks to end that call alone; its callback still gets exactly one answer, soon:
//
//   acquire, campaign, claim, and the waits for permits, a place, a latch or a barrier
//                     decided in the log: Cancelled, and nothing is or will be held; or the grant, if that came first.
//                     If nothing is decided by the call's deadline or for 10 s, CancelPending: a late grant is given back
//   leave of a double barrier
//                     the same for the wait; the place is given up whatever becomes of it
//   open, resume      CancelPending, or Cancelled (NONE) if it was not sent yet. A session that was opened after all is
//                     closed by itself; one that was resumed after all expires, unless it is resumed again
//   release, close    CancelPending: goes on behind the scenes until it is done
//   acknowledge       the same, or Cancelled (NONE) if it was not sent yet: the item goes back
//   downgrade, upgrade
//                     CancelPending: what comes of it is given back. Cancelled (NONE) if it was not sent yet: as it was
//   join of a group   CancelPending: a member that comes of it leaves again. Cancelled (NONE) if it was not sent yet
//   writes, propose   CancelPending: it may still take effect; Cancelled (NONE) if it was not sent yet
//   reads, queries    CancelPending or Cancelled; a read has no effect either way
//   change of members, transfer of leadership
//                     CancelPending: pursued no further; a step that has begun is completed by the leader
//
// Threads: any; also inside callbacks. Lifetime: may outlive the replica. A call that has ended: no effect.
#pragma once

#include <type_traits>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/ref.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class CallControl;

class AsyncCall {
 public:
  AsyncCall();  // no call
  explicit AsyncCall(Ref<CallControl> control);
  AsyncCall(const AsyncCall& other);
  AsyncCall(AsyncCall&& other) noexcept;
  AsyncCall& operator=(const AsyncCall& other);
  AsyncCall& operator=(AsyncCall&& other) noexcept;
  ~AsyncCall();

  void cancel() const;

 private:
  friend class CallControl;
  Ref<CallControl> control_;
};

namespace call_detail {

template <typename Callback>
struct AnswerTo;
template <typename Answer>
struct AnswerTo<absl::AnyInvocable<void(Answer)>> {
  using Type = Answer;
};
template <typename... Parameters>
using Last = typename decltype((std::type_identity<Parameters>(), ...))::type;

// What the callback of an asynchronous call gets, which is its last parameter. Never defined.
template <typename Handle, typename... Parameters>
typename AnswerTo<Last<Parameters...>>::Type answer_of(AsyncCall (Handle::*)(Parameters...));
template <typename Handle, typename... Parameters>
typename AnswerTo<Last<Parameters...>>::Type answer_of(AsyncCall (Handle::*)(Parameters...) const);

}  // namespace call_detail

}  // namespace coordkit
