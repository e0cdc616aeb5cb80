#include "raft/log/entry_codec.h"

#include <algorithm>

#include "base/field_io.h"

namespace coordkit::raft {

using codec::Describes;

template <typename Io>
void describe(Io& io, Describes<Member> auto& member) {
  io.number(1, member.id);
  io.fixed(2, member.store);
  io.bytes(3, member.address);
}

template <typename Io>
void describe(Io& io, Describes<Configuration> auto& configuration) {
  constexpr size_t kKept = kMembersMax + 1;  // one too many, for check() to refuse
  io.repeated_first(1, configuration.voters, kKept);
  io.repeated_first(2, configuration.outgoing, kKept);
  io.repeated_first(3, configuration.learners, kKept);
}

template <typename Io>
void describe(Io& io, Describes<Genesis> auto& genesis) {
  io.fixed(1, genesis.cluster);
  io.number(2, genesis.token_base);
  io.message(3, genesis.configuration);
  io.number_if_any(4, genesis.feature_level);
}

}  // namespace coordkit::raft

namespace coordkit {
namespace {

using raft::Configuration;
using raft::Genesis;
using raft::Member;

bool valid(const std::vector<Member>& members) {
  const auto ordered = [](const Member& a, const Member& b) { return a.id < b.id; };
  return members.size() <= kMembersMax && std::is_sorted(members.begin(), members.end(), ordered) &&
         std::adjacent_find(members.begin(), members.end(), [](auto& a, auto& b) { return a.id == b.id; }) == members.end() &&
         std::all_of(members.begin(), members.end(),
                     [](const Member& m) { return m.id && m.address.size() <= kAddressBytesMax; });
}

absl::Status check(const Configuration& configuration) {
  if (configuration.voters.empty()) return absl::DataLossError("a configuration without voters");
  if (!valid(configuration.voters) || !valid(configuration.outgoing) || !valid(configuration.learners)) {
    return absl::DataLossError("a configuration whose members are unsorted, repeated or too many");
  }
  return absl::OkStatus();
}

}  // namespace

std::string encode(const Configuration& configuration) {
  std::string bytes;
  codec::append<codec::DenseRules>(bytes, configuration);
  return bytes;
}

std::string encode(const Genesis& genesis) {
  std::string bytes;
  codec::append<codec::DenseRules>(bytes, genesis);
  return bytes;
}

absl::StatusOr<Configuration> decode_configuration(std::string_view bytes) try {
  Configuration configuration;
  codec::read<codec::DenseRules>(bytes, configuration);
  if (absl::Status status = check(configuration); !status.ok()) return status;
  return configuration;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed configuration: ") + error.what());
}

absl::StatusOr<Genesis> decode_genesis(std::string_view bytes) try {
  Genesis genesis;
  codec::read<codec::DenseRules>(bytes, genesis);
  if (!genesis.cluster) return absl::DataLossError("a genesis without a cluster id");
  if (absl::Status status = check(genesis.configuration); !status.ok()) return status;
  return genesis;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed genesis: ") + error.what());
}

absl::StatusOr<Configuration> configuration_of(const raft::Entry& entry) {
  if (entry.kind == raft::EntryKind::Configuration) return decode_configuration(entry.payload.view());
  if (entry.kind != raft::EntryKind::Genesis) return absl::InvalidArgumentError("an entry of a kind without configuration");
  absl::StatusOr<Genesis> genesis = decode_genesis(entry.payload.view());
  if (!genesis.ok()) return genesis.status();
  return std::move(genesis->configuration);
}

}  // namespace coordkit
