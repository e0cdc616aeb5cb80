// A replica's answer, printed as it arrives: a table for people, or a line of JSON for each row.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace coordkit::coordctl {

class AnswerPrinter {
 public:
  enum class Form {
    Table,    // aligned, once all rows have arrived; fields are a line each
    Lines,    // each row at once, its cells two spaces apart
    Objects,  // each row at once, as a JSON object; all fields as one object, at the end
    Samples,  // of metrics: each row at once, as a JSON object of name, labels and value
  };
  explicit AnswerPrinter(Form form) : form_(form) {}

  void field(std::string name, const std::vector<std::string>& cells);
  void columns(const std::vector<std::string>& names);
  void row(std::vector<std::string> cells);
  void end();  // ends the answer

 private:
  struct Column {
    enum class Kind { Text, Number, Flag, List } kind = Kind::Text;
    std::string name;
  };
  static Column column_of(const std::string& name);
  void print_now(const std::string& line) const;
  std::string object(const std::vector<std::string>& cells) const;
  void print_table() const;

  const Form form_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  nlohmann::ordered_json fields_;  // null: none have arrived
};

}  // namespace coordkit::coordctl
