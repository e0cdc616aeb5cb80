// Who may say what: the gate for messages between replicas (decisions/0018). Pure: the transport says which replica a
// connection has proven to be, the configuration says in what capacity that one stands, and one table says which messages are
// heard of it. Whatever is not in the table is not heard, so a new kind of message is mute until it is thought about.
//
//   what is said                         heard of
//   a vote is asked for                  members; acquaintances, which our log may not name yet or not any more
//   an append                            the same, and another directory of a member: its term shows that it leads
//   all else that only a leader says     members; of the others only the one that we follow by its appends
//   "you are removed"                    members and acquaintances: who was away knows none of those who remain
//   answers of followers and voters      members: no other counts
//   commands, reads, renewals, changes   members, of the configuration in force or of the applied one
//   "what do you remember of my disk?"   members and acquaintances: it is about the asker's own, and raises nothing
//   what is remembered, "I am aside"     members
//   an invitation                        none: blank replicas judge it by themselves (founding.h)
#pragma once

#include <cstdint>

#include "coordkit/message.h"

namespace coordkit::engine {

//   Member        the directory that the configuration in force names for this id; it has shown that it belongs
//   Newcomer      the same directory, but it has not shown it: blank, and invited
//   Acquaintance  it belongs, but is not named: a member by entries that we do not have yet, or one that was removed
//   Impostor      another directory than the one named: a wiped, copied or exchanged disk; or our configuration is old
//   Stranger      anybody else: not connected, or nothing shows that it belongs to the cluster
enum class Standing : uint8_t { Stranger, Newcomer, Acquaintance, Impostor, Member };

struct Speaker {
  Standing standing = Standing::Stranger;
  bool belongs = false;  // has shown that it belongs to the cluster. I: true for members and acquaintances
  bool leads = false;    // we follow it
  bool leaving = false;  // the applied configuration names this directory, whatever the one in force says
};

bool may_say(const Speaker& speaker, const Message& message);

}  // namespace coordkit::engine
