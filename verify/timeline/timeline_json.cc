// A Timeline as JSON: one array per list and one array per item, because there are a hundred thousand items.
// docs/simulator.md lists the columns. Times are nanoseconds; an absent value is null.
#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/utf8.h"
#include "coordkit/sim/timeline.h"

namespace coordkit::sim {
namespace {

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void raw(std::string_view text) { out_ += text; }
  void number(uint64_t value) { fmt::format_to(std::back_inserter(out_), "{}", value); }
  void time(Duration value) { fmt::format_to(std::back_inserter(out_), "{}", value.count()); }
  void time(const std::optional<Duration>& value) { value ? time(*value) : raw("null"); }
  template <typename T>
  void number(const std::optional<T>& value) {
    value ? number(uint64_t{*value}) : raw("null");
  }

  // Nothing in the string can end a script element or start an HTML comment.
  void string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const size_t length = utf8_length(text);
      const char c = text.front();
      if (length == 0) {
        raw("\\ufffd");
      } else if (length == 1 && (static_cast<uint8_t>(c) < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&')) {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        if (c == '"' || c == '\\') out_ += '\\';
        out_ += text.substr(0, length);
      }
      text.remove_prefix(length == 0 ? 1 : length);
    }
    out_ += '"';
  }

  // "name": [ each item as write(item) ]
  template <typename List, typename Write>
  void list(std::string_view name, const List& items, Write write) {
    fmt::format_to(std::back_inserter(out_), ",\n\"{}\":", name);
    array(items, write);
  }
  template <typename List, typename Write>
  void array(const List& items, Write write) {
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write(item);
    }
    out_ += ']';
  }
  // One item: its columns, of any kind a column may have.
  template <typename... Columns>
  void row(const Columns&... columns) {
    out_ += '[';
    bool first = true;
    ((out_ += first ? "" : ",", first = false, column(columns)), ...);
    out_ += ']';
  }

 private:
  void column(std::string_view text) { string(text); }
  void column(const std::string& text) { string(text); }
  void column(Duration value) { time(value); }
  void column(const std::optional<Duration>& value) { time(value); }
  void column(uint64_t value) { number(value); }
  template <typename T>
  void column(const std::optional<T>& value) {
    number(value);
  }
  template <typename Tag>
  void column(Id<Tag> value) {
    number(value.value());
  }
  template <typename T>
  void column(const std::vector<T>& values) {
    array(values, [this](const T& value) { column(value); });
  }
  void column(const std::pair<uint32_t, uint32_t>& link) { row(uint64_t{link.first}, uint64_t{link.second}); }
  // A script's numbers are exact only below 2^53.
  void column(Token token) { string(fmt::format("{}", token.value())); }
  void column(uint32_t value) { number(uint64_t{value}); }

  std::string out_;
};

void write_head(Writer& out, const Timeline& t) {
  out.raw("{\"version\":1,\n\"title\":");
  out.string(t.title);
  out.raw(",\n\"command\":");
  out.string(t.command);
  out.raw(",\n\"end\":");
  out.time(t.end);
  out.raw(",\n\"calm\":");
  out.time(t.calm_from);
  out.raw(",\n\"tokens\":");
  out.string(fmt::format("{}", t.token_base));
  out.raw(",\n\"violation\":");
  if (t.violation) {
    const Timeline::Violation& v = *t.violation;
    out.row(v.id, v.what, v.at, v.lane, v.operation, v.index, v.lock, v.token);
  } else {
    out.raw("null");
  }
  out.list("facts", t.facts, [&](const auto& fact) { out.row(fact.first, fact.second); });
  out.list("dropped", t.dropped, [&](const auto& one) { out.row(one.first, one.second); });
  out.list("lanes", t.lanes, [&](const auto& lane) { out.string(lane); });
}

}  // namespace

std::string timeline_json(const Timeline& t) {
  Writer out;
  const auto number = [](auto value) { return uint64_t{static_cast<uint8_t>(value)}; };
  write_head(out, t);
  out.list("states", t.states, [&](const auto& s) { out.row(s.lane, s.at, number(s.state), s.term); });
  out.list("frozen", t.frozen, [&](const auto& f) { out.row(f.lane, f.from, f.until, f.how); });
  out.list("progress", t.progress,
           [&](const auto& p) { out.row(p.lane, p.at, p.appended, p.durable, p.committed, p.applied); });
  out.list("kinds", t.kinds, [&](const auto& k) { out.row(k.name, number(k.topic)); });
  out.list("messages", t.messages, [&](const auto& m) {
    out.row(m.from, m.to, m.sent, m.ended, number(m.delivery), number(m.kind), m.term, m.first, m.last, m.commit, m.operations);
  });
  out.list("operations", t.operations, [&](const auto& o) {
    out.row(o.id, o.lane, o.worker, o.kind, o.subject, o.label, o.called, o.ended, o.outcome, o.carried, o.decided, o.token);
  });
  out.list("entries", t.entries, [&](const auto& e) { out.row(e.index, e.term, e.lane, e.at, e.text, e.operations); });
  out.list("grants", t.grants, [&](const auto& g) {
    out.row(g.lock, g.token, g.lane, g.operation, g.index, g.granted, g.ended, g.end, g.trusted_from, g.trusted_until);
  });
  out.list("faults", t.faults, [&](const auto& f) { out.row(f.ordinal, f.kind, f.from, f.until, f.lanes, f.links); });
  out.list("notes", t.notes, [&](const auto& n) { out.row(n.lane, n.at, number(n.weight), n.text); });
  out.raw("}");
  return out.take();
}

}  // namespace coordkit::sim
