// The black-box check of a run: callers' requests and answers, with true times and without any index of the log, given
// to the linearizability checker (verify/check) when the run is over. Unlike the witness it cannot be fooled by an observer of
// ours: it asks whether any store and lock service could have answered like this at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "check/fenced_mutex_model.h"
#include "check/history.h"
#include "check/kv_model.h"
#include "coordkit/engine/client.h"
#include "sim/world/world.h"

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

  // Answers, including those of releases. Calls that were not begun here are ignored.
  void put(CallNumber call, const absl::StatusOr<PutResult>& answer);
  void erased(CallNumber call, const absl::StatusOr<EraseResult>& answer);
  void got(CallNumber call, const absl::StatusOr<GetResult>& answer);
  void acquired(CallNumber call, const absl::StatusOr<HoldRef>& answer);
  void released(CallNumber call, const absl::Status& answer);
  void looked(CallNumber call, const absl::StatusOr<LockInfo>& answer);
  void checked(CallNumber call, const HoldRef& hold, const absl::StatusOr<bool>& answer);

  // The holder's own clock says at this moment that the hold is valid: so it has not ended earlier.
  void trusted(const HoldRef& hold);

  // Throws a Violation. Reports whether both searches completed, and how many operations they had.
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
    std::unordered_map<CallNumber, size_t> open;  // never iterated
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
