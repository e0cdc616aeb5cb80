// The gate for messages between replicas: which peer may send which (decisions/0018). Pure: the transport says which replica a
// connection has proven to be, the configuration says in which capacity it is heard, and one table says which messages are
// accepted. Anything not in the table is dropped, so a new kind of message is ignored until it is decided on.
//
//   message                              accepted from
//   a vote request                       members; acquaintances, which our log may not name yet or not any more
//   an append                            the same, and another directory of a member: its term proves that it leads
//   all else that only a leader sends    members, and the one other peer that we follow by its appends
//   "you are removed"                    members and acquaintances: after an absence none of the remaining may be known
//   answers of followers and voters      members: no others count
//   commands, reads, renewals, changes   members of the configuration in force or of the applied one
//   "what do you remember of my disk?"   all that belong: it is about the asker's own disk, and raises nothing
//   what is remembered                   all that belong: our log may be too old to name any of those that remain
//   "I stepped aside"                    members
//   an invitation                        none: blank replicas check it themselves (founding.h)
#pragma once

#include <cstdint>

#include "coordkit/engine/engine_message.h"

namespace coordkit::engine {

//   Member        the directory that the configuration in force names for this id; it has shown that it belongs
//   NewMember     the same directory, but not proven: blank, and invited
//   Acquaintance  it belongs, but is not named: a member by entries that we do not have yet, or a removed one
//   Impostor      a directory other than the named one: a wiped, copied or replaced disk; or our configuration is old
//   Uninvited     any other: not connected, or not proven to belong to the cluster
enum class Capacity : uint8_t { Uninvited, NewMember, Acquaintance, Impostor, Member };

struct Speaker {
  Capacity capacity = Capacity::Uninvited;
  bool belongs = false;  // has proved that it belongs to the cluster. I: true for members and acquaintances
  bool leads = false;    // we follow it
  bool leaving = false;  // the applied configuration still names this directory
};

bool may_say(const Speaker& speaker, const Message& message);

}  // namespace coordkit::engine
