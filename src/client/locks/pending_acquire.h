// An acquire from the entry of its call until its final answer, which may outlive the call. It acquires a lock, permits, an
// item or the like. Thousands may wait in line at the same time, so rarely used fields are stored apart.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_text.h"
#include "client/locks/acquire_life.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"

namespace coordkit::client {

struct PendingAcquire {
  struct Extension {
    std::vector<NamedLock> others = {};  // wanted together with the first lock
    uint64_t block = 0;                  // of a sticky acquire: the size of the requested block
    Duration delay{};                    // of a sticky acquire (S-40)
    Duration max_hold{};                 // S-51; zero: no limit
    std::string proclaimed = {};         // published instead, if its owner has the lock already
  };

  SessionRef session = {};                             // once its call has begun
  PendingAcquire *before = nullptr, *after = nullptr;  // neighbours in that session's list, until the call ends
  CallId call;
  LaggingTime began{};                        // the time when it began
  std::unique_ptr<Extension> extension = {};  // null: it has no such fields
  Sequence sequence = {};                     // zero until the engine assigns it
  // The name, once in line (S-58) or submitted, and behind it the owner's tag, once submitted.
  ShortText<18, uint16_t> text = {};
  uint16_t name_bytes = 0;
  LockMode mode = LockMode::Exclusive;
  bool counted : 1 = false;
  bool proclaims : 1 = false;  // satisfied with its owner's existing hold
  bool of_lock : 1 = false;    // answered with a hold; else with an Executed
  bool in_line : 1 = false;    // its line waits for it (S-58)
  bool waited : 1 = false;     // it waited in line
  AcquireState state = AcquireState::Entered;

  std::string_view name() const { return text.view().substr(0, name_bytes); }
  std::string_view owner_tag() const { return text.view().substr(name_bytes); }
  void set_names(std::string_view name, std::string_view owner_tag) {
    text = ShortText<18, uint16_t>({name, owner_tag});
    name_bytes = static_cast<uint16_t>(name.size());
  }
  Duration max_hold() const { return extension ? extension->max_hold : Duration::zero(); }
  std::string_view proclaimed() const { return extension ? std::string_view(extension->proclaimed) : std::string_view(); }
  // For setting fields that few acquires have.
  Extension& make_extension() {
    if (!extension) extension = std::make_unique<Extension>();
    return *extension;
  }
  std::optional<Duration> time_in_line(LaggingTime now) const { return waited ? std::optional(now - began) : std::nullopt; }
};

}  // namespace coordkit::client
