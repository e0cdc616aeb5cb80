#include "engine/apply/router_meta.h"

#include <utility>

#include "coordkit/engine/engine.h"
#include "coordkit/error.h"
#include "engine/loop/engine_fields.h"
#include "raft/log/entry_codec.h"

namespace coordkit::engine {

// With its parts as they are stored in entries.
struct StoredMeta {
  RouterMeta meta;
  std::optional<std::string> genesis;
  std::optional<std::string> configuration;
};

template <typename Io>
void describe(Io& io, Describes<StoredMeta> auto& stored) {
  io.number(1, stored.meta.leader_term);
  io.bytes(2, stored.genesis);
  io.bytes(3, stored.configuration);
  io.number(4, stored.meta.configuration_at);
  io.numbers(5, stored.meta.begun);
  io.number_if_any(6, stored.meta.feature_level);
}

namespace {

constexpr MachineId kRouterRows{0};  // the router's own rows sort before every machine's

}  // namespace

std::string meta_key() { return row_prefix(kRouterRows) + "m"; }
std::string origins_prefix() { return row_prefix(kRouterRows) + "o"; }

std::string encode(const RouterMeta& meta) {
  std::string bytes;
  const StoredMeta stored{.meta = meta,
                          .genesis = meta.genesis ? coordkit::encode(*meta.genesis) : std::string(),
                          .configuration = coordkit::encode(meta.configuration)};
  codec::append<FieldRules>(bytes, stored);
  return bytes;
}

absl::StatusOr<RouterMeta> decode_router_meta(std::string_view bytes) try {
  StoredMeta stored;
  codec::read<FieldRules>(bytes, stored);
  if (stored.genesis) {
    auto genesis = decode_genesis(*stored.genesis);
    if (!genesis.ok()) return genesis.status();
    stored.meta.genesis = *std::move(genesis);
  }
  if (stored.configuration) {
    auto configuration = decode_configuration(*stored.configuration);
    if (!configuration.ok()) return configuration.status();
    stored.meta.configuration = *std::move(configuration);
  }
  return std::move(stored.meta);
} catch (const protozero::exception& error) {
  return make_error(Reason::Corrupt, std::string("malformed checkpoint: ") + error.what());
}

}  // namespace coordkit::engine
