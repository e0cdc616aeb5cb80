#include "replica/shell/parts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/random_id.h"
#include "base/thrown.h"
#include "coordkit/error.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/storage/segmented_log_store.h"
#include "coordkit/transport/loopback_transport.h"
#include "replica/shell/guarded_parts.h"
#include "storage/absolute_path.h"
#include "transport/secure/proof.h"
#include "transport/tcp/address.h"
#include "transport/tcp/tcp_transport_asio.h"

namespace coordkit {
namespace {

absl::Status failed(std::string_view part, std::string_view why) {
  return make_error(Reason::InvalidArgument, "the factory of the " + std::string(part) + " failed: " + std::string(why));
}

// An exception of a factory is the host's way to say that there is no part. Its own status is kept.
template <typename Part>
absl::StatusOr<std::unique_ptr<Part>> made_by(const PartFactory<Part>& factory, std::string_view part,
                                              const PartContext& context) {
  try {
    absl::StatusOr<std::unique_ptr<Part>> made = factory(context);
    if (!made.ok()) return made;
    if (*made == nullptr) return failed(part, "it returned null");
    return guarded(*std::move(made));
  } catch (...) {
    return failed(part, what_was_thrown());
  }
}

SegmentedLogOptions log_options(const ReplicaOptions& options) {
  SegmentedLogOptions log{.segment_bytes = options.segment_bytes};
  log.small_segment_bytes = std::min(log.small_segment_bytes, log.segment_bytes);
  return log;
}

LmdbStateOptions state_options(const ReplicaOptions& options) { return {.map_bytes_max = options.checkpoint_map_bytes_max}; }

// Its files are read again at every reload.
Tls with_absolute_paths(Tls tls) {
  for (std::string Tls::*file : {&Tls::certificate, &Tls::key, &Tls::authority}) tls.*file = storage::absolute_path(tls.*file);
  return tls;
}

// Several attempts fit between two heartbeats. Below 10 ms, acknowledgements on a busy machine come too late for it.
Duration resend_min(Duration heartbeat_interval) {
  using std::chrono::milliseconds;
  return std::clamp<Duration>(heartbeat_interval / 6, milliseconds(10), milliseconds(200));
}

absl::Status add_tcp_transport(MadeParts& parts, const ReplicaOptions& options, boost::asio::io_context* network) {
  TcpOptions tcp{.listen = own_address(options)};
  if (const auto* shared = std::get_if<SharedSecret>(&options.security)) tcp.secret = shared->secret;
  if (const auto* tls = std::get_if<Tls>(&options.security)) {
    auto channels = tls->open(with_absolute_paths(*tls), {options.cluster, ReplicaId(options.id)});
    if (!channels.ok()) return channels.status();
    tcp.channels = parts.channels = *std::move(channels);
  }
  tcp.guests_max = options.guests_max;
  tcp.resend_min = resend_min(options.heartbeat_interval);
  std::unique_ptr<TcpTransport> made =
      network != nullptr ? make_tcp_transport(tcp, *network) : std::make_unique<TcpTransport>(tcp);
  if (absl::Status status = made->bind(); !status.ok()) return status;
  parts.tcp = made.get();
  parts.transport = std::move(made);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LogStore>> segmented_log(const ReplicaOptions& options, const PartContext& context) {
  if (!options.parts.log_files) return std::make_unique<SegmentedLogStore>(context.directory(), log_options(options));
  auto files = [make = options.parts.log_files, context] { return made_by(make, "log's files", context); };
  return std::make_unique<SegmentedLogStore>(context.directory(), std::move(files), log_options(options));
}

void check_addresses(const ReplicaOptions& options, Problems& problems) {
  const auto split = options.members.size() == 1 ? tcp::split_alone : tcp::split_dialled;
  for (const MemberAddress& member : options.members) {
    if (const auto address = split(member.address); !address.ok()) {
      problems.add("the address of member " + std::to_string(member.id) + ": " + std::string(sentence_of(address.status())));
    }
  }
  if (const auto address = tcp::split_address(own_address(options)); !options.listen.empty() && !address.ok()) {
    problems.add("listen: " + std::string(sentence_of(address.status())));
  }
}

void check_security(const ReplicaOptions& options, Problems& problems) {
  if (std::holds_alternative<std::monostate>(options.security))
    problems.add(
        "security is not chosen: give it Tls{...}, SharedSecret{...}, or PlainText{} in a network that no stranger can reach");
  if (const auto* shared = std::get_if<SharedSecret>(&options.security)) {
    if (shared->secret.size() < kSecretBytesMin || shared->secret.size() > kSecretBytesMax) {
      problems.add(
          "security: the SharedSecret is not 16 to 1024 bytes long: draw it at random, for example with openssl rand -hex 32");
    }
  }
  if (const auto* tls = std::get_if<Tls>(&options.security)) {
    if (tls->certificate.empty() || tls->key.empty() || tls->authority.empty() || tls->open == nullptr)
      problems.add(
          "security: Tls lacks a file: name certificate, key and authority (coordkit-certificates makes some to begin with)");
  }
}

void check_remotes(const RemotesOptions& remotes, Problems& problems) {
  if (remotes.listen.empty()) return;
  if (const auto address = tcp::split_address(remotes.listen); !address.ok()) {
    problems.add("remotes.listen: " + std::string(sentence_of(address.status())));
  }
  problems.add(check(remotes.security, "remotes.security"));
  if (remotes.remotes_max == 0) problems.add("remotes.remotes_max is 0: give it 1 at least, or listen empty for no remotes");
}

}  // namespace

std::string own_address(const ReplicaOptions& options) {
  if (!options.listen.empty()) return options.listen;
  for (const MemberAddress& member : options.members) {
    if (member.id == options.id) return member.address;
  }
  return {};
}

void check_parts(const ReplicaOptions& options, Problems& problems) {
  const Parts& parts = options.parts;
  check_remotes(options.remotes, problems);
  if (parts.transport) {
    if (std::holds_alternative<SharedSecret>(options.security) || std::holds_alternative<Tls>(options.security))
      problems.add(
          "security is a SharedSecret or Tls, which only the TCP transport knows how to use: give it to your own transport "
          "instead");
  } else {
    check_security(options, problems);
    check_addresses(options, problems);
  }
  if (options.data_dir.empty() && !(parts.log_store && parts.state_store))
    problems.add(
        "data_dir is empty: name a directory that belongs to this replica alone, or give parts with stores of your own");
  if (parts.log_store && parts.log_files)
    problems.add("parts.log_files has no use beside parts.log_store: leave one of them out");
  if (!parts.state_store && !state_options(options).validate().ok())
    problems.add("checkpoint_map_bytes_max is not between 1 MiB and 64 TiB");
  if (parts.log_store) return;
  problems.add(log_options(options).validate());
}

const std::shared_ptr<DataDirectory>& PartContext::directory() const {
  if (!directory_) throw std::invalid_argument("it keeps files, and data_dir is empty: name a directory for this replica");
  return directory_;
}

absl::StatusOr<MadeParts> make_parts(const ReplicaOptions& options, std::shared_ptr<DataDirectory> directory,
                                     boost::asio::io_context* network) {
  PartContext context(directory);
  context.replica = ReplicaId(options.id);
  context.cluster = options.cluster;
  context.address = own_address(options);
  context.store = directory ? directory->store() : StoreId(random_id());
  context.boot = directory ? directory->boot() : BootCounter(1);
  const Parts& parts = options.parts;
  MadeParts made;
  if (parts.transport) {
    auto transport = made_by(parts.transport, "transport", context);
    if (!transport.ok()) return transport.status();
    made.transport = *std::move(transport);
  } else {
    // Before touching the stores.
    if (absl::Status status = add_tcp_transport(made, options, network); !status.ok()) return status;
  }
  if (!options.remotes.listen.empty()) {
    auto remotes = RemoteListener::open(options.remotes, network);
    if (!remotes.ok()) return remotes.status();
    made.remotes = *std::move(remotes);
  }
  auto log = parts.log_store ? made_by(parts.log_store, "log store", context) : segmented_log(options, context);
  if (!log.ok()) return log.status();
  made.log = *std::move(log);
  if (!parts.state_store) {
    made.state = std::make_unique<LmdbStateStore>(std::move(directory), state_options(options));
    return made;
  }
  auto state = made_by(parts.state_store, "state store", context);
  if (!state.ok()) return state.status();
  made.state = *std::move(state);
  return made;
}

Parts memory_stores() {
  return {.log_store = [](const PartContext& part) { return std::make_unique<MemoryLogStore>(part.store); },
          .state_store = [](const PartContext&) { return std::make_unique<MemoryStateStore>(); }};
}

PartFactory<Transport> loopback(LoopbackHub& hub) {
  return [&hub](const PartContext&) { return std::make_unique<LoopbackTransport>(hub); };
}

Parts in_memory(LoopbackHub& hub) {
  Parts parts = memory_stores();
  parts.transport = loopback(hub);
  return parts;
}

}  // namespace coordkit
