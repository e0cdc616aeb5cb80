// Transactions from and to a line.
#include <fmt/format.h>

#include <array>

#include "check/transaction_model.h"

namespace coordkit::check {
namespace {

using Model = TransactionModel;
using Part = Model::Part;

constexpr std::array<std::string_view, 4> kTargets = {"value", "version", "create", "mod"};
constexpr std::array<std::string_view, 4> kRelations = {"=", "!=", "<", ">"};
constexpr std::array<std::string_view, 3> kParts = {"put", "delete", "get"};

template <typename Enum, size_t N>
Enum one_of(const std::array<std::string_view, N>& names, Fields& fields, std::string_view field) {
  const std::string word = fields.text(field);
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == word) return static_cast<Enum>(i);
  }
  fields.complain(field, fmt::format("one of {} is expected", fmt::join(names, ", ")));
  return Enum{};
}

Model::Compare read_compare(const json::Value& value, std::string_view path, Complaint& complaint) {
  Fields fields(&value, path, complaint);
  Model::Compare compare;
  compare.key = fields.text("key");
  compare.target = one_of<Model::Target>(kTargets, fields, "target");
  compare.relation = one_of<Model::Relation>(kRelations, fields, "is");
  if (compare.target == Model::Target::Value) {
    compare.value = fields.scalar("value");
    const bool ordered = compare.relation == Model::Relation::Less || compare.relation == Model::Relation::Greater;
    if (ordered && !compare.value.starts_with('"')) fields.complain("value", "only strings have an order");
  } else {
    compare.number = fields.count("value");
  }
  fields.finish();
  return compare;
}

Part read_part(const json::Value& value, std::string_view path, Complaint& complaint) {
  Fields fields(&value, path, complaint);
  Part part;
  part.kind = one_of<Part::Kind>(kParts, fields, "op");
  part.key = fields.text("key");
  if (part.kind == Part::Kind::Put) part.value = fields.scalar("value");
  fields.finish();
  return part;
}

Model::Result read_result(Part::Kind kind, Fields& fields) {
  Model::Result result;
  if (kind == Part::Kind::Delete) result.deleted = fields.optional_count("deleted");
  if (result.deleted.value_or(0) > 1) fields.complain("deleted", "0 or 1 is expected");
  if (kind != Part::Kind::Get) return result;
  const std::optional<std::string> value = fields.scalar_or_null("value");
  result.found = value.has_value();
  result.value = value.value_or("");
  result.create = fields.optional_count("create");
  result.mod = fields.optional_count("mod");
  result.version = fields.optional_count("version");
  return result;
}

template <typename Read>
auto read_list(Fields& in, std::string_view name, Complaint& complaint, Read read) {
  std::vector<decltype(read(json::Value(), "", complaint))> list;
  const json::Value* array = in.optional_array(name);
  if (array == nullptr) return list;
  for (size_t i = 0; i < array->items.size(); ++i) {
    list.push_back(read(array->items[i], fmt::format("in.{}[{}].", name, i), complaint));
  }
  return list;
}

// docs/semantics.md S-16: a key is put at most once, and not deleted beside it.
void refuse_double_keys(const std::vector<Part>& parts, Complaint& complaint) {
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool puts = parts[i].kind == Part::Kind::Put || parts[j].kind == Part::Kind::Put;
      const bool gets = parts[i].kind == Part::Kind::Get || parts[j].kind == Part::Kind::Get;
      if (parts[i].key == parts[j].key && puts && !gets) {
        complaint.say(fmt::format("in: key {} is put and changed again in one branch", json::quoted(parts[i].key)));
      }
    }
  }
}

void read_answers(Model::Call& call, Fields& out, Complaint& complaint) {
  call.succeeded = out.optional_flag("succeeded");
  if (!call.succeeded && call.compares.empty()) call.succeeded = true;
  if (call.succeeded == false && call.compares.empty()) out.complain("succeeded", "is false, but there was nothing to compare");
  const json::Value* results = out.optional_array("results");
  if (results == nullptr) return;
  if (!call.succeeded) return out.complain("results", "says nothing without \"succeeded\"");
  const std::vector<Part>& parts = *call.succeeded ? call.then_parts : call.else_parts;
  if (results->items.size() != parts.size()) {
    return out.complain("results",
                        fmt::format("has {} members, the branch that was taken has {}", results->items.size(), parts.size()));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Fields fields(&results->items[i], fmt::format("out.results[{}].", i), complaint);
    call.results.push_back(read_result(parts[i].kind, fields));
    fields.finish();
  }
}

void write_compare(std::string& list, const Model::Compare& compare) {
  json::ObjectWriter writer(list);
  writer.text("key", compare.key);
  writer.text("target", kTargets[static_cast<size_t>(compare.target)]);
  writer.text("is", kRelations[static_cast<size_t>(compare.relation)]);
  writer.raw("value", compare.target == Model::Target::Value ? compare.value : std::to_string(compare.number));
}

void write_part(std::string& list, const Part& part) {
  json::ObjectWriter writer(list);
  writer.text("op", kParts[static_cast<size_t>(part.kind)]);
  writer.text("key", part.key);
  if (part.kind == Part::Kind::Put) writer.raw("value", part.value);
}

void write_result(json::ObjectWriter& out, const Model::Result& result) {
  const auto number = [&](std::string_view name, std::optional<uint64_t> value) {
    if (value) out.number(name, static_cast<int64_t>(*value));
  };
  if (result.found) out.raw("value", *result.found ? std::string_view(result.value) : "null");
  number("deleted", result.deleted);
  number("create", result.create);
  number("mod", result.mod);
  number("version", result.version);
}

template <typename Item, typename Write>
void write_list(json::ObjectWriter& in, std::string_view name, const std::vector<Item>& items, Write write_item) {
  if (items.empty()) return;
  std::string list = "[";
  for (const Item& item : items) {
    if (list.size() > 1) list += ',';
    write_item(list, item);
  }
  in.raw(name, list + "]");
}

}  // namespace

Model::Call TransactionModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  const bool answered = head.outcome == Outcome::Ok;
  Call call;
  if (answered) call.revision = out.optional_count("revision");
  if (head.op == "txn") {
    call.compares = read_list(in, "compare", complaint, read_compare);
    call.then_parts = read_list(in, "then", complaint, read_part);
    call.else_parts = read_list(in, "else", complaint, read_part);
    refuse_double_keys(call.then_parts, complaint);
    refuse_double_keys(call.else_parts, complaint);
    if (answered) read_answers(call, out, complaint);
    return call;
  }
  call.alone = true;
  if (answered) call.succeeded = true;
  Part& part = call.then_parts.emplace_back();
  part.key = head.key;
  part.kind = head.op == "put" ? Part::Kind::Put : head.op == "delete" ? Part::Kind::Delete : Part::Kind::Get;
  if (part.kind == Part::Kind::Get && head.op != "get") complain_of_op(head, "txn, put, delete, get", complaint);
  if (part.kind == Part::Kind::Put) part.value = in.scalar("value");
  if (answered && complaint.none()) call.results.push_back(read_result(part.kind, out));
  return call;
}

void TransactionModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  if (call.revision) out.number("revision", static_cast<int64_t>(*call.revision));
  if (call.alone) {
    if (call.then_parts[0].kind == Part::Kind::Put) in.raw("value", call.then_parts[0].value);
    if (!call.results.empty()) write_result(out, call.results[0]);
    return;
  }
  write_list(in, "compare", call.compares, write_compare);
  write_list(in, "then", call.then_parts, write_part);
  write_list(in, "else", call.else_parts, write_part);
  if (call.succeeded) out.flag("succeeded", *call.succeeded);
  write_list(out, "results", call.results, [](std::string& list, const Result& result) {
    json::ObjectWriter writer(list);
    write_result(writer, result);
  });
}

std::string_view TransactionModel::name_of(const Call& call) {
  return call.alone ? kParts[static_cast<size_t>(call.then_parts[0].kind)] : "txn";
}

}  // namespace coordkit::check
