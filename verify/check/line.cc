#include "check/line.h"

#include <fmt/format.h>

namespace coordkit::check {
namespace {

constexpr std::string_view kOutcomes[] = {"ok", "refused", "unknown"};

// The outcome if the line states none: a call that ended was answered, one that did not is unknown.
Outcome outcome_of(Fields& fields, bool ended) {
  const std::optional<std::string> word = fields.optional_text("outcome");
  if (!word) return ended ? Outcome::Ok : Outcome::Unknown;
  for (size_t i = 0; i < std::size(kOutcomes); ++i) {
    if (*word == kOutcomes[i]) return static_cast<Outcome>(i);
  }
  fields.complain("outcome", fmt::format("\"ok\", \"refused\" or \"unknown\" is expected, not {}", json::quoted(*word)));
  return Outcome::Unknown;
}

}  // namespace

absl::Status read_head(const json::Value& line, LineHead& head) {
  Complaint complaint;
  Fields fields(&line, "", complaint);
  head.model = fields.optional_text("model").value_or("");
  head.op = fields.text("op");
  head.key = fields.has("key") ? fields.text("key") : "";
  head.client = fields.has("client") ? fields.scalar("client") : "";
  if (head.client.starts_with('"')) head.client = fields.text("client");
  head.call = fields.number("call");
  const std::optional<int64_t> end = fields.optional_number("return");
  head.end = end.value_or(kNever);
  head.outcome = outcome_of(fields, end.has_value());
  head.in = fields.optional_object("in");
  head.out = fields.optional_object("out");
  fields.finish();
  if (end && *end < head.call) fields.complain("return", "lies before the call");
  if (end && *end == kNever) fields.complain("return", "is too large");
  if (!end && head.outcome == Outcome::Ok) fields.complain("return", "is missing, but the outcome is \"ok\"");
  if (head.outcome != Outcome::Ok && head.out != nullptr && !head.out->members.empty()) {
    fields.complain("out", "must be empty unless the outcome is \"ok\"");
  }
  return complaint.status();
}

void complain_of_op(const LineHead& head, std::string_view known, Complaint& complaint) {
  complaint.say(fmt::format("op: one of {} is expected, not {}", known, json::quoted(head.op)));
}

std::string line_of(const LineHead& head, std::string_view in, std::string_view out) {
  std::string text;
  {
    json::ObjectWriter writer(text);
    if (!head.model.empty()) writer.text("model", head.model);
    if (!head.client.empty()) writer.text("client", head.client);
    writer.text("op", head.op);
    if (!head.key.empty()) writer.text("key", head.key);
    writer.number("call", head.call);
    if (head.end != kNever) writer.number("return", head.end);
    writer.text("outcome", kOutcomes[static_cast<size_t>(head.outcome)]);
    if (in.size() > 2) writer.raw("in", in);
    if (out.size() > 2) writer.raw("out", out);
  }
  return text;
}

}  // namespace coordkit::check
