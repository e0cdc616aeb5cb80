// A call that is running and can be ended early: the *_async functions return it.
//
// Dropping it changes nothing. cancel() asks to end that call alone. Its callback still gets
// exactly one answer, soon:
//
//   acquire, campaign, claim, and the waits for permits, a place, a latch or a barrier
//                     decided in the log: Cancelled, and nothing is or will be held; or the grant,
//                     if that came first. If nothing is decided by the call's deadline or for 10 s,
//                     CancelPending: a late grant is released
//   leave of a double barrier
//                     the same for the wait; the place is given up however the wait ends
//   open, resume      CancelPending, or Cancelled (NONE) if it was not sent yet. A session that was
//                     opened after all is closed automatically; one that was resumed after all
//                     expires, unless it is resumed again
//   release, close    CancelPending: continues in the background until it is done
//   acknowledge       the same, or Cancelled (NONE) if it was not sent yet: the item goes back
//   downgrade, upgrade
//                     CancelPending: a hold that results is released. Cancelled (NONE) if it was
//                     not sent yet: unchanged
//   join of a group   CancelPending: a member that results leaves again. Cancelled (NONE) if it was
//                     not sent yet
//   writes, propose   CancelPending: it may still take effect; Cancelled (NONE) if it was not sent
//                     yet
//   reads, queries    CancelPending or Cancelled; a read has no effect either way
//   change of members, transfer of leadership
//                     CancelPending: not pursued any further; the leader completes a step
//                     that has begun
//
// Threads: any; also inside callbacks.
// Lifetime: it may outlive the replica. Cancelling a call that has ended has no effect.
#pragma once

#include <type_traits>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/ref.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class CallControl;

// A call that is running. Copies are the same call.
class AsyncCall {
 public:
  AsyncCall();                                   // no call: cancel() has no effect
  explicit AsyncCall(Ref<CallControl> control);  // for coordkit's own calls, which return it
  AsyncCall(const AsyncCall& other);
  AsyncCall(AsyncCall&& other) noexcept;
  AsyncCall& operator=(const AsyncCall& other);
  AsyncCall& operator=(AsyncCall&& other) noexcept;
  ~AsyncCall();

  // Asks to end the call, and returns at once; the list at the top says how its callback is then
  // answered. No effect without a call, and once the call has ended.
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

// The argument of an asynchronous call's callback. The callback is the call's last parameter. Never
// defined.
template <typename Handle, typename... Parameters>
typename AnswerTo<Last<Parameters...>>::Type answer_of(AsyncCall (Handle::*)(Parameters...));
template <typename Handle, typename... Parameters>
typename AnswerTo<Last<Parameters...>>::Type answer_of(AsyncCall (Handle::*)(Parameters...) const);

}  // namespace call_detail

}  // namespace coordkit
