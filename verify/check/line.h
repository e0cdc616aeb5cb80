// Converts a line of a history (docs/format-history.md) from and to an operation of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "check/fields.h"
#include "check/json.h"
#include "check/operation.h"

namespace coordkit::check {

// The part that every line has, whatever its model.
struct LineHead {
  std::string model;  // empty: not given
  std::string client;
  std::string key;
  std::string op;
  Moment call = 0;
  Moment end = kNever;
  Outcome outcome = Outcome::Ok;
  const json::Value* in = nullptr;
  const json::Value* out = nullptr;
};

// kInvalidArgument with the fault. `fields` and `complaint` must live as long as the head is used.
absl::Status read_head(const json::Value& line, LineHead& head);

// Complains that the model has no such operation.
void complain_of_op(const LineHead& head, std::string_view known, Complaint& complaint);

// The line without its end. `in` and `out` are the members of these objects, or empty.
std::string line_of(const LineHead& head, std::string_view in, std::string_view out);

template <typename Model>
absl::Status read_operation(const LineHead& head, Operation<typename Model::Call>& op) {
  Complaint complaint;
  Fields in(head.in, "in.", complaint), out(head.out, "out.", complaint);
  op.what = Model::read(head, in, out, complaint);
  out.finish();
  in.finish();
  op.client = head.client;
  op.key = head.key;
  op.call = head.call;
  op.end = head.outcome == Outcome::Ok ? head.end : kNever;
  op.outcome = head.outcome;
  return complaint.status();
}

template <typename Model>
std::string line_of(const Operation<typename Model::Call>& op) {
  LineHead head;
  head.model = Model::kName;
  head.client = op.client;
  head.key = op.key;
  head.op = Model::name_of(op.what);
  head.call = op.call;
  head.end = op.end;
  head.outcome = op.outcome;
  std::string in, out;
  {
    json::ObjectWriter in_writer(in), out_writer(out);
    Model::write(op.what, in_writer, out_writer);
  }
  return line_of(head, in, op.certain() ? out : "{}");
}

}  // namespace coordkit::check
