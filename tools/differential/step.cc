#include "tools/differential/step.h"

#include "absl/strings/escaping.h"

namespace coordkit::differential {

using nlohmann::json;

std::string escaped(std::string_view bytes) { return absl::CHexEscape({bytes.data(), bytes.size()}); }

json form_of(const KeyValue& entry) {
  json out = {{"key", escaped(entry.key)},
              {"value", escaped(entry.value)},
              {"create", entry.create.value()},
              {"mod", entry.mod.value()},
              {"version", entry.version}};
  if (entry.lease) out["lease"] = entry.lease.value();
  return out;
}

namespace {

template <typename Items>
json list_of(const Items& items) {
  json out = json::array();
  for (const auto& item : items) out.push_back(form_of(item));
  return out;
}

}  // namespace

json form_of(const RangeReply& reply) {
  return {{"entries", list_of(reply.entries)}, {"count", reply.count}, {"more", reply.more}};
}

json form_of(const PutReply& reply) {
  json out = json::object();
  if (reply.previous) out["previous"] = form_of(*reply.previous);
  return out;
}

json form_of(const DeleteReply& reply) { return {{"deleted", reply.deleted}, {"previous", list_of(reply.previous)}}; }

namespace {

struct FormOfBody {
  json operator()(std::monostate) const { return {}; }
  json operator()(const std::vector<TransactionReply>& nested) const { return form_of(nested.at(0)); }
  json operator()(const auto& reply) const { return form_of(reply); }
};

}  // namespace

json form_of(const TransactionReply& reply) {
  json replies = json::array();
  for (const OperationReply& each : reply.replies) replies.push_back(std::visit(FormOfBody(), each.body));
  return {{"succeeded", reply.succeeded}, {"replies", std::move(replies)}};
}

json form_of(const Event& event) {
  json out =
      event.deleted ? json{{"deleted", escaped(event.entry.key)}, {"mod", event.entry.mod.value()}} : form_of(event.entry);
  if (event.previous) out["previous"] = form_of(*event.previous);
  return out;
}

// ---- shown

namespace {

std::string interval_of(const std::string& key, const std::string& end) {
  return end.empty() ? "\"" + escaped(key) + "\"" : "[\"" + escaped(key) + "\", \"" + escaped(end) + "\")";
}

struct Shown {
  std::string operator()(const RangeOperation& range) const {
    std::string out = "range " + interval_of(range.key, range.end);
    const auto add = [&out](const char* name, uint64_t number) {
      if (number != 0) out += std::string(" ") + name + " " + std::to_string(number);
    };
    add("revision", range.revision.value());
    add("limit", static_cast<uint64_t>(range.limit));
    add("sort_by", static_cast<uint64_t>(range.sort_by));
    add("order", static_cast<uint64_t>(range.order));
    add("keys_only", range.keys_only);
    add("count_only", range.count_only);
    add("mod_min", range.mod_min.value());
    add("mod_max", range.mod_max.value());
    add("create_min", range.create_min.value());
    add("create_max", range.create_max.value());
    return out;
  }
  std::string operator()(const PutOperation& put) const {
    return "put \"" + escaped(put.key) + "\" = \"" + escaped(put.value) + "\"" +
           (put.lease ? " lease " + std::to_string(put.lease.value()) : "") + (put.ignore_value ? " ignore_value" : "") +
           (put.ignore_lease ? " ignore_lease" : "") + (put.previous ? " previous" : "");
  }
  std::string operator()(const DeleteOperation& erase) const {
    return "delete " + interval_of(erase.key, erase.end) + (erase.previous ? " previous" : "");
  }
  std::string operator()(const Transaction& transaction) const {
    std::string out = "if (";
    for (const Compare& each : transaction.compares) {
      out += " " + interval_of(each.key, each.end) + " target " + std::to_string(static_cast<int>(each.target)) + " relation " +
             std::to_string(static_cast<int>(each.relation)) + " " + std::to_string(each.number) + " \"" + escaped(each.value) +
             "\";";
    }
    return out + " ) then {" + list(transaction.then) + " } else {" + list(transaction.otherwise) + " }";
  }
  std::string operator()(const Compact& compact) const { return "compact " + std::to_string(compact.at.value()); }
  std::string operator()(const GrantLease& grant) const {
    return "grant " + std::to_string(grant.lease.value()) + " for " + std::to_string(grant.ttl.count()) + " s";
  }
  std::string operator()(const RenewLease& renew) const { return "renew " + std::to_string(renew.lease.value()); }
  std::string operator()(const ListLeases&) const { return "list leases"; }
  std::string operator()(const RevokeLease& revoke) const { return "revoke " + std::to_string(revoke.lease.value()); }
  std::string operator()(const ListKeysOfLease& list) const { return "keys of lease " + std::to_string(list.lease.value()); }
  std::string operator()(const WatchFrom& watch) const {
    return "watch " + interval_of(watch.key, watch.end) + " from " + std::to_string(watch.from.value()) + " upto " +
           std::to_string(watch.upto.value()) + (watch.previous ? " previous" : "") + (watch.puts ? "" : " no puts") +
           (watch.deletes ? "" : " no deletes");
  }
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(const std::vector<Transaction>& nested) const { return (*this)(nested.at(0)); }

  std::string list(const std::vector<Operation>& operations) const {
    std::string out;
    for (const Operation& each : operations) out += " " + std::visit(*this, each.body) + ";";
    return out;
  }
};

}  // namespace

std::string shown(const Step& step) { return std::visit(Shown(), step); }

}  // namespace coordkit::differential
