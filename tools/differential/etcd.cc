#include "tools/differential/etcd.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"

namespace coordkit::differential {
namespace {

using nlohmann::json;

// ---- requests

std::string base64(std::string_view bytes) { return absl::Base64Escape({bytes.data(), bytes.size()}); }

json interval_of(const std::string& key, const std::string& end) {
  json out = {{"key", base64(key)}};
  if (!end.empty()) out["range_end"] = base64(end);
  return out;
}

json request_of(const RangeOperation& range) {
  json out = interval_of(range.key, range.end);
  out["revision"] = range.revision.value();
  out["limit"] = range.limit;
  out["sort_target"] = static_cast<int>(range.sort_by);
  out["sort_order"] = static_cast<int>(range.order);
  out["keys_only"] = range.keys_only;
  out["count_only"] = range.count_only;
  out["min_mod_revision"] = range.mod_min.value();
  out["max_mod_revision"] = range.mod_max.value();
  out["min_create_revision"] = range.create_min.value();
  out["max_create_revision"] = range.create_max.value();
  return out;
}

json request_of(const PutOperation& put) {
  return {{"key", base64(put.key)},  {"value", base64(put.value)},       {"lease", put.lease.value()},
          {"prev_kv", put.previous}, {"ignore_value", put.ignore_value}, {"ignore_lease", put.ignore_lease}};
}

json request_of(const DeleteOperation& erase) {
  json out = interval_of(erase.key, erase.end);
  out["prev_kv"] = erase.previous;
  return out;
}

json request_of(const Compare& compare) {
  json out = interval_of(compare.key, compare.end);
  constexpr std::pair<const char*, const char*> kTargets[] = {
      {"", ""},           {"VERSION", "version"}, {"CREATE", "create_revision"}, {"MOD", "mod_revision"},
      {"VALUE", "value"}, {"LEASE", "lease"}};
  constexpr const char* kRelations[] = {"", "EQUAL", "NOT_EQUAL", "LESS", "GREATER"};
  const auto& [target, field] = kTargets[static_cast<size_t>(compare.target)];
  out["target"] = target;
  out["result"] = kRelations[static_cast<size_t>(compare.relation)];
  if (compare.target == Compare::Target::Value) {
    out[field] = base64(compare.value);
  } else {
    out[field] = compare.number;
  }
  return out;
}

json request_of(const Transaction& transaction);

struct RequestOfBody {
  json operator()(std::monostate) const { return json::object(); }
  json operator()(const RangeOperation& range) const { return {{"request_range", request_of(range)}}; }
  json operator()(const PutOperation& put) const { return {{"request_put", request_of(put)}}; }
  json operator()(const DeleteOperation& erase) const { return {{"request_delete_range", request_of(erase)}}; }
  json operator()(const std::vector<Transaction>& nested) const { return {{"request_txn", request_of(nested.at(0))}}; }
};

json request_of(const Transaction& transaction) {
  json compares = json::array();
  for (const Compare& each : transaction.compares) compares.push_back(request_of(each));
  const auto branch = [](const std::vector<Operation>& operations) {
    json out = json::array();
    for (const Operation& each : operations) out.push_back(std::visit(RequestOfBody(), each.body));
    return out;
  };
  return {{"compare", std::move(compares)}, {"success", branch(transaction.then)}, {"failure", branch(transaction.otherwise)}};
}

json request_of(const WatchFrom& watch) {
  json out = interval_of(watch.key, watch.end);
  out["start_revision"] = watch.from.value();
  out["prev_kv"] = watch.previous;
  out["filters"] = json::array();
  if (!watch.puts) out["filters"].push_back("NOPUT");
  if (!watch.deletes) out["filters"].push_back("NODELETE");
  return {{"create_request", std::move(out)}};
}

// ---- answers: numbers of 64 bits are texts, bytes are base64, and what is zero or empty is left out

uint64_t number_in(const json& object, const char* field) {
  const auto at = object.find(field);
  if (at == object.end()) return 0;
  return at->is_string() ? std::stoull(at->get<std::string>()) : at->get<uint64_t>();
}

std::string bytes_in(const json& object, const char* field) {
  std::string out;
  const auto at = object.find(field);
  if (at != object.end() && !absl::Base64Unescape(at->get<std::string>(), &out)) {
    throw std::runtime_error("etcd sent bytes that are not base64: " + at->dump());
  }
  return out;
}

KeyValue entry_of(const json& kv) {
  return {.key = bytes_in(kv, "key"),
          .value = bytes_in(kv, "value"),
          .create = Revision(number_in(kv, "create_revision")),
          .mod = Revision(number_in(kv, "mod_revision")),
          .version = number_in(kv, "version"),
          .lease = LeaseId(number_in(kv, "lease"))};
}

std::vector<KeyValue> entries_of(const json& object, const char* field) {
  std::vector<KeyValue> out;
  for (const json& kv : object.value(field, json::array())) out.push_back(entry_of(kv));
  return out;
}

std::optional<KeyValue> previous_of(const json& object) {
  return object.contains("prev_kv") ? std::optional(entry_of(object.at("prev_kv"))) : std::nullopt;
}

RangeReply range_of(const json& answer) {
  return {.entries = entries_of(answer, "kvs"), .more = answer.value("more", false), .count = number_in(answer, "count")};
}
PutReply put_of(const json& answer) { return {.previous = previous_of(answer)}; }
DeleteReply delete_of(const json& answer) { return {number_in(answer, "deleted"), entries_of(answer, "prev_kvs")}; }

TransactionReply transaction_of(const json& answer) {
  TransactionReply out{.succeeded = answer.value("succeeded", false), .replies = {}};
  for (const json& each : answer.value("responses", json::array())) {
    OperationReply reply;
    if (each.contains("response_range")) reply.body = range_of(each.at("response_range"));
    if (each.contains("response_put")) reply.body = put_of(each.at("response_put"));
    if (each.contains("response_delete_range")) reply.body = delete_of(each.at("response_delete_range"));
    if (each.contains("response_txn")) reply.body = std::vector<TransactionReply>{transaction_of(each.at("response_txn"))};
    out.replies.push_back(std::move(reply));
  }
  return out;
}

Event event_of(const json& event) {
  Event out{event.value("type", "PUT") == "DELETE", entry_of(event.at("kv")), previous_of(event)};
  return out;
}

// ---- errors

std::string reason_of(const std::string& message) {
  constexpr std::pair<std::string_view, const char*> kReasons[] = {{"key is not provided", "EmptyKey"},
                                                                   {"key not found", "KeyNotFound"},
                                                                   {"value is provided", "ValueProvided"},
                                                                   {"lease is provided", "LeaseProvided"},
                                                                   {"too many operations in txn request", "TooManyOps"},
                                                                   {"duplicate key given in txn request", "DuplicateKey"},
                                                                   {"required revision has been compacted", "Compacted"},
                                                                   {"required revision is a future revision", "FutureRevision"},
                                                                   {"requested lease not found", "LeaseNotFound"},
                                                                   {"lease already exists", "LeaseExists"},
                                                                   {"too large lease TTL", "TtlTooLarge"},
                                                                   {"invalid sort option", "InvalidSort"},
                                                                   {"watcher range is empty", "EmptyRange"}};
  for (const auto& [text, reason] : kReasons) {
    if (message.find(text) != std::string::npos) return reason;
  }
  return message;
}

Answer refused(const std::string& reason) { return {{"error", reason}}; }

Answer answer_with(const json& answer, json rest) {
  rest["revision"] = number_in(answer.at("header"), "revision");
  return rest;
}

}  // namespace

json EtcdSide::ask(const std::string& path, const json& request) {
  return json::parse(http_.post("/v3/" + path, request.dump()));
}

Answer EtcdSide::take(const Step& step) {
  const auto asked = [this](const char* path, const json& request, auto form) -> Answer {
    const json answer = ask(path, request);
    if (answer.contains("error")) return refused(reason_of(answer.at("error").get<std::string>()));
    return answer_with(answer, form(answer));
  };
  const auto nothing = [](const json&) { return json::object(); };
  if (const auto* range = std::get_if<RangeOperation>(&step)) {
    return asked("kv/range", request_of(*range), [](const json& answer) { return form_of(range_of(answer)); });
  }
  if (const auto* put = std::get_if<PutOperation>(&step)) {
    return asked("kv/put", request_of(*put), [](const json& answer) { return form_of(put_of(answer)); });
  }
  if (const auto* erase = std::get_if<DeleteOperation>(&step)) {
    return asked("kv/deleterange", request_of(*erase), [](const json& answer) { return form_of(delete_of(answer)); });
  }
  if (const auto* transaction = std::get_if<Transaction>(&step)) {
    return asked("kv/txn", request_of(*transaction), [](const json& answer) { return form_of(transaction_of(answer)); });
  }
  if (const auto* compact = std::get_if<Compact>(&step)) {
    return asked("kv/compaction", {{"revision", compact->at.value()}}, nothing);
  }
  if (const auto* grant = std::get_if<GrantLease>(&step)) {
    return asked("lease/grant", {{"ID", grant->lease.value()}, {"TTL", grant->ttl.count()}}, [](const json& answer) {
      return json{{"lease", number_in(answer, "ID")}, {"ttl", number_in(answer, "TTL")}};
    });
  }
  if (const auto* revoke = std::get_if<RevokeLease>(&step)) {
    return asked("lease/revoke", {{"ID", revoke->lease.value()}}, nothing);
  }
  if (const auto* renew = std::get_if<RenewLease>(&step)) {
    const json answer = ask("lease/keepalive", {{"ID", renew->lease.value()}}).at("result");
    if (number_in(answer, "TTL") == 0) return refused("LeaseNotFound");  // etcd's way to say so
    return answer_with(answer, {{"ttl", number_in(answer, "TTL")}});
  }
  if (std::holds_alternative<ListLeases>(step)) {
    const json answer = ask("lease/leases", json::object());
    json ids = json::array();
    for (const json& lease : answer.value("leases", json::array())) ids.push_back(number_in(lease, "ID"));
    std::sort(ids.begin(), ids.end());  // the first to end come first
    return answer_with(answer, {{"leases", std::move(ids)}});
  }
  if (const auto* list = std::get_if<ListKeysOfLease>(&step)) {
    const json answer = ask("lease/timetolive", {{"ID", list->lease.value()}, {"keys", true}});
    if (!answer.contains("grantedTTL")) return refused("LeaseNotFound");
    json keys = json::array();
    for (const json& key : answer.value("keys", json::array())) {
      std::string bytes;
      absl::Base64Unescape(key.get<std::string>(), &bytes);
      keys.push_back(escaped(bytes));
    }
    std::sort(keys.begin(), keys.end());  // it lists them unordered
    return answer_with(answer, {{"keys", std::move(keys)}, {"granted", number_in(answer, "grantedTTL")}});
  }
  return watch(std::get<WatchFrom>(step));
}

// A stream of its own, read until the change it is waiting for.
Answer EtcdSide::watch(const WatchFrom& watch) {
  HttpClient stream(port_);
  stream.open_stream("/v3/watch", request_of(watch).dump());
  json events = json::array();
  while (true) {
    const json line = json::parse(stream.next_line());
    if (line.contains("error")) return refused(reason_of(line.at("error").value("message", line.dump())));
    const json& result = line.at("result");
    if (number_in(result, "compact_revision") != 0) return refused("Compacted");
    if (result.value("canceled", false)) return refused(reason_of(result.value("cancel_reason", "")));
    for (const json& each : result.value("events", json::array())) events.push_back(form_of(event_of(each)));
    if (!events.empty() && events.back().at("mod").get<uint64_t>() >= watch.upto.value())
      return {{"events", std::move(events)}};
  }
}

}  // namespace coordkit::differential
