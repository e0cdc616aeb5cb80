// Every enum of the public headers has one name function, name_of, and it knows every enumerator. The headers' text says which
// enums and enumerators there are, so that none can be forgotten here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "base/enum_words.h"
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
#include "coordkit/remote.h"
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

using Words = std::set<std::string>;

// Far beyond the last enumerator.
constexpr int kLooked = 256;

template <typename Enum>
Words names_of_all() {
  Words names;
  for (int number = 0; number < kLooked; ++number) names.emplace(name_of(static_cast<Enum>(number)));
  names.erase("?");
  return names;
}

template <typename... Enums>
struct All {
  static std::multiset<Words> names() { return {names_of_all<Enums>()...}; }
};

using Public =
    All<BarrierAtSessionEnd, PartyAtSessionEnd, Seen, GroupSeen::What, SessionPhase, LockWait::Kind, Fence::Wants,
        WatchBatch::What, Urgency, Consistency, Divergence::Verdict, ReplicaState, FenceMode, OpenMode, SortTarget, SortOrder,
        Compare::Target, Compare::Relation, LogSpace, MemberInfo::Role, Refusal::Why, RenewReply::Coverage, MirrorSeen::What,
        raft::Role, raft::ProposalOutcome::Kind, raft::EntryKind, raft::MemberChange::Kind, raft::ChangeOutcome::Kind,
        raft::TransferOutcome::Kind, raft::VoteKind, raft::Answer, raft::Cause, raft::AppendVerdict, LockMode, Right,
        TimerOp::Kind, ApplyOutput::Stage, StmOptions::Isolation, StoreCompletion, Lane, TcpEvent::Kind, TcpEvent::Side,
        CloseReason, SecureChannel::State, Reason, Outcome, LinkState::Kind, sim::BlackBox, sim::Timeline::State,
        sim::Timeline::Delivery, sim::Timeline::Topic, sim::Timeline::Weight, Severity, ReplicaEventKind>;

// Their names are words used by command lines and reports; the simulator's tests cover them.
const Words kOfTheirOwn = {"Situation", "FaultKind", "Recipe"};
template <typename Enum>
concept HasName = requires(Enum value) {
  { name_of(value) } -> std::same_as<std::string_view>;
};
static_assert(HasName<sim::Situation> && HasName<sim::FaultKind> && HasName<sim::Recipe>);

// The enumerators of each enum that the text defines.
void add_enums(const std::string& header, std::multiset<Words>& out) {
  static const std::regex kComment("//[^\n]*"), kEnum(R"(\n *enum class (\w+)[^;{]*\{([^}]*)\})"), kFirstWord(R"((\w+)[^,]*)");
  const std::string code = std::regex_replace(header, kComment, "");
  for (std::sregex_iterator at(code.begin(), code.end(), kEnum), end; at != end; ++at) {
    if (kOfTheirOwn.contains((*at)[1])) continue;
    const std::string inside = (*at)[2];
    Words names;
    for (std::sregex_iterator one(inside.begin(), inside.end(), kFirstWord); one != end; ++one) names.insert((*one)[1]);
    out.insert(names);
  }
}

TEST(NamesTest, EveryEnumeratorOfEveryPublicEnumHasItsName) {
  std::multiset<Words> declared;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() + "/include/coordkit")) {
    if (entry.path().extension() != ".h") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    add_enums(text.str(), declared);
  }
  EXPECT_GE(declared.size(), 50u) << "hardly any enum was found";
  EXPECT_EQ(Public::names(), declared);
}

TEST(NamesTest, WordsAreMadeOfTheName) {
  EXPECT_EQ(words_of(CloseReason::CertificateNotYetValid), "certificate_not_yet_valid");
  EXPECT_EQ(words_of<' '>(CloseReason::CertificateNotYetValid), "certificate not yet valid");
  EXPECT_EQ(words_of(CloseReason(42)), "?");
  EXPECT_EQ(words_of(CloseReason(255)), "?");
}

TEST(NamesTest, AnEnumOfTheHostHasNoNameOfOurs) {
  static_assert(!HasName<std::filesystem::file_type> && !HasName<int>);
  EXPECT_EQ(name_of(static_cast<LockMode>(0)), "?");
  EXPECT_EQ(name_of(static_cast<LockMode>(255)), "?");
  EXPECT_STREQ(name_of(LockMode::Shared).data(), "Shared");
}

}  // namespace
}  // namespace coordkit
