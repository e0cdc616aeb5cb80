#include "bench/skeleton/lock_table.h"

namespace coordkit::bench::skeleton {

void LockTable::apply(const Record& record, std::vector<Answer>& answers) {
  if (record.step == Step::Acquire) {
    if (holders_.try_emplace(record.lock, record.holder).second) {
      answers.push_back({record.caller, true});
    } else {
      waiters_[record.lock].push_back({record.holder, record.caller});
    }
    return;
  }
  const auto held = holders_.find(record.lock);
  const bool agreed = held != holders_.end() && held->second == record.holder;
  if (agreed) {
    const auto line = waiters_.find(record.lock);
    if (line == waiters_.end() || line->second.empty()) {
      holders_.erase(held);
    } else {
      const Waiter next = line->second.front();
      line->second.pop_front();
      held->second = next.holder;
      answers.push_back({next.caller, true});
    }
  }
  answers.push_back({record.caller, agreed});
}

}  // namespace coordkit::bench::skeleton
