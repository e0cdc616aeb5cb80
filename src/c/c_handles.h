// The contents of the opaque handles of the C interface. Each is made by one call and given back by its free. A session
// remembers where the ends of its asynchronous calls go.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/c/coordkit_remote.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/keys/watch.h"
#include "coordkit/objects/observation.h"
#include "coordkit/records.h"
#include "coordkit/remote.h"
#include "coordkit/session.h"
#include "coordkit/types.h"

namespace coordkit::c {

class Completions;

// Structs that the library allocates for the caller to read, with the bytes that their fields name.
struct OwnedLink : coordkit_link {
  std::string gateway_text;
  std::string why_text;
};

struct OwnedLeader : coordkit_leader {
  std::string value_text;
};

inline coordkit_bytes bytes_of(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace coordkit::c

// NOLINTBEGIN(readability-identifier-naming): their names in C

struct coordkit_remote {
  const std::shared_ptr<coordkit::c::Completions> completions;  // with those who may still put something in
  const std::unique_ptr<coordkit::Remote> remote;
};

struct coordkit_session {
  std::shared_ptr<coordkit::c::Completions> completions;
  coordkit::Session session;
  std::atomic<uint64_t> owners{0};  // drawn here, for acquires whose caller named none
};

struct coordkit_grant {
  std::shared_ptr<coordkit::c::Completions> completions;
  coordkit::Grant grant;
};

struct coordkit_watch {
  coordkit::Watch watch;
  coordkit::Revision from;  // zero: from its begin on
};

struct coordkit_observation {
  coordkit::Observation observation;
};

// Read from the store, or a batch of a watch: one of the two is empty.
struct coordkit_entries {
  std::vector<coordkit::KeyValue> read;
  coordkit::WatchEvents seen;  // gives its room back with these entries
  coordkit::Revision revision;

  size_t size() const { return read.size() + seen.size(); }
  const coordkit::KeyValue& operator[](size_t at) const { return at < read.size() ? read[at] : seen[at - read.size()].entry; }
};

// NOLINTEND(readability-identifier-naming)
