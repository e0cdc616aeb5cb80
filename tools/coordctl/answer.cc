#include "tools/coordctl/answer.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/cells.h"

namespace coordkit::coordctl {
namespace {

// Bytes that would move the cursor are shown as escapes.
std::string shown(const std::string& cell) { return join_cells({&cell, 1}); }

// Screen columns, if every character takes one.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

void AnswerPrinter::columns(const std::vector<std::string>& names) {
  columns_.clear();
  for (const std::string& name : names) {
    const size_t colon = name.find(':');
    const std::string kind = colon == std::string::npos ? "" : name.substr(colon + 1);
    columns_.push_back({kind == "number" ? Column::Kind::Number
                        : kind == "flag" ? Column::Kind::Flag
                                         : Column::Kind::Text,
                        name.substr(0, colon)});
  }
}

void AnswerPrinter::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  if (form_ == Form::Table) return rows_.push_back(std::move(cells));
  std::string line;
  if (form_ == Form::Objects) {
    line = object(cells);
  } else {
    for (const std::string& cell : cells) line += (line.empty() ? "" : "  ") + shown(cell);
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void AnswerPrinter::end() {
  if (form_ == Form::Table) print_table();
}

// Numbers stay as they were received: a token has more digits than a double.
std::string AnswerPrinter::object(const std::vector<std::string>& cells) const {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.kind == Column::Kind::Text) {
      out[column.name] = cells[i];
    } else if (!cells[i].empty()) {
      out[column.name] = nlohmann::ordered_json::parse(cells[i], nullptr, false);
    }
  }
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
