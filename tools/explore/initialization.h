// The initialization of a cluster, complete: three real engines on blank disks, every order in which their greetings, offers
// and writes can arrive, and crashes between any two of them. No clock moves, so no replica campaigns: a replica that stores a
// genesis may vote by it, and that is what is checked.
//
//   connect  both ends say who they are; each learns it on delivery. What an older connection still carries arrives
//            until the next greeting does, as with sockets that are read late
//   crash    of one replica, with an immediate restart: nothing, the first pending writes, or (Lost) not even what was
//            reported durable are on its disk; or (Wiped) the disk is another, blank one. A start draws a new cluster id
//
// The network is a set: order holds only between a greeting and what follows it on its connection.
//
// Where lists of members differ (decisions/0050):
//
//   correct  a replica with a wrong list is restarted with the right one, as by a crash
//   voted    it is restarted after it has voted: its disk is in term 2. It may have, if a majority of its genesis' voters had
//   that
//            genesis in force at some moment of its life
//
// A replica that runs by a genesis may vote by it. So a cluster may answer while a majority of its voters runs by its genesis,
// and no two clusters ever may.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::explore {

// Defects for runs that must fail.
enum class InitializationDefect : uint8_t {
  None,
  ReportsEarly,   // a write is reported durable before it is on the disk
  GreetsAsBlank,  // a member's greeting is taken for that of a blank replica
  NeverGivesWay,  // a genesis that nobody voted for stays, whatever is listed
  ForgetsVotes,   // a disk does not have the vote that was cast
};

// The list of members that a replica is started with.
enum class List : uint8_t { Right, OneTwo, OneThree, Swapped };  // swapped: the addresses of 2 and 3

struct InitializationScope {
  std::string_view name;
  std::string_view what;
  uint8_t crashes = 0;  // honest ones
  uint8_t lost = 0;     // crashes of a disk that loses what it reported durable
  uint8_t wiped = 0;    // disks replaced by blank ones
  std::array<List, 3> lists = {};
  bool founded = false;  // replica 1 has stored the genesis of its list, as builds did that compared none
  InitializationDefect defect = InitializationDefect::None;
};

std::span<const InitializationScope> initialization_scopes();
const InitializationScope* initialization_scope_named(std::string_view name);

struct InitializationFindings {
  uint64_t states = 0;
  uint64_t transitions = 0;
  uint64_t depth = 0;
  uint64_t lives = 0;  // different histories of one replica
  uint64_t born = 0;   // quiet worlds in which all three belong to one cluster
  uint64_t torn = 0;   // worlds in which two geneses are stored; never without a disk that lies or is replaced
  bool complete = false;
  std::string violation;
  std::string trace;  // words, for tell_initialization()
};

InitializationFindings search_initializations(const InitializationScope& scope, uint64_t states_max = ~uint64_t{0});

// Makes the moves of a trace, one line for each on stderr; returns what is violated at its end, or empty.
std::string tell_initialization(const InitializationScope& scope, const std::string& trace);

}  // namespace coordkit::explore
