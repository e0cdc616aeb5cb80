// Every enum of the public headers has one name function, name_of, and it knows every enumerator. The list is taken from
// the compiler and from the headers' text, so that neither an enum nor an enumerator can be forgotten here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "coordkit/client/client_options.h"
#include "coordkit/client/coordination.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/engine/engine.h"
#include "coordkit/error.h"
#include "coordkit/keys/mirror.h"
#include "coordkit/keys/stm.h"
#include "coordkit/locks/fence.h"
#include "coordkit/operate/members.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/sim/compare.h"
#include "coordkit/sim/sim_options.h"
#include "coordkit/sim/situations.h"
#include "coordkit/sim/timeline.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/transport/secure_channel.h"
#include "coordkit/transport/tcp_transport.h"
#include "tests/support/source_dir.h"

namespace coordkit {
namespace {

// "coordkit::FenceMode::Shared", as the compiler calls it; a number that has no enumerator is "(coordkit::FenceMode)7".
template <auto kValue>
std::string_view compiler_says() {
  const std::string_view signature = __PRETTY_FUNCTION__;
  const size_t from = signature.find("kValue = ") + 9;
  return signature.substr(from, signature.find_first_of(";]", from) - from);
}

template <auto kValue>
void check_name(std::string& faults, size_t& enumerators) {
  const std::string_view spelled = compiler_says<kValue>();
  const std::string_view name = name_of(kValue);
  const bool known = spelled.front() != '(';
  enumerators += known ? 1 : 0;
  const std::string_view expected = known ? spelled.substr(spelled.rfind(':') + 1) : "?";
  if (name != expected) faults += std::string(spelled) + " is called " + std::string(name) + "; ";
}

// Numbers to check: beyond the last enumerator.
template <typename Enum>
constexpr size_t kLooked = std::is_same_v<Enum, Reason>             ? 80
                           : std::is_same_v<Enum, CloseReason>      ? 64
                           : std::is_same_v<Enum, ReplicaEventKind> ? 32
                                                                    : 16;

template <typename Enum, size_t... kNumbers>
std::string faults_of(std::index_sequence<kNumbers...>) {
  std::string faults;
  size_t enumerators = 0;
  (check_name<static_cast<Enum>(kNumbers)>(faults, enumerators), ...);
  if (name_of(static_cast<Enum>(kLooked<Enum> - 1)) != "?") faults += "there may be more enumerators: look at more numbers; ";
  if (enumerators < 2) faults += "no enumerators seen: does this test still understand the compiler?";
  return faults;
}

struct Named {
  std::string name;
  std::string faults;
};

template <typename... Enums>
struct All {
  static std::vector<Named> check() {
    return {Named{type_name<Enums>(), faults_of<Enums>(std::make_index_sequence<kLooked<Enums>>())}...};
  }
  template <typename Enum>
  static std::string type_name() {  // "Enum = coordkit::FenceMode]"
    const std::string_view signature = __PRETTY_FUNCTION__;
    const size_t from = signature.find("Enum = ") + 7;
    const std::string full(signature.substr(from, signature.find_first_of(";]", from) - from));
    return full.substr(full.rfind(':') + 1);
  }
};

using Public =
    All<BarrierAtSessionEnd, PartyAtSessionEnd, Seen, GroupSeen::What, SessionPhase, LockWait::Kind, Fence::Wants,
        WatchBatch::What, Urgency, Consistency, Divergence::Verdict, ReplicaState, FenceMode, OpenMode, SortTarget, SortOrder,
        Compare::Target, Compare::Relation, LogSpace, MemberInfo::Role, Refusal::Why, RenewReply::Coverage, MirrorSeen::What,
        raft::Role, raft::ProposalOutcome::Kind, raft::EntryKind, raft::MemberChange::Kind, raft::ChangeOutcome::Kind,
        raft::TransferOutcome::Kind, raft::VoteKind, raft::Answer, raft::Cause, raft::AppendVerdict, LockMode, TimerOp::Kind,
        ApplyOutput::Stage, StmOptions::Isolation, StoreCompletion, Lane, TcpEvent::Kind, TcpEvent::Side, CloseReason,
        SecureChannel::State, Reason, Outcome, sim::BlackBox, sim::Timeline::State, sim::Timeline::Delivery,
        sim::Timeline::Topic, sim::Timeline::Weight, Severity, ReplicaEventKind>;

// Their names are words used by command lines and reports; the simulator's tests cover them.
template <typename Enum>
concept HasName = requires(Enum value) {
  { name_of(value) } -> std::same_as<std::string_view>;
};
static_assert(HasName<sim::Situation> && HasName<sim::FaultKind> && HasName<sim::Recipe>);

TEST(NamesTest, EveryEnumeratorOfEveryPublicEnumHasItsName) {
  for (const Named& one : Public::check()) EXPECT_EQ(one.faults, "") << one.name;
}

TEST(NamesTest, NoEnumOfAPublicHeaderIsMissingHere) {
  std::multiset<std::string> checked = {"Situation", "FaultKind", "Recipe"};
  for (const Named& one : Public::check()) checked.insert(one.name);
  std::multiset<std::string> declared;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() + "/include/coordkit")) {
    if (entry.path().extension() != ".h") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string header = text.str();
    static const std::regex kDefinition(R"(\n *enum class (\w+)[^;{]*\{)");
    for (std::sregex_iterator at(header.begin(), header.end(), kDefinition), end; at != end; ++at) declared.insert((*at)[1]);
  }
  EXPECT_EQ(checked, declared);
}

}  // namespace
}  // namespace coordkit
