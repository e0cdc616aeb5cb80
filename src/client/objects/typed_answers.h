// Shared by the typed calls of semaphores, barriers and the like: turns a command's result into the caller's type.
#pragma once

#include <optional>
#include <utility>

#include "client/objects/executed.h"
#include "coordkit/client/coordination.h"
#include "coordkit/client/handles.h"

namespace coordkit::client {

// A callback for an execution or a read. It passes the result of `of` to the caller.
template <typename From, typename T, typename Of>
Callback<From> giving(Callback<T> done, Of of) {
  return [done = std::move(done), of](absl::StatusOr<From> from) mutable {
    if (from.ok()) {
      done(of(*from));
    } else {
      done(from.status());
    }
  };
}

inline Callback<Executed> giving(DoneCallback done) {
  return [done = std::move(done)](absl::StatusOr<Executed> executed) mutable { done(executed.status()); };
}

inline HoldRef hold_of(const Executed& executed) { return executed.hold; }
inline Index id_made(const Executed& executed) { return executed.result.id; }  // of an item, of a member

// Without a session the command is refused later.
inline SessionId id_of(const SessionRef& session) { return session ? session->id() : SessionId(); }

inline std::optional<machine::ResultCode> held_if(bool held) {
  return held ? std::optional(machine::ResultCode::Held) : std::nullopt;
}

inline GroupMember member_of(const machine::ObjectRow& row) { return {row.id, row.session, row.owner, row.value}; }

}  // namespace coordkit::client
