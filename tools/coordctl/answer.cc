#include "tools/coordctl/answer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/cells.h"

namespace coordkit::coordctl {
namespace {

using Json = nlohmann::ordered_json;

// Bytes that would move the cursor are shown as escapes.
std::string shown(const std::string& cell) { return join_cells({&cell, 1}); }

// Screen columns, if every character takes one.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

// Numbers stay as they were received: a token has more digits than a double.
Json number_of(const std::string& cell) { return Json::parse(cell, nullptr, false); }

std::string text_of(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A line that Prometheus reads: `name{label="value",...} number`. Nothing: a comment.
std::optional<Json> sample_of(const std::string& line) {
  const size_t end = line.rfind(' ');
  if (line.empty() || line.front() == '#' || end == std::string::npos) return std::nullopt;
  const size_t brace = std::min(line.find('{'), end);
  Json sample = {{"name", line.substr(0, brace)}, {"labels", Json::object()}};
  for (size_t at = brace + 1; at < end && line[at] != '}';) {
    const size_t equals = line.find("=\"", at);
    if (equals >= end) return std::nullopt;
    const std::string label = line.substr(at, equals - at);
    std::string value;
    for (at = equals + 2; at < end && line[at] != '"'; ++at) {
      const bool escaped = line[at] == '\\';
      if (escaped) ++at;
      value += escaped && line[at] == 'n' ? '\n' : line[at];
    }
    sample["labels"][label] = value;
    at += line[at + 1] == ',' ? 2 : 1;
  }
  const std::string number = line.substr(end + 1);
  char* stop = nullptr;
  const double value = std::strtod(number.c_str(), &stop);
  if (number.empty() || *stop != '\0') return std::nullopt;
  const bool whole = number.find_first_not_of("0123456789") == std::string::npos;
  sample["value"] = whole ? number_of(number) : Json(value);
  return sample;
}

}  // namespace

AnswerPrinter::Column AnswerPrinter::column_of(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string kind = colon == std::string::npos ? "" : name.substr(colon + 1);
  return {kind == "number" ? Column::Kind::Number
          : kind == "flag" ? Column::Kind::Flag
          : kind == "list" ? Column::Kind::List
                           : Column::Kind::Text,
          name.substr(0, colon)};
}

void AnswerPrinter::field(std::string name, const std::vector<std::string>& cells) {
  const Column column = column_of(name);
  if (form_ != Form::Objects) {
    if (columns_.empty()) columns({"what", "value"});
    for (const std::string& cell : cells) row({column.name, cell});
    if (cells.empty() && column.kind != Column::Kind::List) row({column.name, "none"});
    return;
  }
  Json& value = fields_[column.name];
  if (column.kind == Column::Kind::List) {
    value = cells;
  } else if (!cells.empty()) {
    value = column.kind == Column::Kind::Text ? Json(cells.front()) : number_of(cells.front());
  }
}

void AnswerPrinter::columns(const std::vector<std::string>& names) {
  columns_.clear();
  for (const std::string& name : names) columns_.push_back(column_of(name));
}

void AnswerPrinter::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  if (form_ == Form::Table) return rows_.push_back(std::move(cells));
  if (form_ == Form::Objects) return print_now(object(cells));
  if (form_ == Form::Samples) {
    if (const std::optional<Json> sample = sample_of(cells.front())) print_now(text_of(*sample));
    return;
  }
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : "  ") + shown(cell);
  print_now(line);
}

void AnswerPrinter::print_now(const std::string& line) const {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void AnswerPrinter::end() {
  if (form_ == Form::Table) print_table();
  if (!fields_.is_null()) print_now(text_of(fields_));
}

std::string AnswerPrinter::object(const std::vector<std::string>& cells) const {
  Json out = Json::object();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.kind == Column::Kind::Text) {
      out[column.name] = cells[i];
    } else if (!cells[i].empty()) {
      out[column.name] = number_of(cells[i]);
    }
  }
  return text_of(out);
}

void AnswerPrinter::print_table() const {
  if (columns_.empty()) return;
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_) lines[0].push_back(column.name);
  for (const auto& cells : rows_) {
    lines.emplace_back();
    for (const std::string& cell : cells) lines.back().push_back(shown(cell));
  }
  std::vector<size_t> widths(columns_.size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  for (const auto& cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - width(cells[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].kind == Column::Kind::Number ? space + cells[i] : cells[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace coordkit::coordctl
