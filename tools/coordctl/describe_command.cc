#include "tools/coordctl/describe_command.h"

#include <array>
#include <chrono>
#include <string>
#include <type_traits>
#include <variant>

#include "base/hold_texts.h"

namespace coordkit::coordctl {
namespace {

using machine::CoordinationCommand;
using machine::Request;

// In the order of the variants.
constexpr std::array kKinds = {"Unknown",
                               "OpenSession",
                               "CloseSession",
                               "Acquire",
                               "Release",
                               "CancelAcquire",
                               "Put",
                               "Delete",
                               "AcquireAll",
                               "Downgrade",
                               "Upgrade",
                               "UpdateValue",
                               "ClearDelay",
                               "ResumeSession",
                               "KillSession",
                               "ForceRelease",
                               "",
                               "RefillBlock",
                               "Transaction",
                               "Compact",
                               "GrantLease",
                               "RenewLease",
                               "RevokeLease",
                               "SetKeyQuota",
                               "SetPermissions"};
static_assert(kKinds.size() == std::variant_size_v<Request::Body>);
static_assert(std::is_same_v<std::variant_alternative_t<16, Request::Body>, CoordinationCommand>);
static_assert(std::is_same_v<std::variant_alternative_t<24, Request::Body>, machine::SetPermissions>);

constexpr std::array kCoordinationKinds = {
    "SetSemaphoreLimit", "AcquirePermits", "DeleteSemaphore", "CreateLatch",  "CountDown",    "AwaitLatch", "DeleteLatch",
    "CloseBarrier",      "OpenBarrier",    "AwaitBarrier",    "EnterBarrier", "LeaveBarrier", "Enqueue",    "ClaimItem",
    "AcknowledgeItem",   "ChangeCounter",  "JoinGroup",       "UpdateMember", "LeaveGroup"};
static_assert(kCoordinationKinds.size() == std::variant_size_v<CoordinationCommand>);
static_assert(std::is_same_v<std::variant_alternative_t<18, CoordinationCommand>, machine::LeaveGroup>);

// Sets a field if the body has one of that name and it is not empty.
class Fields {
 public:
  Fields(Json& out, size_t bytes_max) : out_(out), bytes_max_(bytes_max) {}

  template <typename Tag>
  void set(const char* name, Id<Tag> id) {
    if (id) out_[name] = id.value();
  }
  void set(const char* name, const std::string& bytes) { out_[name] = safe_bytes(bytes, bytes_max_); }
  void set(const char* name, Duration duration) {
    if (duration != Duration::zero()) out_[std::string(name) + "_ms"] = milliseconds(duration);
  }
  template <typename Number>
  requires std::is_integral_v<Number>
  void set(const char* name, Number number) {
    if (number != 0) out_[name] = number;
  }
  void set(const char* name, LockMode mode) { out_[name] = std::string(name_of(mode)); }

 private:
  Json& out_;
  const size_t bytes_max_;
};

template <typename Body>
void add_fields(const Body& body, Fields fields) {
  if constexpr (requires { body.session.value(); }) fields.set("session", body.session);
  if constexpr (requires { body.victim; }) fields.set("session", body.victim);
  if constexpr (requires { body.id.value(); }) fields.set("id", body.id);
  if constexpr (requires { body.name.size(); }) fields.set("name", body.name);
  if constexpr (requires { body.key; }) fields.set("key", body.key);
  if constexpr (requires { body.end.size(); }) {
    if (!body.end.empty()) fields.set("end", body.end);
  }
  if constexpr (requires { body.value.size(); }) fields.set("value", body.value);
  if constexpr (requires { body.texts; }) {
    each_hold_text([&fields](const HoldText& text, const std::string& shown) { fields.set(text.name, shown); }, body.texts);
  }
  if constexpr (requires { body.token; }) fields.set("token", body.token);
  if constexpr (requires { body.mode; }) fields.set("mode", body.mode);
  if constexpr (requires { body.lease; }) fields.set("lease", body.lease);
  if constexpr (requires { body.at.value(); }) fields.set("revision", body.at);
  if constexpr (requires { body.ttl; }) fields.set("ttl", body.ttl);
  if constexpr (requires { body.node; }) fields.set("node", body.node);
  if constexpr (requires { body.metadata; }) fields.set("metadata", body.metadata);
  if constexpr (requires { body.count; }) fields.set("count", body.count);
  if constexpr (requires { body.limit; }) fields.set("limit", body.limit);
  if constexpr (requires { body.by; }) fields.set("by", body.by);
  if constexpr (requires { body.parties; }) fields.set("parties", body.parties);
  if constexpr (requires { body.priority; }) fields.set("priority", body.priority);
  if constexpr (requires { body.operand; }) fields.set("operand", body.operand);
  if constexpr (requires { body.bytes + 0; }) fields.set("bytes", body.bytes);
  if constexpr (requires { body.block + 0; }) fields.set("block", body.block);
}

Json describe_locks(const machine::AcquireAll& acquire, size_t bytes_max) {
  Json names = Json::array();
  for (const NamedLock& lock : acquire.locks) names.push_back(safe_bytes(lock.name, bytes_max));
  return names;
}

Json describe_transaction(const Transaction& transaction, size_t bytes_max);

Json describe_operation(const Operation& operation, size_t bytes_max) {
  Json out;
  const auto describe = [&](const char* kind, const auto& body) {
    out["kind"] = kind;
    add_fields(body, {out, bytes_max});
  };
  if (const auto* range = std::get_if<RangeOperation>(&operation.body)) describe("Range", *range);
  if (const auto* put = std::get_if<PutOperation>(&operation.body)) describe("Put", *put);
  if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) describe("Delete", *erase);
  if (const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body)) {
    out["kind"] = "Transaction";
    if (!nested->empty()) out.update(describe_transaction(nested->front(), bytes_max));
  }
  return out;
}

Json describe_transaction(const Transaction& transaction, size_t bytes_max) {
  const auto branch = [&](const std::vector<Operation>& operations) {
    Json list = Json::array();
    for (const Operation& operation : operations) list.push_back(describe_operation(operation, bytes_max));
    return list;
  };
  Json compares = Json::array();
  for (const Compare& compare : transaction.compares) {
    Json one = {{"target", std::string(name_of(compare.target))}, {"relation", std::string(name_of(compare.relation))}};
    one["key"] = safe_bytes(compare.key, bytes_max);
    if (compare.target == Compare::Target::Value) {
      one["value"] = safe_bytes(compare.value, bytes_max);
    } else {
      one["number"] = compare.number;
    }
    compares.push_back(std::move(one));
  }
  return {{"compares", compares}, {"then", branch(transaction.then)}, {"otherwise", branch(transaction.otherwise)}};
}

}  // namespace

Json describe_command(const Request& request, size_t bytes_max) {
  Json out = {{"kind", kKinds[request.body.index()]}};
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, CoordinationCommand>) {
          out["kind"] = kCoordinationKinds[body.index()];
          std::visit([&](const auto& one) { add_fields(one, {out, bytes_max}); }, body);
        } else if constexpr (std::is_same_v<Body, Transaction>) {
          out.update(describe_transaction(body, bytes_max));
        } else {
          add_fields(body, {out, bytes_max});
          if constexpr (std::is_same_v<Body, machine::AcquireAll>) out["names"] = describe_locks(body, bytes_max);
        }
      },
      request.body);
  if (!request.prior_releases.empty()) out["releases_before"] = request.prior_releases.size();
  return out;
}

}  // namespace coordkit::coordctl
