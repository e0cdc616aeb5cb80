// The events of a run as data: leaders, processes that were down, messages, holds, commits,
// requests, and violations.
//
// A simulated run fills one if SimOptions::timeline points to it. The demo fills one from the
// reports of its processes. timeline_page() makes it one self-contained HTML file that shows all of
// it. Times count from the start of the run. Lists are in the order of their first time. Strings
// may hold any bytes: strangers choose names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/name_of.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// How much of a run is kept, newest first; the page says how much was dropped. Heartbeats and
// similar messages have a limit of their own, so that they do not displace more important ones.
struct TimelineLimits {
  size_t messages = 60'000;          // but routine ones
  size_t routine_messages = 30'000;  // heartbeats and renewals, and the answers to them
  size_t states = 20'000;            // changes of role; as many freezes
  size_t progress = 100'000;         // changes of a log's positions
  size_t operations = 40'000;        // calls of users
  size_t entries = 40'000;           // log entries
  size_t grants = 20'000;            // holds of locks
  size_t faults = 10'000;            // that struck
  size_t notes = 20'000;             // sentences
};

struct Timeline {
  TimelineLimits limits;  // set before the run; the number of rows that the lists may have

  std::string title;                                       // the page's heading
  std::string command;                                     // repeats this run
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, in the head of the
                                                           // page
  uint64_t token_base = 0;                                 // tokens start above it; the page counts
                                                           // them from there
  std::vector<std::string> lanes;                          // one for each replica; a lane is a
                                                           // position in this list
  Duration end{};                                          // of the run; nothing is later
  std::optional<Duration> calm_from;                       // faults are over

  // A broken invariant, and what it is about.
  struct Violation {
    std::string id;                     // such as INV_L01; not empty
    std::string what;                   // a sentence
    Duration at{};                      // when it was found
    std::optional<uint32_t> lane;       // that showed it; nullopt: none
    std::optional<uint64_t> operation;  // that it names
    Index index;                        // of the entry that it names; zero: none
    std::string lock;                   // and the grant
    Token token;                        // of that grant; zero: none
  };
  std::optional<Violation> violation;  // nullopt: nothing was violated

  // The state of a process: not running, or running with this role.
  enum class State : uint8_t { Down, Follower, PreCandidate, Candidate, Leader };
  struct Stands {               // from here on
    uint32_t lane = 0;          // whose process it is
    Duration at{};              // when it became so
    State state = State::Down;  // of the process
    Term term;                  // its own; zero while it is down
  };
  std::vector<Stands> states;  // one for each change

  // A process that was stopped, or a machine that was asleep.
  struct Frozen {
    uint32_t lane = 0;              // whose process it was
    Duration from{};                // when it stopped
    std::optional<Duration> until;  // nullopt: it was still frozen at the end
    std::string how;                // such as "process stopped"
  };
  std::vector<Frozen> frozen;  // one for each freeze

  struct Progress {     // from here on
    uint32_t lane = 0;  // whose log it is
    Duration at{};      // when it got there
    Index appended;     // last entry handed to the disk
    Index durable;      // last entry that the disk has synced
    Index committed;    // as this replica knows
    Index applied;      // by its machines
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  std::vector<Progress> progress;  // one for each change

  // The end of a message. UnderWay: it had not arrived when the run ended.
  enum class Delivery : uint8_t { UnderWay, Arrived, Lost };
  // Groups of messages, which the page shows and hides together.
  enum class Topic : uint8_t { Votes, Appends, Heartbeats, Requests, Reads, States, Members };
  // A type of message.
  struct MessageKind {
    std::string name;            // such as VoteRequest
    Topic topic = Topic::Votes;  // its group
  };
  std::vector<MessageKind> kinds;  // messages name a position in this list
  // A message between two replicas. A copy that also arrives is a message of its own.
  struct Message {
    uint32_t from = 0;                       // lane of the sender
    uint32_t to = 0;                         // lane of the receiver
    Duration sent{};                         // when it left
    Duration ended{};                        // arrived, or known to be lost
    Delivery delivery = Delivery::UnderWay;  // what became of it
    uint8_t kind = 0;                        // position in `kinds`
    Term term;                               // of an append: the term of its last entry
    Index first;                             // entries carried: [first, last]; an acknowledgement:
                                             // up to last
    Index last;                              // zero if no entry is meant
    Index commit;                            // that it reports
    std::vector<uint64_t> operations;        // whose requests it carries
  };
  std::vector<Message> messages;  // in the order of sending

  // A call of a user.
  struct Operation {
    uint64_t id = 0;                 // unique in the run; others name it
    uint32_t lane = 0;               // of the process that called
    std::optional<uint64_t> worker;  // number of the simulated worker; nullopt: none
    std::string kind;                // of the call, such as "acquire"
    std::string subject;             // the lock, key or object that it is about
    std::string label;               // unique text that its command carries; empty: none
    Duration called{};               // when it began
    std::optional<Duration> ended;   // nullopt: it had no answer when the run ended
    std::string outcome;             // "ok", or the reason of a refusal; empty while it is open
    Index carried;                   // by the entry there
    Index decided;                   // there; for a read: the state it was answered from
    Token token;                     // granted or released
  };
  std::vector<Operation> operations;  // in the order of the calls

  struct Entry {                       // as first appended anywhere
    Index index;                       // its place in the log
    Term term;                         // of the leader that appended it
    uint32_t lane = 0;                 // the replica that wrote it first
    Duration at{};                     // when that was
    std::string text;                  // its content, for people
    std::vector<uint64_t> operations;  // whose requests it carries
  };
  std::vector<Entry> entries;  // two may have one index: the later term replaced the other

  // A hold of a lock, from its grant to its end.
  struct Grant {
    std::string lock;                   // its name
    Token token;                        // of the hold
    uint32_t lane = 0;                  // of the process that the session belongs to
    std::optional<uint64_t> operation;  // the acquire that it answered; nullopt: not known
    Index index;                        // of the entry that granted
    Duration granted{};                 // first apply anywhere
    std::optional<Duration> ended;      // nullopt: still held at the end
    std::string end;                    // how it ended, for people; empty: it did not
    // The holder's belief: from when it learned of its grant to when its own clock, or the holder
    // itself, said no.
    std::optional<Duration> trusted_from;
    std::optional<Duration> trusted_until;  // nullopt: never trusted, or not known
  };
  std::vector<Grant> grants;  // in the order of granting

  // A fault that struck.
  struct Fault {
    uint64_t ordinal = 0;                              // of this run, from 1
    std::string kind;                                  // by name_of(FaultKind)
    Duration from{};                                   // when it began
    std::optional<Duration> until;                     // as `from`: it was only a moment
    std::vector<uint32_t> lanes;                       // empty: all
    std::vector<std::pair<uint32_t, uint32_t>> links;  // lanes, from and to; empty: none
  };
  std::vector<Fault> faults;  // in the order of their beginnings

  // The subject of a note. It chooses the mark on the page. Members: a change of members. Loss: an
  // expiry, or a hold that is lost. Refused: a write that a token stopped. Story: a step of the
  // run's story, which the page lists until something is selected.
  enum class Weight : uint8_t { Plain, Members, Loss, Refused, Story };
  // A sentence at a moment.
  struct Note {
    std::optional<uint32_t> lane;   // nullopt: about no replica, or all
    Duration at{};                  // when it is shown
    Weight weight = Weight::Plain;  // chooses its mark
    std::string text;               // the sentence
  };
  std::vector<Note> notes;  // in the order of time

  std::vector<std::pair<std::string, uint64_t>> dropped;  // name and number
};

// One JSON object (docs/simulator.md), safe inside a script element: no '<', no '&', valid UTF-8
// whatever bytes the strings hold.
std::string timeline_json(const Timeline& timeline);

// The whole page. It works offline, and runs no script but its own.
std::string timeline_page(const Timeline& timeline);

}  // namespace coordkit::sim
