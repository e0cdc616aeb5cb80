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
#include <string_view>
#include <utility>
#include <vector>

#include "coordkit/types.h"

namespace coordkit::sim {

// How much of a run is kept, newest first; the page says how much was dropped. Heartbeats and
// similar messages have a limit of their own, so that they do not displace more important ones.
struct TimelineLimits {
  size_t messages = 60'000;
  size_t routine_messages = 30'000;
  size_t states = 20'000;
  size_t progress = 100'000;
  size_t operations = 40'000;
  size_t entries = 40'000;
  size_t grants = 20'000;
  size_t faults = 10'000;
  size_t notes = 20'000;
};

struct Timeline {
  TimelineLimits limits;

  std::string title;
  std::string command;  // repeats this run
  std::vector<std::pair<std::string, std::string>> facts;
  uint64_t token_base = 0;         // tokens start above it; the page counts them from there
  std::vector<std::string> lanes;  // one for each replica; a lane is a position in this list
  Duration end{};
  std::optional<Duration> calm_from;  // faults are over

  struct Violation {
    std::string id;
    std::string what;
    Duration at{};
    std::optional<uint32_t> lane;
    std::optional<uint64_t> operation;  // that it names
    Index index;                        // of the entry that it names; zero: none
    std::string lock;                   // and the grant
    Token token;
  };
  std::optional<Violation> violation;

  enum class State : uint8_t { Down, Follower, PreCandidate, Candidate, Leader };
  friend constexpr std::string_view name_of(State one) {
    switch (one) {
      case State::Down: return "Down";
      case State::Follower: return "Follower";
      case State::PreCandidate: return "PreCandidate";
      case State::Candidate: return "Candidate";
      case State::Leader: return "Leader";
    }
    return "?";
  }
  struct Stands {  // from here on
    uint32_t lane = 0;
    Duration at{};
    State state = State::Down;
    Term term;
  };
  std::vector<Stands> states;

  struct Frozen {
    uint32_t lane = 0;
    Duration from{};
    std::optional<Duration> until;
    std::string how;
  };
  std::vector<Frozen> frozen;

  struct Progress {  // from here on
    uint32_t lane = 0;
    Duration at{};
    Index appended;
    Index durable;
    Index committed;
    Index applied;
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  std::vector<Progress> progress;

  enum class Delivery : uint8_t { UnderWay, Arrived, Lost };
  friend constexpr std::string_view name_of(Delivery one) {
    switch (one) {
      case Delivery::UnderWay: return "UnderWay";
      case Delivery::Arrived: return "Arrived";
      case Delivery::Lost: return "Lost";
    }
    return "?";
  }
  enum class Topic : uint8_t { Votes, Appends, Heartbeats, Requests, Reads, States, Members };
  friend constexpr std::string_view name_of(Topic one) {
    switch (one) {
      case Topic::Votes: return "Votes";
      case Topic::Appends: return "Appends";
      case Topic::Heartbeats: return "Heartbeats";
      case Topic::Requests: return "Requests";
      case Topic::Reads: return "Reads";
      case Topic::States: return "States";
      case Topic::Members: return "Members";
    }
    return "?";
  }
  struct MessageKind {
    std::string name;
    Topic topic = Topic::Votes;
  };
  std::vector<MessageKind> kinds;
  struct Message {
    uint32_t from = 0;
    uint32_t to = 0;
    Duration sent{};
    Duration ended{};  // arrived, or known to be lost
    Delivery delivery = Delivery::UnderWay;
    uint8_t kind = 0;  // position in `kinds`
    Term term;         // of an append: the term of its last entry
    Index first;       // entries carried: [first, last]; an acknowledgement: up to last
    Index last;
    Index commit;                      // that it reports
    std::vector<uint64_t> operations;  // whose requests it carries
  };
  std::vector<Message> messages;

  struct Operation {
    uint64_t id = 0;
    uint32_t lane = 0;
    std::optional<uint64_t> worker;
    std::string kind;
    std::string subject;
    std::string label;
    Duration called{};
    std::optional<Duration> ended;
    std::string outcome;
    Index carried;  // by the entry there
    Index decided;  // there; for a read: the state it was answered from
    Token token;    // granted or released
  };
  std::vector<Operation> operations;

  struct Entry {  // as first appended anywhere
    Index index;
    Term term;
    uint32_t lane = 0;
    Duration at{};
    std::string text;
    std::vector<uint64_t> operations;  // whose requests it carries
  };
  std::vector<Entry> entries;

  struct Grant {
    std::string lock;
    Token token;
    uint32_t lane = 0;
    std::optional<uint64_t> operation;
    Index index;         // of the entry that granted
    Duration granted{};  // first apply anywhere
    std::optional<Duration> ended;
    std::string end;
    // The holder's belief: from when it learned of its grant to when its own clock, or the holder
    // itself, said no.
    std::optional<Duration> trusted_from;
    std::optional<Duration> trusted_until;
  };
  std::vector<Grant> grants;

  struct Fault {
    uint64_t ordinal = 0;  // of this run, from 1
    std::string kind;
    Duration from{};
    std::optional<Duration> until;
    std::vector<uint32_t> lanes;  // empty: all
    std::vector<std::pair<uint32_t, uint32_t>> links;
  };
  std::vector<Fault> faults;

  enum class Weight : uint8_t { Plain, Members, Loss, Refused, Story };
  friend constexpr std::string_view name_of(Weight one) {
    switch (one) {
      case Weight::Plain: return "Plain";
      case Weight::Members: return "Members";
      case Weight::Loss: return "Loss";
      case Weight::Refused: return "Refused";
      case Weight::Story: return "Story";
    }
    return "?";
  }
  struct Note {
    std::optional<uint32_t> lane;
    Duration at{};
    Weight weight = Weight::Plain;
    std::string text;
  };
  std::vector<Note> notes;

  std::vector<std::pair<std::string, uint64_t>> dropped;  // name and number
};

// One JSON object (docs/simulator.md), safe inside a script element: no '<', no '&', valid UTF-8
// whatever bytes the strings hold.
std::string timeline_json(const Timeline& timeline);

// The whole page. It works offline, and runs no script but its own.
std::string timeline_page(const Timeline& timeline);

}  // namespace coordkit::sim
