#include "transport/incarnation.h"

namespace coordkit {

// A boot counter grows with each opening of a directory, and the directory is locked while open. So:
//   same store, higher boot            the older process is gone, or will never send again
//   same store, lower boot             a survivor of an older boot: of a copied directory, since the lock was free
//   same store and boot, two instances two copies of one directory; the right one cannot be known here
//   two stores                         membership decides which is right; until it is known, the first one stays
IncarnationGuard::Verdict IncarnationGuard::judge(const Incarnation& next, bool connected, TimePoint now) {
  if (conflict_ && now < conflict_->until && next.store == conflict_->last.store && next.boot <= conflict_->last.boot) {
    if (next.instance != conflict_->last.instance) {
      conflict_->last.instance = next.instance;
      conflict_->until = now + quarantine_;
    }
    return Verdict::RefuseBoth;
  }
  conflict_.reset();
  if (!connected || next == current_) {
    current_ = next;
    return Verdict::Admit;
  }
  if (next.store != current_.store) {
    if (!right_ || next.store != right_) return Verdict::RefuseOther;
    current_ = next;
    return Verdict::Succeed;
  }
  if (next.boot < current_.boot) return Verdict::RefuseOlder;
  if (next.boot > current_.boot) {
    current_ = next;
    return Verdict::Succeed;
  }
  conflict_ = {next, now + quarantine_};
  return Verdict::RefuseBoth;
}

}  // namespace coordkit
