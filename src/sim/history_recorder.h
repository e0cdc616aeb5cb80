// The black-box check of a run: what callers asked and were told, with true times and without a single index of the log, given
// to the linearizability checker (src/check) when the run is over. Unlike the witness it could be fooled by no observer of
// ours: it asks whether one store and one lock service could have answered like this at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "check/fenced_mutex_model.h"
#include "check/history.h"
#include "check/kv_model.h"
#include "coordkit/client.h"
#include "sim/world.h"

namespace coordkit::sim {

class HistoryRecorder {
 public:
  explicit HistoryRecorder(World& world) : world_(world) {}
  using CallNumber = uint64_t;

  void begin_put(CallNumber call, uint32_t node, const std::string& key, const std::string& value);
  void begin_erase(CallNumber call, uint32_t node, const std::string& key);
  void begin_get(CallNumber call, uint32_t node, const std::string& key);
  void begin_acquire(CallNumber call, uint32_t node, const std::string& lock);
  void begin_release(CallNumber call, uint32_t node, const HoldRef& hold);
  void begin_holder(CallNumber call, uint32_t node, const std::string& lock);  // holders or check

  // Answers, a release's included. Calls that were not begun here are none of ours.
  void put(CallNumber call, const absl::StatusOr<PutResult>& answer);
  void erased(CallNumber call, const absl::StatusOr<EraseResult>& answer);
  void got(CallNumber call, const absl::StatusOr<GetResult>& answer);
  void acquired(CallNumber call, const absl::StatusOr<HoldRef>& answer);
  void released(CallNumber call, const absl::Status& answer);
  void looked(CallNumber call, const absl::StatusOr<LockInfo>& answer);
  void checked(CallNumber call, const HoldRef& hold, const absl::StatusOr<bool>& answer);

  // The holder's own clock says at this moment that the hold is valid: so it has not ended before.
  void trusted(const HoldRef& hold);

  // Throws a Violation. Says whether both searches came to an end, and how many operations they had.
  struct Result {
    bool decided = true;
    uint64_t operations = 0;
  };
  Result check();
  // Every operation as a line of docs/format-history.md, in the order of calls.
  void write(const std::function<void(std::string_view)>& line);

 private:
  template <typename Model>
  struct Book {
    check::History<Model> history;
    std::unordered_map<CallNumber, size_t> open;  // never gone through
  };
  using Keys = check::KvModel;
  using Locks = check::FencedMutexModel;

  template <typename Model>
  typename Model::Call& begin(Book<Model>& book, CallNumber call, uint32_t node, const std::string& key);
  // Null if the call was not begun here.
  template <typename Model>
  check::Operation<typename Model::Call>* end(Book<Model>& book, CallNumber call, const absl::Status& answer);
  template <typename Model>
  check::Report check(Book<Model>& book, const char* id);
  void close_books();
  check::Moment now() const { return world_.now().time_since_epoch().count(); }

  World& world_;
  Book<Keys> keys_;
  Book<Locks> locks_;
  std::unordered_map<uint64_t, size_t> endings_;  // by token: the expiry of a hold
  bool closed_ = false;
};

}  // namespace coordkit::sim
