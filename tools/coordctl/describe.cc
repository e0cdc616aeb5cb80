#include "tools/coordctl/describe.h"

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "base/enum_words.h"
#include "base/fixed.h"
#include "base/hold_texts.h"
#include "coordkit/engine/engine.h"
#include "engine/apply/log_command.h"
#include "engine/apply/router_meta.h"
#include "machine/checkpoint_rows.h"
#include "machine/guard.h"
#include "raft/log/entry_codec.h"
#include "tools/coordctl/describe_command.h"

namespace coordkit::coordctl {
namespace {

Json describe_members(const std::vector<raft::Member>& members) {
  Json list = Json::array();
  for (const raft::Member& member : members) {
    list.push_back({{"replica", member.id.value()}, {"store", member.store.value()}, {"address", safe_bytes(member.address)}});
  }
  return list;
}

Json describe_configuration(const raft::Configuration& configuration) {
  Json out = {{"voters", describe_members(configuration.voters)}};
  if (!configuration.outgoing.empty()) out["outgoing"] = describe_members(configuration.outgoing);
  if (!configuration.learners.empty()) out["learners"] = describe_members(configuration.learners);
  return out;
}

Json undecoded(std::string_view bytes, const absl::Status& why, size_t bytes_max) {
  return {{"undecoded", safe_bytes(std::string(why.message()), bytes_max)}, {"payload", safe_bytes(bytes, bytes_max)}};
}

Json describe_origin(const Origin& origin) {
  return {{"replica", origin.replica.value()}, {"store", origin.store.value()}, {"boot", origin.boot.value()}};
}

Json describe_guard(const engine::Request::GuardView& view, size_t bytes_max) {
  Json out = {{"machine", view.machine.value()}};
  const absl::StatusOr<machine::Guard> guard =
      view.machine == kCoordination ? machine::decode_guard(view.bytes) : absl::UnimplementedError("a guard of the host's");
  if (!guard.ok()) {
    out["bytes"] = safe_bytes(view.bytes, bytes_max);
  } else if (const auto* held = std::get_if<machine::LockHeld>(&*guard)) {
    out["held"] = safe_bytes(held->name, bytes_max);
    out["token"] = held->token.value();
  } else if (const auto* free = std::get_if<machine::LockFree>(&*guard)) {
    out["free"] = safe_bytes(free->name, bytes_max);
  }
  return out;
}

Json describe(const engine::Request& request, size_t bytes_max) {
  Json out = {{"from", describe_origin(request.id.origin)}, {"sequence", request.id.sequence.value()}};
  if (!request.name.empty()) out["remote"] = std::string(request.name);
  out["machine"] = request.machine.value();
  if (request.guard) out["guard"] = describe_guard(*request.guard, bytes_max);
  if (request.machine != kCoordination) {
    out["payload"] = safe_bytes(request.payload, bytes_max);
    return out;
  }
  const absl::StatusOr<machine::Request> command = machine::decode_request(request.payload);
  out["command"] =
      command.ok() ? describe_command(*command, bytes_max) : undecoded(request.payload, command.status(), bytes_max);
  return out;
}

Json describe(const engine::RegisterOrigin& registration, size_t) {
  Json out = {{"registers", describe_origin(registration.origin)}};
  if (!registration.name.empty()) out["remote"] = std::string(registration.name);
  return out;
}

Json describe(const engine::FireTimers& fired, size_t) {
  Json timers = Json::array();
  for (const FiredTimer& timer : fired.timers) {
    timers.push_back({{"timer", timer.id.value()}, {"generation", timer.generation.value()}});
  }
  return {{"fires", timers}, {"machine", fired.machine.value()}, {"leader_term", fired.term.value()}};
}

Json describe(const engine::DigestVote& vote, size_t) {
  return {{"digest_of", vote.replica.value()}, {"after", vote.index.value()}, {"digest", vote.digest}};
}

Json describe(const engine::RaiseLevel& raise, size_t) { return {{"raises_feature_level_to", raise.level}}; }

Json describe_payload(const raft::Entry& entry, size_t bytes_max) {
  const std::string_view payload = entry.payload.view();
  switch (entry.kind) {
    case raft::EntryKind::LeaderStart: return Json::object();
    case raft::EntryKind::Genesis: {
      const absl::StatusOr<raft::Genesis> genesis = decode_genesis(payload);
      if (!genesis.ok()) return undecoded(payload, genesis.status(), bytes_max);
      return {{"token_base", genesis->token_base}, {"configuration", describe_configuration(genesis->configuration)}};
    }
    case raft::EntryKind::Configuration: {
      const absl::StatusOr<raft::Configuration> configuration = decode_configuration(payload);
      if (!configuration.ok()) return undecoded(payload, configuration.status(), bytes_max);
      return {{"configuration", describe_configuration(*configuration)}};
    }
    case raft::EntryKind::Command: break;
  }
  const absl::StatusOr<engine::LogCommand> command = engine::decode_command(payload);
  if (!command.ok()) return undecoded(payload, command.status(), bytes_max);
  return std::visit([bytes_max](const auto& one) { return describe(one, bytes_max); }, *command);
}

// ---- rows

using machine::rows::ParsedKey;
using machine::rows::TableByte;

Json describe_counters(std::string_view value) {
  const auto counters = machine::rows::decode_counters(value);
  if (!counters.ok()) return undecoded(value, counters.status(), kShownBytes);
  return {{"table", "counters"},
          {"last_token", counters->counter},
          {"revision", counters->keys.revision.value()},
          {"compacted", counters->keys.compacted.value()},
          {"swept", counters->keys.swept.value()},
          {"key_quota", counters->key_quota}};
}

Json describe_key(const ParsedKey& key, std::string_view value, size_t bytes_max) {
  const auto change = machine::rows::decode_change(value);
  if (!change.ok()) return undecoded(value, change.status(), bytes_max);
  Json out = {{"table", "keys"}, {"revision", key.id}, {"key", safe_bytes(change->key, bytes_max)}};
  if (key.sub != 0) out["place"] = key.sub;
  if (change->stamp.version == 0) {
    out["deleted"] = true;
    return out;
  }
  out["value"] = safe_bytes(change->value, bytes_max);
  out["create"] = change->stamp.create.value();
  out["version"] = change->stamp.version;
  if (change->stamp.lease) out["lease"] = change->stamp.lease.value();
  return out;
}

// A session, or a lease of keys, which has the same record and a name.
Json describe_life(const ParsedKey& key, std::string_view value, size_t bytes_max) {
  const auto session = machine::rows::decode_session(value);
  if (!session.ok()) return undecoded(value, session.status(), bytes_max);
  Json out = {{"table", key.table == TableByte::Leases ? "leases" : "sessions"}, {"id", key.id}};
  if (session->name) out["lease"] = session->name.value();
  out["ttl_ms"] = milliseconds(session->group.ttl);
  out["node"] = session->group.node.value();
  out["boot"] = session->group.boot.value();
  if (!session->metadata.empty()) out["metadata"] = safe_bytes(session->metadata, bytes_max);
  if (session->ending) out["ending"] = true;
  return out;
}

Json describe_claim(const ParsedKey& key, std::string_view value, size_t bytes_max) {
  const auto claim = machine::rows::decode_claim(value);
  if (!claim.ok()) return undecoded(value, claim.status(), bytes_max);
  const bool held = key.table == TableByte::Holds;
  Json out = {{"table", held ? "holds" : "waiters"}, {held ? "token" : "entry", key.id}};
  out["name"] = safe_bytes(claim->name, bytes_max);
  for (const auto& other : claim->others) out["others"].push_back(safe_bytes(other.name, bytes_max));
  out["session"] = claim->session.value();
  out["since"] = claim->since.value();
  if (!claim->tag.empty()) out["owner"] = safe_bytes(claim->tag, bytes_max);
  each_hold_text(
      [&](const HoldText& text, std::string_view shown) {
        if (!shown.empty()) out[text.name] = safe_bytes(shown, bytes_max);
      },
      claim->texts);
  if (claim->count != 1) out["count"] = claim->count;
  if (claim->sticky()) out["block_to"] = claim->block.last.value();
  return out;
}

Json describe_delay(const ParsedKey& key, std::string_view value, size_t bytes_max) {
  const auto delay = machine::rows::decode_delay(value);
  if (!delay.ok()) return undecoded(value, delay.status(), bytes_max);
  return {
      {"table", "delays"}, {"id", key.id}, {"name", safe_bytes(delay->name, bytes_max)}, {"ms", milliseconds(delay->duration)}};
}

Json describe_own_row(std::string_view rest, std::string_view value, size_t bytes_max) {
  const absl::StatusOr<ParsedKey> key = machine::rows::parse_key(rest);
  if (!key.ok()) return undecoded(value, key.status(), bytes_max);
  switch (key->table) {
    case TableByte::Counters: return describe_counters(value);
    case TableByte::Keys: return describe_key(*key, value, bytes_max);
    case TableByte::Sessions:
    case TableByte::Leases: return describe_life(*key, value, bytes_max);
    case TableByte::Holds:
    case TableByte::Waiters: return describe_claim(*key, value, bytes_max);
    case TableByte::Delays: return describe_delay(*key, value, bytes_max);
    default: return {{"table", std::string(words_of(key->table))}, {"id", key->id}, {"record", safe_bytes(value, bytes_max)}};
  }
}

Json describe_meta(std::string_view value, size_t bytes_max) {
  const absl::StatusOr<engine::RouterMeta> meta = engine::decode_router_meta(value);
  if (!meta.ok()) return undecoded(value, meta.status(), bytes_max);
  Json out = {{"table", "cluster"}, {"leader_term", meta->leader_term.value()}};
  if (meta->genesis) out["token_base"] = meta->genesis->token_base;
  out["configuration"] = describe_configuration(meta->configuration);
  out["configuration_at"] = meta->configuration_at.value();
  for (const MachineId id : meta->begun) out["machines"].push_back(id.value());
  return out;
}

}  // namespace

Json describe_entry(const raft::Entry& entry, size_t bytes_max) {
  Json out = {{"index", entry.index.value()}, {"term", entry.term.value()}, {"kind", std::string(name_of(entry.kind))}};
  out.update(describe_payload(entry, bytes_max));
  return out;
}

Json describe_row(std::string_view key, std::string_view value, size_t bytes_max) {
  if (key == engine::meta_key()) return describe_meta(value, bytes_max);
  if (key.starts_with(engine::origins_prefix())) return {{"table", "origins"}, {"bytes", value.size()}};
  if (key.size() < row_prefix(kCoordination).size()) return {{"key", safe_bytes(key)}, {"value", safe_bytes(value, bytes_max)}};
  const MachineId machine(load_sortable(key.data()));
  const std::string_view rest = key.substr(row_prefix(machine).size());
  if (machine == kCoordination) return describe_own_row(rest, value, bytes_max);
  return {{"machine", machine.value()}, {"row", safe_bytes(rest, bytes_max)}, {"value", safe_bytes(value, bytes_max)}};
}

}  // namespace coordkit::coordctl
