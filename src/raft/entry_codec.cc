#include "raft/entry_codec.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fields.h"

namespace coordkit {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;
using raft::Configuration;
using raft::Genesis;
using raft::Member;

void write_members(pbf_writer& out, uint32_t field, const std::vector<Member>& members) {
  for (const Member& member : members) {
    pbf_writer body(out, field);
    body.add_uint64(1, member.id.value());
    body.add_fixed64(2, member.store.value());
    body.add_string(3, member.address);
  }
}

Member read_member(pbf_reader in) {
  Member member;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): member.id = ReplicaId(in.get_uint64()); break;
      case fields::fixed(2): member.store = StoreId(in.get_fixed64()); break;
      case fields::bytes(3): member.address = in.get_string(); break;
      default: in.skip();
    }
  }
  return member;
}

bool sound(const std::vector<Member>& members) {
  const auto ordered = [](const Member& a, const Member& b) { return a.id < b.id; };
  return members.size() <= kMembersMax && std::is_sorted(members.begin(), members.end(), ordered) &&
         std::adjacent_find(members.begin(), members.end(), [](auto& a, auto& b) { return a.id == b.id; }) == members.end() &&
         std::all_of(members.begin(), members.end(),
                     [](const Member& m) { return m.id && m.address.size() <= kAddressBytesMax; });
}

Configuration read_configuration(pbf_reader in) {
  Configuration configuration;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::bytes(1): configuration.voters.push_back(read_member(in.get_message())); break;
      case fields::bytes(2): configuration.outgoing.push_back(read_member(in.get_message())); break;
      case fields::bytes(3): configuration.learners.push_back(read_member(in.get_message())); break;
      default: in.skip();
    }
  }
  return configuration;
}

void write_configuration(pbf_writer& out, const Configuration& configuration) {
  write_members(out, 1, configuration.voters);
  write_members(out, 2, configuration.outgoing);
  write_members(out, 3, configuration.learners);
}

absl::Status check(const Configuration& configuration) {
  if (configuration.voters.empty()) return absl::DataLossError("a configuration without voters");
  if (!sound(configuration.voters) || !sound(configuration.outgoing) || !sound(configuration.learners)) {
    return absl::DataLossError("a configuration whose members are unsorted, repeated or too many");
  }
  return absl::OkStatus();
}

}  // namespace

std::string encode(const Configuration& configuration) {
  std::string bytes;
  pbf_writer out(bytes);
  write_configuration(out, configuration);
  return bytes;
}

std::string encode(const Genesis& genesis) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_fixed64(1, genesis.cluster.value());
  out.add_uint64(2, genesis.token_base);
  {
    pbf_writer configuration(out, 3);
    write_configuration(configuration, genesis.configuration);
  }
  if (genesis.feature_level != 0) out.add_uint64(4, genesis.feature_level);
  return bytes;
}

absl::StatusOr<Configuration> decode_configuration(std::string_view bytes) try {
  Configuration configuration = read_configuration(pbf_reader(bytes.data(), bytes.size()));
  if (absl::Status status = check(configuration); !status.ok()) return status;
  return configuration;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed configuration: ") + error.what());
}

absl::StatusOr<Genesis> decode_genesis(std::string_view bytes) try {
  Genesis genesis;
  pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::fixed(1): genesis.cluster = ClusterId(in.get_fixed64()); break;
      case fields::number(2): genesis.token_base = in.get_uint64(); break;
      case fields::bytes(3): genesis.configuration = read_configuration(in.get_message()); break;
      case fields::number(4): genesis.feature_level = in.get_uint64(); break;
      default: in.skip();
    }
  }
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
