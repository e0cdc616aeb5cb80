#include "engine/router_meta.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fields.h"
#include "coordkit/engine.h"
#include "coordkit/error.h"
#include "raft/entry_codec.h"

namespace coordkit::engine {
namespace {

constexpr MachineId kRouterRows{0};  // the router's own rows sort before every machine's

}  // namespace

std::string meta_key() { return row_prefix(kRouterRows) + "m"; }
std::string origins_prefix() { return row_prefix(kRouterRows) + "o"; }

std::string encode(const RouterMeta& meta) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  out.add_uint64(1, meta.leader_term.value());
  out.add_bytes(2, meta.genesis ? coordkit::encode(*meta.genesis) : std::string());
  out.add_bytes(3, coordkit::encode(meta.configuration));
  out.add_uint64(4, meta.configuration_at.value());
  for (const MachineId id : meta.begun) out.add_uint64(5, id.value());
  if (meta.feature_level != 0) out.add_uint64(6, meta.feature_level);
  return bytes;
}

absl::StatusOr<RouterMeta> decode_router_meta(std::string_view bytes) try {
  RouterMeta meta;
  protozero::pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): meta.leader_term = Term(in.get_uint64()); break;
      case fields::bytes(2): {
        auto genesis = decode_genesis(in.get_bytes());
        if (!genesis.ok()) return genesis.status();
        meta.genesis = *std::move(genesis);
        break;
      }
      case fields::bytes(3): {
        auto configuration = decode_configuration(in.get_bytes());
        if (!configuration.ok()) return configuration.status();
        meta.configuration = *std::move(configuration);
        break;
      }
      case fields::number(4): meta.configuration_at = Index(in.get_uint64()); break;
      case fields::number(6): meta.feature_level = in.get_uint64(); break;
      case fields::number(5): meta.begun.push_back(MachineId(in.get_uint64())); break;
      default: in.skip();
    }
  }
  return meta;
} catch (const protozero::exception& error) {
  return make_error(Reason::Corrupt, std::string("malformed checkpoint: ") + error.what());
}

}  // namespace coordkit::engine
