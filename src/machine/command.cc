#include "machine/command.h"

#include "coordkit/ports/state_machine.h"
#include "machine/keys/kv_codec.h"
#include "machine/permissions/permission_fields.h"
#include "machine/record_codec.h"

namespace coordkit::machine {

// For the public types: their fields, and their numbers among Request's fields, which are never reused.
namespace fields {
template <>
struct FieldsOf<NamedLock> {
  static constexpr auto list() { return std::tuple(&NamedLock::name, &NamedLock::mode); }
};
template <>
inline constexpr size_t kListKept<NamedLock> = kLocksMax + 1;
template <>
inline constexpr uint32_t kNumberOf<Put> = 16;
template <>
inline constexpr uint32_t kNumberOf<Delete> = 17;
template <>
inline constexpr uint32_t kNumberOf<Transaction> = 80;
}  // namespace fields

namespace {

using namespace fields;  // the vocabulary of this file

Objection check(std::monostate) { return {ResultCode::Unsupported}; }
Objection check(const OpenSession& open) {
  Objection ttl = check_ttl(open.ttl);
  if (ttl.code != ResultCode::InvalidArgument && (!open.node || !open.boot)) return invalid();
  if (!ttl.none()) return ttl;
  return check_size("session's metadata", open.metadata.size(), kMetadataBytesMax);
}
Objection check(const CloseSession&) { return {}; }
Objection check(const RenewLease&) { return {}; }  // the lease may or may not exist
Objection check(const RevokeLease&) { return {}; }
Objection check(const SetKeyQuota&) { return {}; }
using machine::check;  // for the other kinds

// Checks everything except the body.
Objection check_rest(const Request& request, std::optional<SessionId> session) {
  if (session && !*session) return invalid();
  if (!request.prior_releases.empty() && !session) return invalid();
  if (request.prior_releases.size() > kPriorReleasesMax) return {ResultCode::LimitExceeded};
  for (const PriorRelease& prior : request.prior_releases) {
    if (Objection name = check_name(prior.name); !name.none()) return {name.code};
    if (!prior.token) return invalid();
  }
  return {};
}

// nullopt: a kind that names no session.
template <typename Body>
std::optional<SessionId> session_named(const Body& body) {
  if constexpr (requires { body.session; }) return body.session;
  if constexpr (requires { session_of(body); }) return session_of(body);
  return std::nullopt;
}

}  // namespace

SessionId session_of(const Request& request) {
  return std::visit([](const auto& body) { return session_named(body).value_or(SessionId()); }, request.body);
}

Validated validated(const Request& request) {
  auto [objection, session] = std::visit(
      [](const auto& body) { return std::pair<Objection, std::optional<SessionId>>(check(body), session_named(body)); },
      request.body);
  if (objection.none()) objection = check_rest(request, session);
  return {std::move(objection), session.value_or(SessionId())};
}

uint32_t answer_bytes_max(const Request& request) {
  constexpr uint32_t kWithoutEntries = 2 * kItemBytesMax;  // of the other answers, that of a claim is the largest
  const auto* put = std::get_if<Put>(&request.body);
  const auto* erase = std::get_if<Delete>(&request.body);
  const auto* transaction = std::get_if<Transaction>(&request.body);
  const bool entries = (put != nullptr && put->previous) || (erase != nullptr && erase->previous) ||
                       (transaction != nullptr && mvcc::answers_entries(*transaction));
  return entries ? kResultBytesMax : kWithoutEntries;
}

std::string encode(const Request& request) {
  std::string bytes;
  encode(request, bytes);
  return bytes;
}

void encode(const Request& request, std::string& bytes) {
  bytes.clear();
  put_elements(bytes, kNumberOf<PriorRelease>, request.prior_releases);
  put_alternative(bytes, request.body);
}

absl::StatusOr<Request> decode_request(std::string_view encoded) {
  absl::StatusOr<Request> decoded{Request()};
  if (absl::Status status = decode_request(encoded, *decoded); !status.ok()) decoded = std::move(status);
  return decoded;
}

absl::Status decode_request(std::string_view encoded, Request& request) {
  request.body = std::monostate();
  request.prior_releases.clear();
  if (encoded.size() > kRequestBytesMax) return absl::InvalidArgumentError("malformed request: too large");
  const auto read = [&request](pbf_reader in) -> absl::Status {
    while (in.next()) {
      if (in.tag_and_type() == bytes(kNumberOf<PriorRelease>)) {
        if (request.prior_releases.size() == kPriorReleasesMax) {
          return absl::InvalidArgumentError("malformed request: too many prior releases");
        }
        get(in, request.prior_releases.emplace_back());
      } else if (!get_alternative(in, request.body)) {
        in.skip();
      }
    }
    return absl::OkStatus();
  };
  return guarded(encoded, absl::StatusCode::kInvalidArgument, "request", read);
}

}  // namespace coordkit::machine
