#include "machine/command.h"

#include <algorithm>
#include <utility>

#include "machine/fields.h"
#include "machine/kv_codec.h"
#include "machine/record_codec.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

// Numbers of Request's fields: one per kind, never reused.
enum RequestKind : uint32_t { kPrior = 1, kOpen = 2, kClose = 3, kPut = 16, kDelete = 17, kTransaction = 80, kCompact = 81 };

void write(pbf_writer&, std::monostate) {}
void write(pbf_writer& request, const OpenSession& open) {
  pbf_writer out(request, kOpen);
  put_duration(out, 1, open.ttl);
  put_bytes(out, 2, open.metadata);
  put_number(out, 3, open.node);
  put_number(out, 4, open.boot);
  put_number(out, 5, open.incarnation);
  if (open.secret) put_bytes(out, 30, open.secret.view());
}
void write(pbf_writer& request, const CloseSession& close) {
  pbf_writer out(request, kClose);
  put_number(out, 1, close.session);
}
void write(pbf_writer& request, const Put& put) { put_element(request, kPut, put); }
void write(pbf_writer& request, const Delete& erase) { put_element(request, kDelete, erase); }
void write(pbf_writer& request, const Transaction& transaction) { put_transaction(request, kTransaction, transaction); }
void write(pbf_writer& request, const Compact& compact) { put_element(request, kCompact, compact); }
void write(pbf_writer& request, const GrantLease& grant) { put_element(request, grant.kField, grant); }
void write(pbf_writer& request, const RenewLease& renew) { put_element(request, renew.kField, renew); }
void write(pbf_writer& request, const RevokeLease& revoke) { put_element(request, revoke.kField, revoke); }
void write(pbf_writer& request, const SetKeyQuota& set) { put_element(request, set.kField, set); }

// Anything but the length of a hash is not one, and leaves none.
void get_hash(pbf_reader& in, lease::SecretHash& hash) {
  const auto view = in.get_view();
  if (view.size() == hash.bytes.size()) std::copy_n(view.data(), view.size(), hash.bytes.begin());
}

void write(pbf_writer& request, const CoordinationCommand& command) {
  std::visit([&request](const auto& one) { put_field(request, one.kField, one); }, command);
}

OpenSession read_open(pbf_reader in) {
  OpenSession open;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, open.ttl); break;
      case bytes(2): get(in, open.metadata); break;
      case number(3): get(in, open.node); break;
      case number(4): get(in, open.boot); break;
      case number(5): get(in, open.incarnation); break;
      case bytes(30): get_hash(in, open.secret); break;
      default: in.skip();
    }
  }
  return open;
}

CloseSession read_close(pbf_reader in) {
  CloseSession close;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, close.session); break;
      default: in.skip();
    }
  }
  return close;
}

// False: the field is none of these commands.
template <typename... Commands>
bool read_coordination(pbf_reader& in, Request::Body& body, std::variant<Commands...>* /* which there are */) {
  const auto read = [&]<typename Command>(Command command) {
    if (in.tag_and_type() != bytes(Command::kField)) return false;
    get(in, command);
    body = CoordinationCommand(std::move(command));
    return true;
  };
  return (read(Commands()) || ...);
}

PriorRelease read_prior(pbf_reader in) {
  PriorRelease prior;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, prior.name); break;
      case number(2): get(in, prior.token); break;
      case number(3): get(in, prior.number); break;
      default: in.skip();
    }
  }
  return prior;
}

ResultCode check(std::monostate) { return ResultCode::Unsupported; }
ResultCode check(const OpenSession& open) {
  if (open.ttl <= Duration::zero() || !open.node || !open.boot) return ResultCode::InvalidArgument;
  if (open.ttl > kTtlMax) return ResultCode::TtlTooLarge;
  return open.metadata.size() <= kMetadataBytesMax ? ResultCode::Ok : ResultCode::LimitExceeded;
}
ResultCode check(const CloseSession&) { return ResultCode::Ok; }
ResultCode check(const RenewLease&) { return ResultCode::Ok; }  // whatever it names is there or not
ResultCode check(const RevokeLease&) { return ResultCode::Ok; }
ResultCode check(const SetKeyQuota&) { return ResultCode::Ok; }
using machine::check;  // of the other kinds

bool names_a_session(const Request& request) {
  const auto* coordination = std::get_if<CoordinationCommand>(&request.body);
  if (coordination != nullptr) return session_of(*coordination).has_value();
  return std::visit(
      [](const auto& body) {
        return requires { body.session; };
      },
      request.body);
}

}  // namespace

SessionId session_of(const Request& request) {
  const auto* coordination = std::get_if<CoordinationCommand>(&request.body);
  if (coordination != nullptr) return session_of(*coordination).value_or(SessionId());
  return std::visit(
      [](const auto& body) -> SessionId {
        if constexpr (requires { body.session; }) return body.session;
        return {};
      },
      request.body);
}

ResultCode validate(const Request& request) {
  const ResultCode body = std::visit([](const auto& kind) { return check(kind); }, request.body);
  if (body != ResultCode::Ok) return body;
  if (names_a_session(request) && !session_of(request)) return ResultCode::InvalidArgument;
  if (!request.prior_releases.empty() && !names_a_session(request)) return ResultCode::InvalidArgument;
  if (request.prior_releases.size() > kPriorReleasesMax) return ResultCode::LimitExceeded;
  for (const PriorRelease& prior : request.prior_releases) {
    if (const ResultCode name = check_name(prior.name); name != ResultCode::Ok) return name;
    if (!prior.token) return ResultCode::InvalidArgument;
  }
  return ResultCode::Ok;
}

std::string encode(const Request& request) {
  std::string bytes;
  encode(request, bytes);
  return bytes;
}

void encode(const Request& request, std::string& bytes) {
  bytes.clear();
  pbf_writer out(bytes);
  for (const PriorRelease& prior : request.prior_releases) {
    pbf_writer body(out, kPrior);
    put_bytes(body, 1, prior.name);
    put_number(body, 2, prior.token);
    put_number(body, 3, prior.number);
  }
  std::visit([&out](const auto& body) { write(out, body); }, request.body);
}

absl::StatusOr<Request> decode_request(std::string_view encoded) {
  if (encoded.size() > kRequestBytesMax) return absl::InvalidArgumentError("malformed request: too large");
  Request request;
  const auto read = [&request](pbf_reader in) -> absl::Status {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case bytes(kPrior):
          if (request.prior_releases.size() == kPriorReleasesMax) {
            return absl::InvalidArgumentError("malformed request: too many prior releases");
          }
          request.prior_releases.push_back(read_prior(in.get_message()));
          break;
        case bytes(kOpen): request.body = read_open(in.get_message()); break;
        case bytes(kClose): request.body = read_close(in.get_message()); break;
        case bytes(kAcquireField): request.body = read_acquire(in.get_message()); break;
        case bytes(kReleaseField): request.body = read_release(in.get_message()); break;
        case bytes(kCancelField): request.body = read_cancel(in.get_message()); break;
        case bytes(kAcquireAllField): request.body = read_acquire_all(in.get_message()); break;
        case bytes(kDowngradeField): request.body = read_downgrade(in.get_message()); break;
        case bytes(kUpgradeField): request.body = read_upgrade(in.get_message()); break;
        case bytes(kUpdateValueField): request.body = read_update_value(in.get_message()); break;
        case bytes(kClearDelayField): request.body = read_clear_delay(in.get_message()); break;
        case bytes(kRefillBlockField): request.body = read_refill_block(in.get_message()); break;
        case bytes(kResumeField): request.body = read_resume(in.get_message()); break;
        case bytes(kKillField): request.body = read_kill(in.get_message()); break;
        case bytes(kForceReleaseField): request.body = read_force_release(in.get_message()); break;
        case bytes(kPut): get(in, request.body.emplace<Put>()); break;
        case bytes(kDelete): get(in, request.body.emplace<Delete>()); break;
        case bytes(kTransaction): request.body = get_transaction(in.get_message()); break;
        case bytes(kCompact): get(in, request.body.emplace<Compact>()); break;
        case bytes(GrantLease::kField): get(in, request.body.emplace<GrantLease>()); break;
        case bytes(RenewLease::kField): get(in, request.body.emplace<RenewLease>()); break;
        case bytes(RevokeLease::kField): get(in, request.body.emplace<RevokeLease>()); break;
        case bytes(SetKeyQuota::kField): get(in, request.body.emplace<SetKeyQuota>()); break;
        default:
          if (!read_coordination(in, request.body, static_cast<CoordinationCommand*>(nullptr))) in.skip();
      }
    }
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, absl::StatusCode::kInvalidArgument, "request", read); !status.ok()) return status;
  return request;
}

}  // namespace coordkit::machine
